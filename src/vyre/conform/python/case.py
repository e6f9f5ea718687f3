"""A random kernel with all that is needed to run it, in CPython and as a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.generate.case import GeneratedCase
from vyre.conform.python.index import INDEX_VALUES, write_index_kernel
from vyre.conform.python.kernel import Written, write_kernel
from vyre.conform.python.run import in_python, inputs_of, translated
from vyre.conform.python.scope import World
from vyre.conform.python.shrink import shrink_source
from vyre.ir import Program
from vyre.record import dataclass
from vyre.semantics import Array

PARTS = 4
"""Functions of a kernel, besides the device functions that these call.

More of them share what a kernel costs by itself. But a type that is learned in one of them begins
the translation of all of them again.
"""

_EITHER_ZERO = Tolerance(zero_signs=True)
"""Python's min and max give the first of 0.0 and -0.0."""


@dataclass(frozen=True, eq=False)
class PythonCase(GeneratedCase):
    """The source of a kernel; `program` is empty, as translating is what is tested."""

    source: str = ""
    world: World = World("i32", wraps=False)
    typed: bool = True
    """Whether CPython computes with numbers of the declared types."""

    def __str__(self) -> str:
        return f"# {self.label}: whole numbers are {self.world.dtype}\n{self.source}"

    def expected(self) -> dict[str, Array]:
        """What CPython leaves in the arrays."""
        source, inputs = self.source, self.inputs
        return in_python(source, self.world, inputs, self.grid[0], typed=self.typed)

    def translated(self) -> Program:
        """The program of the kernel, with the lengths of its buffers."""
        made = translated(self.source)
        return made.with_rewritten_buffers(
            decl
            if decl.count or decl.binding is None
            else decl.with_count(len(self.inputs[decl.name]))
            for decl in made.buffers
        )

    def given(self, program: Program) -> dict[str, Array]:
        """What the program is given."""
        return {decl.name: self.inputs[decl.name] for decl in program.buffers if decl.is_host_input}


def python_case(seed: int) -> PythonCase:
    """The kernel with this seed."""
    if INDEX_VALUES and seed % 4 == 3:
        return index_case(seed)
    return _case(write_kernel(seed, PARTS), f"python {seed}", typed=True)


def index_case(seed: int) -> PythonCase:
    """The kernel of index expressions with this seed."""
    return _case(write_index_kernel(seed, PARTS), f"index {seed}", typed=False)


def _case(written: Written, label: str, *, typed: bool) -> PythonCase:
    inputs = inputs_of(written.seed, written.world, PARTS)
    return PythonCase(
        *(Program.wrapped([], (1, 1, 1), []), inputs, (PARTS, 1, 1), frozenset[str](), label),
        source=written.source,
        world=written.world,
        typed=typed,
    )


def differences(program: Program, expected: dict[str, Array], actual: dict[str, Array]) -> str:
    """How a run differs from CPython's."""
    granted: dict[str, Tolerance] = dict.fromkeys(expected, _EITHER_ZERO)
    return "; ".join(str(each) for each in compare_outputs(program, expected, actual, granted))


def shrink_python(case: PythonCase, fails: Callable[[PythonCase], bool]) -> PythonCase:
    """The case with the shortest source found that still fails."""
    return replace(
        case, source=shrink_source(case.source, lambda text: fails(replace(case, source=text)))
    )
