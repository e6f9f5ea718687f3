"""The context of CPU passes: target, effort, and established facts."""

from __future__ import annotations

from abc import abstractmethod

from vyre.backends.llvm.host import Host, generic
from vyre.ir import Program
from vyre.opt.pass_ import Pass, PassContext, PassResult
from vyre.record import dataclass
from vyre.target import Target


@dataclass(frozen=True, slots=True)
class Tiling:
    """Workgroups as the machine runs them: one invocation along x, and some rows."""

    size: tuple[int, int, int]
    """The workgroup size of the launch."""
    rows: int


@dataclass(slots=True)
class LaunchFacts:
    """Requirements of a rewritten program on its launch; emission relies on all of them."""

    interchanged_axis: int = 0
    """The axis that x is interchanged with; 0 for none."""
    tiling: Tiling | None = None
    """The re-tiling of the grid; None where workgroups are those of the launch."""
    trip_counts: frozenset[str] = frozenset()
    """Trip counts computed from the first lane's index: valid for any row that begins there."""
    outer_counters: frozenset[str] = frozenset()
    """Induction variables of loops around the lane loop."""
    version_flags: frozenset[str] = frozenset()
    """Conditions that select a version of the program: each version is scheduled by itself."""
    longest_row: int = 0
    """Lanes that may run as one row; 0 for any number."""


class CpuContext(PassContext):
    """A pass context for one target and one amount of effort."""

    __slots__ = ("facts", "host", "thorough")

    def __init__(self, host: Host, *, thorough: bool = True) -> None:
        super().__init__()
        self.host = host
        self.thorough = thorough
        """False for first code, which must compile fast: loops are not versioned."""
        self.facts = LaunchFacts()


class CpuPass(Pass):
    """A pass of the CPU backend."""

    __slots__ = ()

    def apply(self, program: Program, target: Target | None = None) -> PassResult:
        """This pass alone, once, for the least machine of this architecture."""
        context = CpuContext(generic())
        if not self.analyze(program, context).runs:
            return PassResult(program)
        return self.transform(program, context)

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """The rewritten program; its facts are added to the context."""
        assert isinstance(context, CpuContext)
        changed = self.rewrite(program, context)
        return PassResult(changed, rewrites=int(changed is not program))

    @abstractmethod
    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The rewritten program, or the same object; names are unique before and after."""


__all__ = ["CpuContext", "CpuPass", "LaunchFacts", "Tiling"]
