"""Profitability of inner-loop vectorisation: whether vectors run along loops or across lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.appends import can_append
from vyre.backends.llvm.analysis.loop_lookups import Lookup, are_in_registers
from vyre.backends.llvm.analysis.loop_vectorization import vectorizable_loop
from vyre.backends.llvm.emit.loop_versioning import followed_by
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import walk_own_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

WIDE = 4
"""Least bytes of elements that lanes gather at full speed."""


def should_vectorise_inner_loops(
    kernel: Kernel, body: ir.Body, inside: set[int], scattered: set[int]
) -> bool:
    """True if every access scattered across lanes is consecutive across iterations.

    The accesses must be in bounds, proven here or by a test before each loop. Profitable in any
    case for narrow elements, which lanes are slow to gather, whatever accesses there are outside of
    loops; with wider ones, lanes of few iterations each had better load their own.
    """
    loops = [s for s in walk_stmts(body) if isinstance(s, ir.Loop)] if scattered else []
    analysed = [(loop, vectorizable_loop(loop, kernel.env)) for loop in loops]
    vectorizable = [
        (loop, plan)
        for loop, plan in analysed
        if plan is not None
        and can_append(kernel.host, plan.appends, kernel.env.buffers)
        and can_look_up(kernel, plan.lookups, heuristics.MAX_ITERATIONS_PER_VECTOR)
    ]
    if not vectorizable:
        return False
    elsewhere: set[int] = set()
    covered: set[int] = set()
    narrow: set[int] = set()
    known = inside | kernel.proven
    for loop, plan in vectorizable:
        consecutive = _identities(plan.accesses)
        covered |= consecutive
        elsewhere |= _identities(store for append in plan.appends for store in append.stores)
        elsewhere |= _identities(each.load for each in plan.lookups)
        if all(_is_narrow(kernel.memories[access.buffer].decl) for access in plan.accesses):
            narrow |= consecutive
            known = known | _testable(kernel, loop, known)
    scattered = scattered - elsewhere
    if not covered <= known:
        return False
    in_loops = scattered & {0, *_accesses_in_loops(body)}
    return scattered <= covered or (bool(in_loops) and in_loops <= narrow)


def can_look_up(kernel: Kernel, lookups: Sequence[Lookup], lanes: int) -> bool:
    """True if a loop of a kernel may look up its tables by shuffles."""
    if not lookups:
        return True
    return kernel.allows(Technique.TABLE_LOOKUP) and are_in_registers(kernel.host, lookups, lanes)


def _identities(accesses: Iterable[ir.Load | ir.Store]) -> set[int]:
    return {id(access) for access in accesses}


def _accesses_in_loops(body: ir.Body) -> Iterator[int]:
    for loop in walk_stmts(body):
        if isinstance(loop, (ir.Loop, ir.While)):
            for statement in (loop, *walk_stmts(loop.body)):
                yield id(statement)
                yield from map(id, walk_own_exprs(statement))


def _testable(kernel: Kernel, loop: ir.Loop, known: AbstractSet[int]) -> AbstractSet[int]:
    """Accesses that one test before the loop proves to be in bounds."""
    if is_large(kernel.program):
        return frozenset()
    counter = kernel.types[loop.var]
    test = followed_by(loop, counter, kernel.env, lambda access: id(access) in known)
    return frozenset() if test is None else test.accesses


def _is_narrow(decl: ir.BufferDecl) -> bool:
    return (decl.element.size_bytes or WIDE) < WIDE
