"""Short loops of vectors that do several rounds between branches."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.ir import Program
from vyre.runtime import run

TEXT = """
program workgroup(32, 1, 1)
buffer x: read_only u32[] @0
buffer y: read_write u32[] @1
region "rounds" {{
    let s = gid.x
    for k in {start}..{stop} {{
        let t = s * 3 + k
        if t % 5 == gid.x % 5 {{ s = t + x[k] }} else {{ s = t }}
        {extra}
    }}
    if gid.x < len(y) {{ y[gid.x] = s }}
}}
"""


@pytest.mark.parametrize(("start", "stop"), [(0, 32), (3, 19), (0, 30), (5, 5), (0, 16)])
@pytest.mark.parametrize("extra", ["", "if s > 4000000000 { break }", "if k == 7 { continue }"])
def test_rounds_are_those_of_the_reference(start: int, stop: int, extra: str) -> None:
    program = Program.parse(TEXT.format(start=start, stop=stop, extra=extra))
    given = {"x": np.arange(20, dtype=np.uint32) * 7, "y": np.zeros(101, np.uint32)}
    expected = run(program, given, device="reference")["y"]
    assert run(program, given, device="cpu")["y"].tolist() == expected.tolist()
