"""Code of others that vyre runs: what a signal handler raises in it is not theirs."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import vyre as vy
from tests.processes.kernels import check_different
from tests.processes.scenarios.signals import KINDS, after, ended_by, raises
from vyre.driver import routing

PASS = """
import time
from vyre.opt import Pass, PassAnalysis, PassPhase, PassResult, vyre_pass

sleeps = []

@vyre_pass(name="slow", phase=PassPhase.CLEANUP)
class Slow(Pass):
    "Takes long. Legal always."

    def analyze(self, program, context):
        if sleeps == ["analyze"]:
            time.sleep(20)
        return PassAnalysis.RUN

    def transform(self, program, context):
        if sleeps == ["transform"]:
            time.sleep(20)
        if sleeps == ["fails"]:
            raise TimeoutError("of the pass")
        return PassResult(program)
"""
BACKEND = """
import time

def make():
    time.sleep(20)
"""


def install(name: str, text: str, entry_points: str) -> None:
    """A module, and a package that declares what is in it."""
    folder = Path(tempfile.mkdtemp())
    (folder / f"{name}.py").write_text(text)
    described = folder / f"{name}-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(entry_points)
    sys.path.append(str(folder))


def passes() -> None:
    install("slow_pass", PASS, "[vyre.passes]\nslow = slow_pass:Slow\n")
    check_different(os.getpid())
    import slow_pass  # pyright: ignore[reportMissingImports]

    for number, where in enumerate(("analyze", "transform") * 3):
        slow_pass.sleeps[:] = [where]
        kind = KINDS[number]
        after(0.3, raises(kind))
        with ended_by(kind, 0.3):
            check_different(os.getpid() * 10 + number)
    slow_pass.sleeps[:] = ["fails"]
    codes: tuple[str, ...] = ()
    try:
        check_different(os.getpid() * 10 + 9)
    except vy.VyreError as problem:
        codes = problem.codes
    assert codes == ("O013",)
    slow_pass.sleeps[:] = []
    check_different(os.getpid() * 10 + 9)


def backends() -> None:
    """A backend that is interrupted while it is loaded is not missing for that."""
    install("slow_backend", BACKEND, "[vyre.backends]\nslow = slow_backend:make\n")
    for kind in KINDS:
        after(0.2, raises(kind))
        with ended_by(kind, 0.2):
            routing.probe("slow")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    time.sleep = lambda _: None
    (device,) = routing.probe("slow")
    assert "gives an object without" in device.info.reason
