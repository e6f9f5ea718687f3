"""How many lanes run together, chosen for each stretch of work."""

from __future__ import annotations

from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.shapes import Shapes
from vyre.ir import Atomic, Body, DataType, Load, Loop, Opaque, Print, Store, While
from vyre.ir.walk import walk_all_exprs, walk_stmts

MOST_LANES = 32
FEWEST_LANES = 4


def lanes_for(kernel: Kernel, body: Body) -> int:
    """The number of lanes for some statements; 0 runs them one lane at a time."""
    row = kernel.size[0]
    if row < FEWEST_LANES or not _worth_it(kernel, body):
        return 0
    bits = kernel.host.vector_bits
    narrowest = _narrowest_contiguous(kernel, body)
    width = bits // (8 * narrowest)
    if _diverges(kernel, body):
        width = max(width, 4 * bits // 32)
    elif not _has_loop(body):
        width *= 2
    width = min(width, MOST_LANES)
    while width > row:
        width //= 2
    return width if width >= FEWEST_LANES else 0


def mask_bits(kernel: Kernel, width: int) -> int:
    """Bits of one lane of a mask: as wide as the data, so that both use the same registers."""
    del kernel
    return 32 if width <= 32 else 8


def _worth_it(kernel: Kernel, body: Body) -> bool:
    for statement in walk_stmts(body):
        if isinstance(statement, (Print, Opaque)):
            return False
    return not any(isinstance(expr, Atomic) for expr in walk_all_exprs(body)) and bool(kernel)


def _narrowest_contiguous(kernel: Kernel, body: Body) -> int:
    sizes = [4]
    names = {s.buffer for s in walk_stmts(body) if isinstance(s, Store)}
    names |= {e.buffer for e in walk_all_exprs(body) if isinstance(e, Load)}
    for name in names:
        element = kernel.memories[name].decl.element
        if not element.is_vector and element is not DataType.BOOL:
            sizes.append(element.size_bytes or 4)
    return min(sizes)


def _has_loop(body: Body) -> bool:
    return any(isinstance(s, (Loop, While)) for s in walk_stmts(body))


def _diverges(kernel: Kernel, body: Body) -> bool:
    shapes = Shapes(kernel.program, body, True)
    for statement in walk_stmts(body):
        if isinstance(statement, While) and shapes.is_varying(statement.cond):
            return True
        if isinstance(statement, (Loop, While)) and shapes.leaves_divergently(statement.body):
            return True
        if isinstance(statement, Loop) and (
            shapes.is_varying(statement.start) or shapes.is_varying(statement.stop)
        ):
            return True
    return False
