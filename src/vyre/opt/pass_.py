"""What a pass is: one frozen dataclass with metadata, a quick look, and a transformation."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.ir import Program
from vyre.opt.metadata import CostModelFamily, PassBoundaryClass, PassMetadata, PassPhase
from vyre.record import dataclass
from vyre.target import Feature, Target

P = TypeVar("P", bound="Pass")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HOMES = ("vyre.opt.passes.", "vyre.backends.llvm.passes.")


@dataclass(frozen=True, slots=True)
class PassAnalysis:
    """The answer of a quick look: run, or skip and why."""

    runs: bool
    reason: str = ""
    """What the program or the target lacks, in a few words."""

    RUN: ClassVar[PassAnalysis]
    SKIP: ClassVar[PassAnalysis]

    @classmethod
    def skip(cls, reason: str) -> PassAnalysis:
        """Skip, and say why."""
        return cls(False, reason)


PassAnalysis.RUN = PassAnalysis(True)
PassAnalysis.SKIP = PassAnalysis(False)


class PassContext:
    """What a pass may know besides the program."""

    __slots__ = ("caches", "is_hot", "target")

    def __init__(self, target: Target | None = None, *, is_hot: bool = False) -> None:
        self.target = target
        self.is_hot = is_hot
        """Whether the program is known to take much time, so that compiling it may as well."""
        self.caches: dict[str, Any] = {}
        """What passes keep from one round to the next; it belongs to one run of a scheduler."""


class PassResult(NamedTuple):
    """What a transformation gives back; the same program object means that nothing changed."""

    program: Program
    rewrites: int = 0
    """How many places were improved."""
    notes: tuple[str, ...] = ()
    """What a person should know: which rewrites were refused, and why."""


class Pass(ABC):
    """A transformation of programs that keeps their meaning."""

    __slots__ = ()

    metadata: ClassVar[PassMetadata]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Whether it is worth running; cheap, and never wrong when it says skip."""
        return PassAnalysis.RUN

    @abstractmethod
    def transform(self, program: Program, context: PassContext) -> PassResult:
        """The better program."""

    def apply(self, program: Program, target: Target | None = None) -> PassResult:
        """This pass alone, once."""
        context = PassContext(target)
        if not self.analyze(program, context).runs:
            return PassResult(program)
        return self.transform(program, context)

    @classmethod
    def describe(cls) -> tuple[str, str]:
        """What it does, and when it is legal: the two sentences of its docstring."""
        return _sentences(cls)


def vyre_pass(
    *,
    name: str,
    phase: PassPhase,
    family: CostModelFamily = CostModelFamily.SCALAR,
    requires: tuple[str, ...] = (),
    invalidates: tuple[str, ...] = (),
    requires_caps: tuple[Feature, ...] = (),
    boundary: PassBoundaryClass = PassBoundaryClass.ABI_PRESERVING,
) -> Callable[[type[P]], type[P]]:
    """Declare a pass: checks the class, freezes it and gives it its metadata."""
    row = PassMetadata(
        name=name,
        requires=requires,
        invalidates=invalidates,
        phase=phase,
        boundary_class=boundary,
        requires_caps=requires_caps,
        preserves_abi=boundary is not PassBoundaryClass.ABI_CHANGING,
        cost_model_family=family,
    )

    def declare(cls: type[P]) -> type[P]:
        _check(row, cls)
        # Most passes have no fields, and making a dataclass is most of what importing one costs.
        made = dataclass(frozen=True, slots=True)(cls) if cls.__annotations__ else cls
        made.metadata = row
        return made

    return declare


def _check(row: PassMetadata, cls: type[Any]) -> None:
    def refuse(problem: str, fix: str) -> OptimizerError:
        return OptimizerError(codes.BAD_DECLARATION.at(name=row.name, problem=problem, fix=fix))

    if not _NAME.fullmatch(row.name):
        raise refuse("its name is not lower_snake_case", "name it like the file it stands in")
    if not (inspect.isclass(cls) and issubclass(cls, Pass)):
        raise refuse("it does not derive from Pass", "write class MyPass(Pass)")
    if inspect.isabstract(cls):
        raise refuse("it has no transform", "define transform(self, program, context)")
    module = cls.__module__
    if module.startswith(_HOMES) and module.rpartition(".")[2] != row.name:
        raise refuse(f"its file is {module}", "give the pass the name of its file")
    for group in (row.requires, row.invalidates, row.requires_caps):
        if not isinstance(cast("object", group), tuple) or len(set(group)) != len(group):
            raise refuse(f"{group!r} is not a tuple without repetition", "write ('a', 'b')")
    if not all(_sentences(cls)):
        raise refuse(
            "its docstring does not say what it does and when it is legal",
            'write """Does this. Legal when that holds."""',
        )


def _sentences(cls: type[Any]) -> tuple[str, str]:
    text = " ".join((cls.__doc__ or "").split())
    does, mark, legal = text.partition(" Legal ")
    return does, f"Legal {legal}" if mark and legal else ""
