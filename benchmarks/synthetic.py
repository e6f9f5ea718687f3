"""Programs of any number of statements, for measuring how the compiler's own time grows."""

from collections.abc import Iterator
from itertools import count, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir import Node, Program


def program_of_size(statements: int) -> "Program":
    """A valid program with exactly this many statements, its root region included.

    It repeats a paragraph of ten statements as a person would write them: loads, arithmetic, a
    branch with two arms, a loop with a carried variable, stores. Neighbours differ, so nothing is
    saved by sharing; all need the same tests of bounds, so that every one costs the same.
    """
    from vyre.ir import BufferDecl, DataType, Expr, Node, Program

    buffers = [
        BufferDecl.read("x", 0, DataType.U32),
        BufferDecl.read("table", 1, DataType.U32).with_count(256),
        BufferDecl.read_write("y", 2, DataType.U32),
    ]
    head = Node.let("i", Expr.gid(0))
    paragraphs, rest = divmod(statements - 2, 10)
    numbers = count()
    body: list[Node] = [head]
    for number in islice(numbers, paragraphs):
        body += paragraph(number)
    for number in islice(numbers, rest):
        body.append(Node.let(f"rest{number}", Expr.var("i") + Expr.u32(number)))
    return Program.wrapped(buffers, (64, 1, 1), body)


def paragraph(number: int) -> "Iterator[Node]":
    """Ten statements, told apart from other paragraphs by their number."""
    from vyre.ir import Expr, Node

    u32, var = Expr.u32, Expr.var
    a, b, s, k, v = (f"{letter}{number}" for letter in "abskv")
    index = var("i") + u32(number)
    yield Node.let(a, Expr.load("x", index) * u32(2 * number + 1))
    yield Node.let(b, Expr.load("table", var(a) & u32(255)) ^ (var(a) >> u32(number % 31)))
    yield Node.if_(
        (var(a) < var(b)) & (var("i") < Expr.buf_len("x")),
        [Node.store("y", index, var(a) + var(b))],
        [Node.store("y", index, Expr.select(var(a).eq(u32(number)), var(b), var(a)))],
    )
    yield Node.let(s, u32(0))
    yield Node.loop(
        k,
        0,
        u32(8),
        [
            Node.let(v, Expr.load("table", var(k) + var(s) % u32(number % 200 + 7))),
            Node.assign(s, var(s) + var(v) * (var(k) + u32(number))),
        ],
    )
    yield Node.store("y", var("i"), Expr.load("y", var("i")) + var(s))


def stages(statements: int) -> "Program":
    """Guarded stages with loads, a loop and a store, as kernels have them; ten statements each."""
    from vyre.ir import BufferDecl, DataType, Expr, Node, Program

    gid, u32, var = Expr.gid(), Expr.u32, Expr.var
    body: list[Node] = []
    for k in range(statements // 10):
        i, x, y, s, total, t = (var(f"{name}{k}") for name in ("i", "x", "y", "s", "total", "t"))
        body += [
            Node.let(i.name, gid + u32(k)),
            Node.let(x.name, Expr.load("a", i)),
            Node.let(y.name, Expr.load("a", i + u32(1))),
            Node.let(s.name, x * u32(4) + y * u32(1)),
            Node.let(total.name, u32(0)),
            Node.loop(
                f"j{k}",
                0,
                16,
                [
                    Node.let(t.name, Expr.load("b", var(f"j{k}")) * s + gid * u32(3)),
                    Node.assign(total.name, total + t),
                ],
            ),
            Node.if_(i < Expr.buf_len("out"), [Node.store("out", i, total + s)]),
        ]
    buffers = [
        BufferDecl.read("a", 0, DataType.U32),
        BufferDecl.read("b", 1, DataType.U32),
        BufferDecl.output("out", 2, DataType.U32),
    ]
    return Program.wrapped(buffers, (64, 1, 1), body)
