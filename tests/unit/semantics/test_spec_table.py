"""The bounds in the specification are the bounds in the source."""

from __future__ import annotations

from pathlib import Path

from vyre.ir import BinOp, DataType, UnOp
from vyre.semantics.ulp import BOUNDS

PAGE = Path(__file__).parents[3] / "docs" / "spec" / "floats.md"


def test_the_page_has_every_bound() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| opcode | f16 | f32 | f64 |")
    rows = [line.strip("| ").split(" | ") for line in lines[start + 2 :] if line.startswith("|")]
    written = {
        (name, dtype): int(bound)
        for name, *bounds in rows
        for dtype, bound in zip((DataType.F16, DataType.F32, DataType.F64), bounds, strict=True)
    }
    assert written == {(op.row.spelling, dtype): bound for (op, dtype), bound in BOUNDS.items()}
    assert {op for op, _ in BOUNDS} == {
        op for table in (UnOp, BinOp) for op in table if op.row.approximate
    }
