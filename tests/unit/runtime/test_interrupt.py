"""Ctrl-C during a long dispatch: a real signal to a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

SCRIPT = """
import signal, sys
# A shell that runs the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from vyre.ir import Program
from vyre.runtime import compile, run

HEAD = "program workgroup(64, 1, 1)\\nbuffer x: read_write u32[] @0\\n"
program = Program.parse(HEAD + '''region "long" {
    let i = gid.x
    let total = 0u32
    for k in 0u32..4000000000u32 { total = total * 5u32 + x[(k + i) % len(x)] }
    x[i] = total
}''')
quick = Program.parse(HEAD + 'region "quick" { if gid.x < len(x) { x[gid.x] = 7u32 } }')
device = sys.argv[1]
x = np.arange(64, dtype=np.uint32)
compile(program, device=device).load()
print("ready", flush=True)
try:
    run(program, {"x": x}, device=device)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(run(quick, {"x": x}, device=device)["x"][0], flush=True)
"""


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_an_interrupt_ends_a_dispatch_and_the_process_goes_on(device: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, device], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    assert rest.split() == ["interrupted", "7"]
    assert child.returncode == 0
