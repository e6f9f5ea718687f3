"""What an editor knows: the signature of a kernel, and that an array indexes to a number."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

SOURCE = """
from typing import Literal, TypeVar
import numpy as np
import vyre as vy

@vy.kernel(workgroup=256)
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    reveal_type(i)
    if i < len(y):
        reveal_type(x[i])
        y[i] = a * x[i] + y[i]
        y.atomic_add(i, 1.0)

x = np.zeros(4, np.float32)
saxpy(2.0, x, x)
saxpy(2.0, vy.array(x), bytearray(16), device="cpu", grid=1)
nowhere: str | None = None
saxpy(2.0, x, x, device=nowhere, grid=None, elements=None, deadline=None)
reveal_type(saxpy)
saxpy(2.0, x)
saxpy("2", x, x)
saxpy(2.0, x, x, colour=3)

Number = TypeVar("Number", int, float)

@vy.kernel
def transpose(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    reveal_type(x[1, 2])
    y[vy.gid(0), vy.gid(1)] = x[vy.gid(1), vy.gid(0)]

@vy.kernel
def copy(x: vy.In[Number], y: vy.Out[Number]):
    y[vy.gid()] = x[vy.gid()]

@vy.kernel
def wrong(x: vy.In[vy.f32]):
    x.nonsense()
    t = vy.shared(vy.u32, 4)
    reveal_type(t[0])
"""


def test_a_type_checker_knows_kernels(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(SOURCE, encoding="utf-8")
    tool = Path(sysconfig.get_path("scripts")) / "basedpyright"
    options = ["--outputjson", "--pythonpath", sys.executable, str(file)]
    run = subprocess.run([str(tool), *options], capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)["generalDiagnostics"]
    said = [
        (item["range"]["start"]["line"] + 1, item["severity"], item["message"]) for item in found
    ]
    revealed = [message for _, severity, message in said if severity == "information"]
    assert revealed[0] == 'Type of "i" is "int"'
    assert revealed[1] == 'Type of "x[i]" is "float | Any"'
    assert "(a: float, x: View[float] | Any, y: View[float] | Any)" in revealed[2]
    assert revealed[3] == 'Type of "x[1, 2]" is "float | Any"'
    assert revealed[4] == 'Type of "t[0]" is "int"'
    lines = SOURCE.splitlines()
    wrong = {lines[line - 1].strip() for line, severity, _ in said if severity == "error"}
    assert wrong == {
        "saxpy(2.0, x)",
        'saxpy("2", x, x)',
        "saxpy(2.0, x, x, colour=3)",
        "x.nonsense()",
    }
