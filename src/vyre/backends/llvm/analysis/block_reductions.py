"""Float reductions by atomics that partial sums per block of workgroups may replace.

    out.atomic_add(0, x[gid.x])  ->  sums of blocks, each in order; then out[0] += each of them

Float results depend on the order of additions. Which one atomics of different invocations happen in
is not specified, so any fixed order will do, and a fixed one gives the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Final

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.reduction_atomics import ReducedBuffer, reduced_buffers
from vyre.ir.walk import fixed_values, rebuilt, rewrite_expr, rewrite_exprs, walk_expr
from vyre.record import dataclass

_UNIFORM_NODES: Final = (
    ir.Binary,
    ir.Bitcast,
    ir.BufLen,
    ir.Cast,
    ir.Lit,
    ir.Load,
    ir.Select,
    ir.Unary,
)


@dataclass(frozen=True, slots=True)
class BlockReduction:
    """An element that blocks of workgroups reduce into."""

    decl: ir.BufferDecl
    op: ir.AtomicOp
    index: ir.AnyExpr
    """The element's index, of literals, lengths and read-only memory."""


@dataclass(frozen=True, slots=True)
class BlockReductions:
    """A program, and the elements that its blocks of workgroups reduce into."""

    program: ir.Program
    """The program; each of these atomics has its reduction's number as index."""
    reductions: Mapping[tuple[str, int], BlockReduction]
    """By the buffer's name and that number."""


def with_block_reductions(program: ir.Program) -> BlockReductions:
    """Find the reductions of float elements whose index is the same in the whole launch.

    Legal when the program accesses a buffer only by atomics of one reduction whose results are
    unused, each at an index that is fixed for the launch: no invocation can tell when they happen.
    Profitable always: such atomics contend for one element.
    """
    found: dict[tuple[str, int], BlockReduction] = {}
    for buffer in reduced_buffers(program):
        own = _of_buffer(buffer, program) if buffer.decl.element is ir.DataType.F32 else {}
        if 4 * heuristics.MAX_BLOCKS * (len(found) + len(own)) <= heuristics.MAX_PRIVATISED_BYTES:
            found |= {(buffer.decl.name, number): each for number, each in own.items()}
    if not found:
        return BlockReductions(program, found)
    numbers = {(name, each.index): number for (name, number), each in found.items()}
    buffers = {name for name, _ in found}
    values = fixed_values(program.entry)

    def renumbered(node: ir.AnyExpr) -> ir.AnyExpr:
        if not isinstance(node, ir.Atomic) or node.buffer not in buffers:
            return node
        number = numbers[node.buffer, _expanded(node.index, values)]
        return rebuilt(node, {"index": ir.Expr.u32(number)})

    changed = program.with_rewritten_entry(rewrite_exprs(program.entry, renumbered))
    return BlockReductions(changed, found)


def _of_buffer(buffer: ReducedBuffer, program: ir.Program) -> dict[int, BlockReduction]:
    """The reductions of a buffer by number; none if an index differs between invocations.

    Literal indices are their own numbers: what proves that they are in bounds stays true.
    """
    constant = {decl.name for decl in program.buffers if not decl.is_writable}
    values = fixed_values(program.entry)
    indices = list(dict.fromkeys(_expanded(node.index, values) for _, node in buffer.atomics))
    if not all(_is_launch_uniform(index, constant) for index in indices):
        return {}
    taken = {_number(i) for i in indices if isinstance(i, ir.Lit)}
    free = (n for n in range(len(indices) + len(taken)) if n not in taken)
    found: dict[int, BlockReduction] = {}
    for index in indices:
        number = _number(index) if isinstance(index, ir.Lit) else next(free)
        if not 0 <= number < 1 << 32 or number in found:
            return {}
        # A copy, because facts about the accesses in it hold only where they are executed.
        found[number] = BlockReduction(buffer.decl, buffer.op, deepcopy(index))
    return found


def _number(index: ir.Lit) -> int:
    return int(index.value)


def _expanded(index: ir.AnyExpr, values: Mapping[str, ir.AnyExpr]) -> ir.AnyExpr:
    """The index without variables, as far as their values are known and it stays short."""
    while True:
        before = index
        index = rewrite_expr(index, lambda e: values.get(e.name, e) if isinstance(e, ir.Var) else e)
        if index == before or not _is_short(index):
            return index


def _is_launch_uniform(index: ir.AnyExpr, constant: set[str]) -> bool:
    """True if the index has one value in the launch, and is cheap to compute again."""
    return _is_short(index) and all(
        isinstance(node, _UNIFORM_NODES)
        and not (isinstance(node, ir.Load) and node.buffer not in constant)
        for node in walk_expr(index)
    )


def _is_short(index: ir.AnyExpr) -> bool:
    """True if computing it takes no longer than combining the sums of all blocks."""
    return sum(1 for _ in walk_expr(index)) <= heuristics.MAX_BLOCKS


__all__ = ["BlockReduction", "BlockReductions", "with_block_reductions"]
