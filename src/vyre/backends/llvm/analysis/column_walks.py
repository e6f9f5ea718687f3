"""Column walks: accesses with a stride of a whole array row between lanes.

A workgroup of several rows consumes the cache lines that such an access touches, because each of
its rows takes the next element of every line. A long row coalesced from many workgroups would evict
the lines before the next row reads them.

The patterns are syntactic, so they miss columns written in other ways; that affects speed only.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms, is_id_along, is_lane_id
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir.walk import walk_all_exprs, walk_expr, walk_stmts


def walks_columns(kernel: Kernel, body: ir.Body) -> bool:
    """True if workgroups of several rows should keep their shape."""
    if kernel.size[1] == 1:
        return False
    forms = LinearForms(kernel.program, body, {}, frozenset(), kernel.types)
    indices = [e.index for e in walk_all_exprs(body) if isinstance(e, (ir.Load, ir.Atomic))]
    indices += [s.index for s in walk_stmts(body) if isinstance(s, ir.Store)]
    return any(_is_column(forms.expand(index)) for index in indices)


def walks_down_columns(peeling: RowPartition) -> bool:
    """True if every load in a loop walks down matrix columns.

    Adjacent lanes load adjacent elements, and successive iterations load successive lines, whose
    length is known at launch only. Loads at a literal index do not matter.
    """
    loads = [
        jumps_with(peeling.forms.expand(node.index), loop.var)
        for loop in walk_stmts(peeling.simplified)
        if isinstance(loop, ir.Loop)
        for node in walk_all_exprs(loop.body)
        if isinstance(node, ir.Load) and not isinstance(node.index, ir.Lit)
    ]
    return bool(loads) and all(loads)


def stores_in_loops(body: ir.Body) -> bool:
    """True if lanes store in the iterations of a loop."""
    loops = (s for s in walk_stmts(body) if isinstance(s, ir.Loop))
    return any(isinstance(s, ir.Store) for loop in loops for s in walk_stmts(loop.body))


def jumps_with(index: ir.AnyExpr, counter: str) -> bool:
    """True if a counter has a non-literal factor, and x has none."""
    along_x = False
    worklist, jumps = [index], False
    while worklist:
        node = worklist.pop()
        if isinstance(node, ir.Binary) and node.op is ir.BinOp.ADD:
            worklist += [node.left, node.right]
        elif isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL:
            sides = (node.left, node.right)
            near = any(isinstance(s, ir.Lit) for s in sides)
            jumps = jumps or (ir.Var(counter) in sides and not near)
        else:
            along_x = along_x or is_lane_id(node)
    return jumps and along_x


def _is_column(index: ir.AnyExpr) -> bool:
    """True if x has a launch-time factor and y has none. So y indexes a line."""
    nodes = list(walk_expr(index))
    products = [n for n in nodes if isinstance(n, ir.Binary) and n.op is ir.BinOp.MUL]
    along_x = [
        product
        for product in products
        if not isinstance(product.left, ir.Lit)
        and not isinstance(product.right, ir.Lit)
        and any(is_lane_id(node) for node in walk_expr(product))
    ]
    scaled = {node for product in products for node in walk_expr(product)}
    near = [n for n in nodes if is_id_along(n, (1,)) and n not in scaled]
    return bool(along_x and near)


__all__ = ["stores_in_loops", "walks_columns", "walks_down_columns"]
