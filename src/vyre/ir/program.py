"""A program: buffers, a workgroup size and statements. A frozen value, equal by structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vyre.diagnostics import BuildError, Diagnostic
from vyre.diagnostics.codes import build as codes
from vyre.ir import late_binding as late
from vyre.ir.buffer import BufferDecl
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.ir.stats import ProgramStats
    from vyre.ir.stmt import Body, Node

T = TypeVar("T")

_MAKE = "make"
"""Under which a deferred program remembers how to make its statements."""
MAX_BYTES = (1 << 64) - 1
"""What an estimate of bytes says when it cannot know."""

WorkgroupSize = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False, init=False, weakref_slot=True)
class Program:
    """A kernel, whole. `Program.wrapped` is the usual way to make one."""

    buffers: tuple[BufferDecl, ...]
    workgroup_size: WorkgroupSize
    entry: Body
    entry_op_id: str | None = None
    fast_math: bool = False
    """Whether rewrites may change float results."""
    _memo: dict[object, Any] = field(
        default_factory=lambda: cast("dict[object, Any]", {}), init=False, repr=False
    )

    def __init__(
        self,
        buffers: Iterable[BufferDecl],
        workgroup_size: Sequence[int],
        entry: Iterable[Node],
        entry_op_id: str | None = None,
        fast_math: bool = False,
    ) -> None:
        from vyre.ir.stmt import as_body, checked_text

        if entry_op_id is not None:
            checked_text(entry_op_id, "the entry's id")
        self._fill(buffers, workgroup_size, entry_op_id, fast_math)
        object.__setattr__(self, "entry", as_body(entry, "the entry"))

    def _fill(
        self,
        buffers: Iterable[BufferDecl],
        workgroup_size: Sequence[int],
        entry_op_id: str | None,
        fast_math: bool,
    ) -> None:
        """Everything but the statements."""
        put = object.__setattr__
        put(self, "buffers", _checked_buffers(buffers))
        put(self, "workgroup_size", _checked_size(workgroup_size))
        put(self, "entry_op_id", entry_op_id)
        put(self, "fast_math", bool(fast_math))
        put(self, "_memo", {})

    @classmethod
    def wrapped(
        cls,
        buffers: Iterable[BufferDecl],
        workgroup_size: Sequence[int],
        entry: Iterable[Node],
        entry_op_id: str | None = None,
        fast_math: bool = False,
    ) -> Program:
        """A program whose top level is regions: loose statements get one root region."""
        from vyre.ir.stmt import ROOT_GENERATOR, Region, as_body

        body = as_body(entry, "the entry")
        if not body or not all(isinstance(statement, Region) for statement in body):
            body = (Region(ROOT_GENERATOR, None, body),)
        return cls(buffers, workgroup_size, body, entry_op_id, fast_math)

    @classmethod
    def deferred(
        cls,
        buffers: Iterable[BufferDecl],
        workgroup_size: Sequence[int],
        make: Callable[[], Body],
        known: Mapping[str, object],
        entry_op_id: str | None = None,
        fast_math: bool = False,
    ) -> Program:
        """A program whose statements are made when they are first used.

        `known` is what has been found out about them before; see `memo`.
        """
        made = cls.__new__(cls)
        made._fill(buffers, workgroup_size, entry_op_id, fast_math)
        made._memo.update(known)
        made._memo[_MAKE] = make
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            # Only what has no value yet comes here: the statements of a deferred program.
            if name != "entry":
                raise AttributeError(f"'Program' object has no attribute {name!r}")
            body = self._memo[_MAKE]()
            object.__setattr__(self, "entry", body)
            return body

    def _key(self) -> tuple[object, ...]:
        return (
            self.buffers,
            self.workgroup_size,
            self.entry,
            self.entry_op_id,
            self.fast_math,
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Program) or hash(self) != hash(other):
            return False
        return self._key() == other._key()

    def __hash__(self) -> int:
        return self.memo("hash", lambda program: hash(program._key()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Program, self._key())

    def __str__(self) -> str:
        return late.to_text(self)

    def memo(self, key: object, compute: Callable[[Program], T]) -> T:
        """What `compute` says of this very object, computed once.

        Facts belong to one tree: an equal program built elsewhere has its own.
        """
        if key in self._memo:
            return self._memo[key]
        return self._memo.setdefault(key, compute(self))

    def memos(self, kind: type[T]) -> list[T]:
        """The remembered values of one type."""
        return [value for value in list(self._memo.values()) if isinstance(value, kind)]

    def buffer(self, name: str) -> BufferDecl | None:
        """The declaration of a buffer."""
        table = self.memo("buffers", lambda program: {b.name: b for b in program.buffers})
        return table.get(name)

    def with_rewritten_entry(self, entry: Iterable[Node]) -> Program:
        """The same program with other statements; this object when they are the same ones."""
        from vyre.ir.stmt import as_body

        body = as_body(entry, "the entry")
        same = len(body) == len(self.entry) and all(
            new is old for new, old in zip(body, self.entry, strict=True)
        )
        return self if same else replace(self, entry=body)

    def with_rewritten_buffers(self, buffers: Iterable[BufferDecl]) -> Program:
        """The same program with other buffer declarations."""
        declared = tuple(buffers)
        return self if declared == self.buffers else replace(self, buffers=declared)

    def with_workgroup_size(self, workgroup_size: Sequence[int]) -> Program:
        """The same program with another workgroup size."""
        return replace(self, workgroup_size=tuple(workgroup_size))

    def with_entry_op_id(self, entry_op_id: str | None) -> Program:
        """The same program under another id for telemetry."""
        return replace(self, entry_op_id=entry_op_id)

    def with_fast_math(self, fast_math: bool = True) -> Program:
        """The same program, whose float results rewrites may change or not."""
        return replace(self, fast_math=fast_math)

    def stats(self) -> ProgramStats:
        """Counts of what the program holds."""
        from vyre.ir.stats import collect

        return self.memo("stats", lambda program: collect(program.entry, program.buffers))

    def estimate_peak_bytes(self) -> int:
        """The sum of all buffers in bytes; the greatest value when one of them has no size."""
        total = 0
        for decl in self.buffers:
            size = decl.size_bytes
            if size is None:
                return MAX_BYTES
            total += size
        return min(total, MAX_BYTES)

    def digest(self) -> str:
        """A name for what the program is, the same in every process and on every machine."""
        return self.memo("digest", late.digest)

    def check(self, target: object = None) -> list[Diagnostic]:
        """Every problem the checker finds, for a target if one is given."""
        return late.check(self, target)

    def validate(self, target: object = None) -> None:
        """Raise a `CheckError` with every problem, if there is any."""
        late.validate(self, target)

    def to_wire(self) -> bytes:
        """The program as bytes, in canonical form."""
        return late.to_wire(self)

    @classmethod
    def from_wire(cls, data: bytes) -> Program:
        """The program that `data` holds; a `WireError` if it holds none."""
        return late.from_wire(data)

    @classmethod
    def parse(cls, source: str, file: str = "<text>") -> Program:
        """The program that `source` writes; a `ParseError` if it cannot be read."""
        return late.parse(source, file)


def _checked_buffers(buffers: Iterable[BufferDecl]) -> tuple[BufferDecl, ...]:
    declared = tuple(buffers)
    for decl in declared:
        if not isinstance(decl, BufferDecl):
            raise BuildError(
                codes.BAD_FIELD.at(
                    what="a program",
                    field="a buffer",
                    found=type(decl).__name__,
                    expected="declare buffers with BufferDecl, such as BufferDecl.read(...)",
                )
            )
    return declared


def _checked_size(size: Sequence[int]) -> WorkgroupSize:
    found = tuple(size)
    whole = all(isinstance(extent, int) and not isinstance(extent, bool) for extent in found)
    if len(found) != 3 or not whole or any(not 0 <= extent < 1 << 32 for extent in found):
        raise BuildError(codes.BAD_WORKGROUP_SIZE.at(found=size))
    return (found[0], found[1], found[2])
