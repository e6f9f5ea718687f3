"""What optimising costs: per statement, as programs grow, and when there is nothing to do."""

from __future__ import annotations

import time

from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import optimize

MOST_PER_STATEMENT_US = 400.0
MOST_GROWTH = 26.0
"""From 1 000 to 20 000 statements."""


def stages(statements: int) -> Program:
    """Guarded stages with loads, a loop and a store, as kernels have them; ten statements each."""
    gid, u32, var = Expr.gid(), Expr.u32, Expr.var
    body = []
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


def seconds(statements: int, times: int) -> float:
    """The least time of a few; time of this process only, so that other work does not count."""
    best = float("inf")
    for _ in range(times):
        program = stages(statements)
        start = time.process_time()
        optimize(program)
        best = min(best, time.process_time() - start)
    return best


def test_the_price_of_a_statement_and_how_it_grows() -> None:
    assert stages(1_000).stats().node_count == 1_001
    small = seconds(1_000, times=3)
    assert small / 1_000 * 1e6 <= MOST_PER_STATEMENT_US
    assert seconds(20_000, times=2) / small <= MOST_GROWTH


def test_a_program_that_nothing_can_improve_costs_one_cheap_round() -> None:
    optimised = optimize(stages(1_000)).program
    again = Program(optimised.buffers, optimised.workgroup_size, optimised.entry)
    start = time.process_time()
    report = optimize(again)
    cost = time.process_time() - start
    assert report.iterations == 1
    assert report.program is again
    assert cost / 1_000 * 1e6 <= MOST_PER_STATEMENT_US / 2
