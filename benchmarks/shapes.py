"""Large programs of one shape each: what a compiler may take too long over, one thing at a time."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir import BufferDecl, Node, Program


def straight(statements: int) -> "Program":
    """One long line of arithmetic."""
    from vyre.ir import Expr, Node

    var, u32 = Expr.var, Expr.u32
    body: list[Node] = [Node.let("v0", Expr.load("x", Expr.gid()))]
    for k in range(1, statements - 2):
        far = var(f"v{max(0, k - 7)}") >> u32(k % 31)
        body.append(Node.let(f"v{k}", (var(f"v{k - 1}") * u32(2 * k + 1)) ^ far))
    return _program([*body, Node.store("y", Expr.gid(), var(f"v{statements - 3}"))])


def branches(statements: int) -> "Program":
    """Conditions that differ from lane to lane, one after the other."""
    from vyre.ir import Expr, Node

    u32, s = Expr.u32, Expr.var("s")
    body: list[Node] = [Node.let("s", u32(0))]
    for k in range(statements // 2 - 2):
        asked = Expr.load("x", Expr.gid() + u32(k)) < u32(k * 977 % 4096)
        body.append(Node.if_(asked, [Node.assign("s", s * u32(3) + u32(k))]))
    return _program([*body, Node.store("y", Expr.gid(), s)])


def loops(statements: int) -> "Program":
    """Short loops, one after the other."""
    from vyre.ir import Expr, Node

    u32, s = Expr.u32, Expr.var("s")
    body: list[Node] = [Node.let("s", u32(0))]
    for k in range(statements // 2 - 2):
        found = Expr.load("x", Expr.gid() + Expr.var(f"k{k}"))
        body.append(Node.loop(f"k{k}", 0, u32(16), [Node.assign("s", s * u32(3) + found)]))
    return _program([*body, Node.store("y", Expr.gid(), s)])


def accesses(statements: int) -> "Program":
    """Loads, and stores some elements apart."""
    from vyre.ir import Expr, Node

    u32 = Expr.u32
    body: list[Node] = []
    for k in range(statements // 2 - 1):
        body.append(Node.let(f"v{k}", Expr.load("x", Expr.gid() + u32(k))))
        at = Expr.gid() * u32(3) + u32(k)
        body.append(Node.store("y", at, Expr.var(f"v{k}") + u32(k)))
    return _program(body)


def buffers(statements: int) -> "Program":
    """As many buffers as a launch can have, each used in turn."""
    from vyre.ir import BufferDecl, DataType, Expr, Node

    count = min(statements, 900)
    decls = [BufferDecl.read_write(f"b{k}", k, DataType.U32) for k in range(count)]
    body: list[Node] = []
    for k in range(statements - 1):
        value = Expr.load(f"b{(k + 1) % count}", Expr.gid()) + Expr.u32(k)
        body.append(Node.store(f"b{k % count}", Expr.gid(), value))
    return _program(body, decls)


def variables(statements: int) -> "Program":
    """Variables that all live through a loop which changes every one of them."""
    from vyre.ir import Expr, Node

    u32, var, count = Expr.u32, Expr.var, statements // 3
    loads = [Node.let(f"v{k}", Expr.load("x", Expr.gid() + u32(k))) for k in range(count)]
    changed = [
        Node.assign(f"v{k}", var(f"v{k}") * u32(3) + var(f"v{(7 * k + 1) % count}"))
        for k in range(count)
    ]
    turns = Node.loop("turn", 0, Expr.load("x", u32(0)), changed)
    place = Expr.gid() * u32(count)
    stores = [Node.store("y", place + u32(k), var(f"v{k}")) for k in range(count)]
    return _program([*loads, turns, *stores])


def barriers(statements: int) -> "Program":
    """Neighbours that hand values over in workgroup memory, with barriers around it."""
    from vyre.ir import BufferDecl, DataType, Expr, Node

    u32, s, lane = Expr.u32, Expr.var("s"), Expr.local_id()
    body: list[Node] = [Node.let("s", Expr.load("x", Expr.gid()))]
    for k in range(statements // 4 - 1):
        other = Expr.load("shared", (lane + u32(k)) & u32(63))
        body += [
            Node.store("shared", lane, s),
            Node.barrier(),
            Node.assign("s", s * u32(3) + other),
            Node.barrier(),
        ]
    shared = BufferDecl.workgroup("shared", 64, DataType.U32)
    return _program([*body, Node.store("y", Expr.gid(), s)], [*_two(), shared])


def functions(statements: int) -> "Program":
    """Transcendental functions of one another."""
    from vyre.ir import DataType, Expr, Node, UnOp

    v = Expr.var("v")
    chosen = (UnOp.SIN, UnOp.EXP, UnOp.SQRT, UnOp.LOG)
    body: list[Node] = [Node.let("v", Expr.cast(Expr.load("x", Expr.gid()), DataType.F32))]
    for k in range(statements - 3):
        body.append(Node.assign("v", Expr.unary(chosen[k % 4], v) + Expr.f32(k)))
    return _program([*body, Node.store("y", Expr.gid(), Expr.cast(v, DataType.U32))])


def _two() -> "list[BufferDecl]":
    from vyre.ir import BufferDecl, DataType

    return [BufferDecl.read("x", 0, DataType.U32), BufferDecl.read_write("y", 1, DataType.U32)]


def _program(body: "Sequence[Node]", decls: "Sequence[BufferDecl] | None" = None) -> "Program":
    from vyre.ir import Program

    return Program.wrapped(_two() if decls is None else decls, (64, 1, 1), body)


SHAPES: dict[str, "Callable[[int], Program]"] = {
    shape.__name__: shape
    for shape in (
        straight,
        branches,
        loops,
        accesses,
        buffers,
        variables,
        barriers,
        functions,
    )
}
