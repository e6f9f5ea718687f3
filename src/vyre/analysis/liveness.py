"""Liveness: which values of variables are still wanted.

    live = Liveness.of(program)
    live.dead_writes            Lets and Assigns whose value nothing reads afterwards
    live.across(position)       variables whose values are wanted after a grid sync or collective

One walk backwards over the structure. A loop is taken to want, at the end of each round, all that
it reads and all that is wanted after it; with breaks or continues in a loop, no assignment in it
ends the life of an outer variable. Both only ever call a dead value live.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.def_use import DefUse
from vyre.analysis.facts import TOP, ProgramFacts

_COLLECTIVES = (ir.AllReduce, ir.AllGather, ir.ReduceScatter, ir.Broadcast)


class Liveness:
    """Which values of a program's variables are wanted; get it with `Liveness.of`."""

    def __init__(self, program: ir.Program) -> None:
        self.dead_writes: set[int] = set()
        """Positions of Lets and Assigns whose value nothing reads afterwards."""
        self._across: dict[int, frozenset[int]] = {}
        walk = _Walk(ProgramFacts.of(program), DefUse.of(program), self.dead_writes, self._across)
        walk.body(walk.facts.children(TOP))

    @staticmethod
    def of(program: ir.Program) -> Liveness:
        """The liveness of a program, computed once per program object."""
        return program.memo(Liveness, Liveness)

    def across(self, position: int) -> frozenset[int]:
        """The variables, by binding, wanted after the grid sync or collective at `position`."""
        return self._across[position]


class _Walk:
    """The walk backwards, with the set of variables that are live at its place."""

    def __init__(
        self,
        facts: ProgramFacts,
        def_use: DefUse,
        dead_writes: set[int],
        across: dict[int, frozenset[int]],
    ) -> None:
        self.facts = facts
        self._def_use = def_use
        self._dead_writes = dead_writes
        self._across = across
        self._live: set[int] = set()
        self._journal: list[tuple[int, bool]] = []
        """Every change of the set, so that the second arm of an if can start like the first."""
        self._reads: list[list[int]] = [[] for _ in facts.statements]
        for binding in def_use.variables:
            for position in def_use.reads(binding):
                self._reads[position].append(binding)
        self._kept = self._keeping_loops()

    def _keeping_loops(self) -> list[int]:
        """By position: the outermost loop around it that has a break or continue, or TOP.

        Variables bound outside of that loop stay alive in it.
        """
        facts = self.facts
        jumps: set[int] = set()
        for position, kind in enumerate(facts.kinds):
            if kind is ir.Break or kind is ir.Continue:
                loop = facts.parents[position]
                while loop != TOP and facts.kinds[loop] not in (ir.Loop, ir.While):
                    loop = facts.parents[loop]
                jumps.add(loop)
        found: list[int] = []
        for position in range(len(facts)):
            parent = facts.parents[position]
            above = TOP if parent == TOP else found[parent]
            found.append(position if above == TOP and position in jumps else above)
        return found

    def body(self, positions: list[int]) -> None:
        """Go through the statements of a body, the last one first."""
        for position in reversed(positions):
            self._statement(position)

    def _statement(self, position: int) -> None:
        statement = self.facts.statements[position]
        if isinstance(statement, (ir.Let, ir.Assign)):
            self._write(position, statement)
        elif isinstance(statement, ir.If):
            self._if(position)
        elif isinstance(statement, (ir.Loop, ir.While)):
            self._loop(position)
        elif isinstance(statement, _COLLECTIVES) or (
            isinstance(statement, ir.Barrier) and statement.ordering is ir.MemoryOrdering.GRID_SYNC
        ):
            self._across[position] = frozenset(self._live)
        elif statement.body_fields:
            self.body(self.facts.children(position))
        self._use(position)

    def _write(self, position: int, statement: ir.Let | ir.Assign) -> None:
        binding: int | None = position
        if isinstance(statement, ir.Assign):
            binding = self.facts.binding(statement.name, position)
        if binding is None:
            return
        if binding not in self._live:
            self._dead_writes.add(position)
        keeper = self._kept[position]
        if isinstance(statement, ir.Let) or keeper == TOP or binding > keeper:
            self._set(binding, live=False)

    def _if(self, position: int) -> None:
        mark = len(self._journal)
        self.body(self.facts.children(position, "then"))
        then = self._take_back(mark)
        self.body(self.facts.children(position, "otherwise"))
        otherwise = self._net(mark)
        for binding, live in then.items():
            if live:
                self._set(binding, live=True)
        for binding, live in otherwise.items():
            if not live and then.get(binding, True):
                self._set(binding, live=True)

    def _take_back(self, mark: int) -> dict[int, bool]:
        """Undo the changes since `mark`; gives what they amounted to."""
        changes = self._net(mark)
        for binding, live in reversed(self._journal[mark:]):
            (self._live.discard if live else self._live.add)(binding)
        del self._journal[mark:]
        return changes

    def _net(self, mark: int) -> dict[int, bool]:
        """What the changes since `mark` amount to; what went there and back is left out."""
        first: dict[int, bool] = {}
        last: dict[int, bool] = {}
        for binding, live in self._journal[mark:]:
            first.setdefault(binding, live)
            last[binding] = live
        return {binding: live for binding, live in last.items() if live == first[binding]}

    def _loop(self, position: int) -> None:
        # Whatever a round reads, an earlier round may have written.
        for inner in range(position, self.facts.ends[position]):
            for binding in self._reads[inner]:
                if binding < position:
                    self._set(binding, live=True)
        before = frozenset(self._rewritten(position))
        self.body(self.facts.children(position))
        # It may run no round at all: what was wanted after it is wanted before it.
        for binding in before:
            self._set(binding, live=True)
        self._set(position, live=False)

    def _rewritten(self, position: int) -> list[int]:
        """Live variables bound before the loop that something in it assigns."""
        found: list[int] = []
        for row in self.facts.assigns_within(position):
            binding = self.facts.binding(row.name, row.position)
            if binding is not None and binding < position and binding in self._live:
                found.append(binding)
        return found

    def _use(self, position: int) -> None:
        for binding in self._reads[position]:
            self._set(binding, live=True)

    def _set(self, binding: int, *, live: bool) -> None:
        if live != (binding in self._live):
            (self._live.add if live else self._live.discard)(binding)
            self._journal.append((binding, live))
