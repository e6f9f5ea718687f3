"""What passes of the CPU backend share: the target, the effort, and the facts they establish."""

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
    """The workgroup size that the launch knows."""
    rows: int


@dataclass(slots=True)
class LaunchFacts:
    """What a rewritten program demands of its launch; emission relies on all of it."""

    interchanged_axis: int = 0
    """The axis that x has changed places with; 0 where each is where the program had it."""
    tiling: Tiling | None = None
    """How the grid is cut anew; None where workgroups are those of the launch."""
    trip_counts: frozenset[str] = frozenset()
    """Variables computed from the first lane's position: right for any row that begins there."""
    outer_counters: frozenset[str] = frozenset()
    """Counters of loops that run around the lanes of a workgroup."""
    longest_row: int = 0
    """Lanes that may run as one row; 0 for any number."""


class CpuContext(PassContext):
    """A pass context for one target and one amount of effort."""

    __slots__ = ("facts", "host", "thorough")

    def __init__(self, host: Host, *, thorough: bool = True) -> None:
        super().__init__()
        self.host = host
        self.thorough = thorough
        """False for first code, which is made in a hurry: nothing is emitted in two versions."""
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
        """The better program; its facts are added to the context."""
        assert isinstance(context, CpuContext)
        changed = self.rewrite(program, context)
        return PassResult(changed, rewrites=int(changed is not program))

    @abstractmethod
    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The better program, or the very same; names are unique before and after."""


__all__ = ["CpuContext", "CpuPass", "LaunchFacts", "Tiling"]
