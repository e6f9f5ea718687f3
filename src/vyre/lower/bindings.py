"""What a program does with each of its buffers, as far as declaring them goes."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """A buffer, and how it is used."""

    decl: ir.BufferDecl
    argument: int | None
    """Its place among the arguments of a launch; None for memory on the chip."""
    loaded: bool
    stored: bool
    atomic: bool
    measured: bool
    """Whether the program asks for its length."""
    separable: bool
    """Whether its atomics are sums and bit operations whose results are unused: the halves of an
    element may then be updated one after the other."""

    @property
    def touched(self) -> bool:
        """Whether the program accesses its elements."""
        return self.loaded or self.stored or self.atomic

    @property
    def written(self) -> bool:
        """Whether its elements may change."""
        return self.stored or self.atomic


def bindings(program: ir.Program) -> list[Binding]:
    """Every buffer of the program, in the order of declaration."""
    loaded, stored, atomic, measured = _uses(program)
    entangled = _entangled(program)
    found: list[Binding] = []
    argument = 0
    for decl in program.buffers:
        place = None
        if not decl.is_on_chip:
            place, argument = argument, argument + 1
        name = decl.name
        found.append(
            Binding(
                decl,
                place,
                loaded=name in loaded,
                stored=name in stored,
                atomic=name in atomic,
                measured=name in measured,
                separable=name in atomic and name not in entangled,
            )
        )
    return found


def _uses(program: ir.Program) -> tuple[set[str], set[str], set[str], set[str]]:
    loaded: set[str] = set()
    stored: set[str] = set()
    atomic: set[str] = set()
    measured: set[str] = set()
    for expr in walk_all_exprs(program.entry):
        match expr:
            case ir.Load(buffer):
                loaded.add(buffer)
            case ir.Atomic(_, buffer):
                atomic.add(buffer)
            case ir.BufLen(buffer):
                measured.add(buffer)
            case _:
                pass
    for statement in walk_stmts(program.entry):
        match statement:
            case ir.Store(buffer):
                stored.add(buffer)
            case ir.AsyncLoad() | ir.AsyncStore() | ir.AllGather() | ir.ReduceScatter():
                loaded.add(statement.source)
                stored.add(statement.destination)
            case _:
                pass
    return loaded, stored, atomic, measured


_SEPARABLE = frozenset(
    {ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.AND, ir.AtomicOp.OR, ir.AtomicOp.XOR}
)


def _entangled(program: ir.Program) -> set[str]:
    """Buffers of which some atomic must see or change an element as a whole."""
    alone = {
        id(statement.value)
        for statement in walk_stmts(program.entry)
        if isinstance(statement, ir.Eval) and isinstance(statement.value, ir.Atomic)
    }
    return {
        expr.buffer
        for expr in walk_all_exprs(program.entry)
        if isinstance(expr, ir.Atomic) and (id(expr) not in alone or expr.op not in _SEPARABLE)
    }


def has_ordered_atomics(program: ir.Program) -> bool:
    """Whether some atomic orders the accesses around it."""
    return any(
        isinstance(expr, ir.Atomic) and expr.ordering is not ir.MemoryOrdering.RELAXED
        for expr in walk_all_exprs(program.entry)
    )
