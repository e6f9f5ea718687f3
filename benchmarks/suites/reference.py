"""How fast the definition itself is: statements executed per lane and second."""

import numpy as np

from benchmarks.kernel import Array
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.stopwatch import median_seconds

ELEMENTS = {"full": 1 << 20, "quick": 1 << 18, "tiny": 1 << 10}
BOUND = 30e6

INTRODUCTION = """\
The reference backend defines what a program means, and is only useful as an oracle if people can
afford to ask it. The kernel is elementwise; every invocation executes each of its statements once,
and the figure is invocations × statements ÷ seconds."""

SOURCE = """\
program workgroup(256, 1, 1)

buffer x: read_only u32[] @0
buffer y: read_write u32[] @1

region "elementwise" {
    let i = gid.x
    if i < len(y) {
        let a = x[i] * 3 + 1
        let b = a ^ a >> 7
        let c = min(a, b) + (a & b)
        y[i] = c
    }
}
"""
STATEMENTS = 6
"""What one invocation executes: the region is only a name for them."""


def run(options: Options) -> Report:
    """The elementwise kernel, its result compared with numpy first."""
    from vyre.backends.reference import execute
    from vyre.ir import Program

    n = ELEMENTS[options.scale]
    program = Program.parse(SOURCE)
    x = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)
    arrays = {"x": x, "y": np.zeros_like(x)}

    def launch(_: None) -> Array:
        return execute(program, arrays, (n // 256, 1, 1)).outputs["y"]

    a = x * np.uint32(3) + np.uint32(1)
    b = a ^ (a >> np.uint32(7))
    if not np.array_equal(launch(None), np.minimum(a, b) + (a & b)):
        raise AssertionError("the reference backend's result is wrong; nothing was timed")
    seconds = median_seconds(launch, lambda: None, options.rounds)
    rate = n * STATEMENTS / seconds
    row = [f"{n:_}".replace("_", " "), duration(seconds), f"{rate / 1e6:.3g} M/s"]
    held = verdict(rate >= BOUND, options)
    note = f"At least {BOUND / 1e6:g} M/s at 1 048 576 elements: {held}."
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(
            Table(
                "Elementwise kernel on the reference backend",
                ["elements", "time", "lane-statements"],
                [row],
                [note],
            ),
        ),
        data={"elements": n, "seconds": seconds, "lane_statements_per_second": rate},
        versions=versions_of("vyre", "numpy"),
        scale=options.scale,
        complete=options.complete,
    )


SUITE = Suite("reference", "The reference backend as an oracle", run)
