"""Accesses whose neighbouring lanes are a whole row of an array apart.

A workgroup of several rows uses up the lines of the cache that such an access looks at, as every
row of it takes the next element of each line. A long row made of many workgroups would have lost
the lines before the next row comes to them.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms, is_id_along, is_lane_id
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir.walk import walk_all_exprs, walk_expr, walk_stmts


def walks_columns(kernel: Kernel, body: ir.Body) -> bool:
    """Whether workgroups of several rows are better left as they are."""
    if kernel.size[1] == 1:
        return False
    forms = LinearForms(kernel.program, body, {}, frozenset(), kernel.types)
    found = [e.index for e in walk_all_exprs(body) if isinstance(e, (ir.Load, ir.Atomic))]
    found += [s.index for s in walk_stmts(body) if isinstance(s, ir.Store)]
    return any(_is_column(forms.expand(index)) for index in found)


def walks_down_columns(peeling: RowPartition) -> bool:
    """Whether all that lanes side by side load in loops is one line after the other of a matrix.

    How long a line is only a launch knows. What is at one place is no matter.
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
    """Whether lanes store something in every round of a loop."""
    loops = (s for s in walk_stmts(body) if isinstance(s, ir.Loop))
    return any(isinstance(s, ir.Store) for loop in loops for s in walk_stmts(loop.body))


def jumps_with(index: ir.AnyExpr, counter: str) -> bool:
    """Whether a counter is multiplied by what is no literal, and x is not."""
    along_x = False
    waiting, jumps = [index], False
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Binary) and node.op is ir.BinOp.ADD:
            waiting += [node.left, node.right]
        elif isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL:
            sides = (node.left, node.right)
            near = any(isinstance(s, ir.Lit) for s in sides)
            jumps = jumps or (ir.Var(counter) in sides and not near)
        else:
            along_x = along_x or is_lane_id(node)
    return jumps and along_x


def _is_column(index: ir.AnyExpr) -> bool:
    """Whether x is multiplied by what only a launch knows, and y is the element of a line."""
    nodes = list(walk_expr(index))
    products = [n for n in nodes if isinstance(n, ir.Binary) and n.op is ir.BinOp.MUL]
    along_x = [
        product
        for product in products
        if not isinstance(product.left, ir.Lit)
        and not isinstance(product.right, ir.Lit)
        and any(is_lane_id(node) for node in walk_expr(product))
    ]
    scaled = {id(node) for product in products for node in walk_expr(product)}
    near = [n for n in nodes if is_id_along(n, (1,)) and id(n) not in scaled]
    return bool(along_x and near)


__all__ = ["stores_in_loops", "walks_columns", "walks_down_columns"]
