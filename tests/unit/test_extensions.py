"""Passes and backends of other packages: one that is broken is missing, and all else works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import vyre as vy
from tests.installing import Site
from vyre.cache import DiskCache
from vyre.cli import main
from vyre.diagnostics import BackendError, DeviceError, OptimizerError
from vyre.driver import registry, routing
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import (
    OptimizerProfile,
    explain,
    missing_passes,
    optimize,
    pass_by_name,
    registered_passes,
)
from vyre.opt.passes import dce
from vyre.runtime import run


def add() -> Program:
    """A program that was never compiled."""
    x = Expr.load("x", Expr.gid(0))
    return Program.wrapped(
        [BufferDecl.read_write("x", 0, DataType.U32)],
        (64, 1, 1),
        [Node.store("x", Expr.gid(0), x + Expr.u32(1))],
    )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    made = Site(tmp_path / "site", monkeypatch)
    yield made
    monkeypatch.undo()
    made.look_again()


def added(device: str | None = None) -> list[int]:
    return run(add(), {"x": np.zeros(3, np.uint32)}, device=device)["x"].tolist()


# --- backends -------------------------------------------------------------------------------------

BACKEND = """
from vyre.driver.backend import DeviceInfo, DeviceKind
from vyre.backends.reference import backend as reference_backend

class Device:
    info = DeviceInfo("mine", "mine", DeviceKind.GPU, "my device")
    def allocate(self, nbytes): ...
    def adopt(self, array): ...
    def synchronize(self): ...

class Mine:
    name = "mine"
    def probe(self): return [Device()]
    def target(self, device): return reference_backend().target(None)
    def emit(self, program, target, options): ...
    def load(self, artifact, device): ...

def backend():
    return Mine()
"""

BROKEN_BACKENDS: dict[str, tuple[str, str, str]] = {
    "no such module": ("", "", "No module named"),
    "raises on import": ("def backend", "1 // 0\ndef backend", "ZeroDivisionError"),
    "leaves on import": ("def backend", "raise SystemExit(3)\ndef backend", "SystemExit: 3"),
    "is no Python": ("def backend", "def def backend", "SyntaxError"),
    "needs what is not there": ("def backend", "import not_there\ndef backend", "'not_there'"),
    "lacks the function": ("def backend", "def other", "has no attribute 'backend'"),
    "is no function": ("def backend():\n    return Mine()", "backend = 5", "no function"),
    "raises in the factory": ("return Mine()", "raise RuntimeError('no licence')", "no licence"),
    "gives nothing": ("return Mine()", "return None", "without name, probe, target, emit, load"),
    "lacks a member": ("def emit", "def omit", "without emit"),
    "calls itself otherwise": ('name = "mine"', 'name = "yours"', "calls itself 'yours'"),
    "raises in probe": ("return [Device()]", "raise OSError('no driver')", "OSError: no driver"),
    "probes nonsense": ("return [Device()]", "return 5", "TypeError"),
    "has no devices": ("return [Device()]", "return ['mine']", "which is no device"),
    "has the device of another": ('Info("mine", "mine"', 'Info("cpu", "cpu"', "'cpu'"),
    "raises in info": ("    info =", "    info = property(lambda self: 1 // 0)\n    x =", "Zero"),
    "raises in target": (
        "return reference_backend().target(None)",
        "return 1 // 0",
        "ZeroDivision",
    ),
    "has no target": ("return reference_backend().target(None)", "return None", "no target"),
}


@pytest.mark.parametrize("how", BROKEN_BACKENDS)
def test_a_broken_backend_is_missing_and_says_why(site: Site, how: str, capsys) -> None:
    old, new, reason = BROKEN_BACKENDS[how]
    assert old in BACKEND
    name = site.module(BACKEND.replace(old, new)) if old else "vyre_test_not_there"
    site.package("my-package", f"[vyre.backends]\nmine = {name}:backend\n")
    # Without being asked, and by name, the others work.
    assert routing.choose(None).device.info.backend != "mine"
    assert added("cpu") == added("reference") == added(None) == [1, 1, 1]
    found = {info.id: info for info in vy.devices()}
    assert found["cpu"].available
    assert found["split"].available
    assert not found["mine"].available
    assert reason in found["mine"].reason
    assert "\n" not in found["mine"].reason
    assert "my-package 1.0" in found["mine"].name
    assert "VYRE_WITHOUT=mine" in found["mine"].remedy
    with pytest.raises(DeviceError) as caught:
        added("mine")
    assert caught.value.code == "D002"
    assert reason in str(caught.value)
    assert caught.value.fix == found["mine"].remedy
    for options in ([], ["--json"], ["--features"]):
        assert main(["devices", *options]) == 0
        assert "my-package" in capsys.readouterr().out


def test_the_example_is_a_backend_that_works(site: Site) -> None:
    """Otherwise the test above would show nothing."""
    site.package("my-package", f"[vyre.backends]\nmine = {site.module(BACKEND)}:backend\n")
    assert routing.choose(None).device.info.id == "mine"  # it says that it is a GPU
    assert routing.choose("mine").device.info.available


@pytest.mark.parametrize(("member", "code"), [("emit", "B002"), ("load", "B003")])
def test_a_backend_that_leaves_python_is_named(site: Site, member: str, code: str) -> None:
    text = BACKEND
    if member == "load":
        made = "def emit(self, program, target, options): return Artifact('mine', b'')"
        text = text.replace("def emit(self, program, target, options): ...", made)
        text = f"from vyre.driver.artifact import Artifact\n{text}"
    head, _, rest = text.partition(f"def {member}(")
    text = head + f"def {member}(" + rest.replace("...", "raise SystemExit(4)", 1)
    site.package("my-package", f"[vyre.backends]\nmine = {site.module(text)}:backend\n")
    with pytest.raises(BackendError) as caught:
        vy.compile(add(), device="mine").load()
    assert caught.value.code == code
    assert "the backend 'mine' failed" in str(caught.value)
    assert "SystemExit: 4" in str(caught.value)


def test_what_is_left_out_is_not_even_imported(site: Site) -> None:
    name = site.module("raise SystemExit('imported')")
    site.package("my-package", f"[vyre.backends]\nmine = {name}:backend\n")
    site.without("other, mine")
    assert "mine" not in [info.id for info in vy.devices()]
    with pytest.raises(DeviceError) as caught:
        routing.choose("mine")
    assert caught.value.code == "D001"


def test_vyres_own_backends_keep_their_names(site: Site, capsys) -> None:
    name = site.module("raise SystemExit('imported')")
    site.package("my-package", f"[vyre.backends]\ncpu = {name}:backend\na:b = {name}:b\n")
    assert added("cpu") == [1, 1, 1]
    missing = {info.name: info for info in vy.devices() if not info.available}
    reasons = [info.reason for info in vy.devices() if "my-package" in info.name]
    assert missing
    assert any("vyre itself has a backend of this name" in reason for reason in reasons)
    assert any("cannot have the name 'a:b'" in reason for reason in reasons)
    assert main(["devices", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert sum(each["default"] for each in listed) == 1
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.count("(default)") == 1


def test_of_two_backends_of_one_name_the_first_works(site: Site) -> None:
    name = site.module(BACKEND)
    site.package("a-package", f"[vyre.backends]\nmine = {name}:backend\n")
    site.package("b-package", f"[vyre.backends]\nmine = {site.module('1 // 0')}:backend\n")
    assert set(registry.third_party()) == {"mine", "split"}
    listed = [info for info in vy.devices() if info.id == "mine"]
    assert [info.available for info in listed] == [True, False]
    assert "a-package" in listed[1].reason or "b-package" in listed[1].reason
    assert routing.choose("mine").device.info.available


def test_a_backend_may_ask_for_devices_while_it_is_made(site: Site) -> None:
    name = site.module(
        "import vyre\n" + BACKEND.replace("return Mine()", "vyre.devices()\n    return Mine()")
    )
    site.package("my-package", f"[vyre.backends]\nmine = {name}:backend\n")
    assert added("cpu") == [1, 1, 1]
    assert "mine" in [info.id for info in vy.devices()]


# --- passes ---------------------------------------------------------------------------------------

PASS = """
from vyre.ir import Expr, Node
from vyre.opt import Pass, PassAnalysis, PassPhase, PassResult, vyre_pass

@vyre_pass(name="mine", phase=PassPhase.CLEANUP)
class Mine(Pass):
    "Does nothing. Legal always."

    def analyze(self, program, context):
        return PassAnalysis.RUN

    def transform(self, program, context):
        return PassResult(program)
"""

BROKEN_PASSES: dict[str, tuple[str, str, str]] = {
    "no such module": ("", "", "No module named"),
    "raises on import": ("@vyre_pass", "1 // 0\n\n@vyre_pass", "ZeroDivisionError"),
    "leaves on import": ("@vyre_pass", "raise SystemExit\n\n@vyre_pass", "SystemExit"),
    "is no Python": ("class Mine", "class class", "SyntaxError"),
    "lacks the class": ("class Mine", "class Other", "has no attribute 'Mine'"),
    "is declared wrongly": ('"Does nothing. Legal always."', '"Nothing."', "cannot be declared"),
    "raises when made": (
        "    def analyze",
        "    def __init__(self): 1 // 0\n    def analyze",
        "Zero",
    ),
    "has the name of another": ('name="mine"', 'name="dce"', "vyre itself has a pass named 'dce'"),
    "requires what is not there": (
        "CLEANUP)",
        "CLEANUP, requires=('x',))",
        "requires the pass 'x'",
    ),
    "requires itself": ("CLEANUP)", "CLEANUP, requires=('mine',))", "requires mine"),
}


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("how", BROKEN_PASSES)
def test_a_broken_pass_is_missing_and_says_why(site: Site, how: str, capsys) -> None:
    old, new, reason = BROKEN_PASSES[how]
    name = site.module(changed(PASS, old, new)) if old else "vyre_test_not_there"
    site.package("my-package", f"[vyre.passes]\nmine = {name}:Mine\n")
    (found,) = missing_passes()
    assert found.name == "mine"
    assert reason in found.reason
    assert found.origin == "the package my-package 1.0"
    assert "VYRE_WITHOUT=mine" in found.remedy
    assert added("cpu") == added("reference") == [1, 1, 1]
    assert "mine" not in [each.metadata.name for each in registered_passes()]
    assert pass_by_name("dce") == dce.Dce()
    shown = explain(optimize(add(), OptimizerProfile.RELEASE))
    assert f"mine                  missing: the package my-package 1.0: {found.reason}" in shown
    assert main(["opt", "--passes", "list", "-"]) == 0
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "missing: mine, of the package my-package 1.0" in said
    assert main(["opt", "--passes", "list", "-", "--json"]) == 0
    assert "dce" in json.loads(capsys.readouterr().out)


def test_other_things_that_are_no_passes(site: Site) -> None:
    name = site.module(PASS + "\nnumber = 5\nclass Plain: pass\nclass Bare(Pass): pass\n")
    for attribute in ("number", "Plain", "Bare", "Mine.metadata", "Pass"):
        site.package("my-package", f"[vyre.passes]\nmine = {name}:{attribute}\n")
        (found,) = missing_passes()
        assert found.reason == "it is not a class made by vyre_pass"


def test_a_pass_that_works_runs(site: Site) -> None:
    site.package("my-package", f"[vyre.passes]\nmine = {site.module(PASS)}:Mine\n")
    assert missing_passes() == ()
    assert optimize(add()).rows_of("mine")
    site.without("mine")
    assert missing_passes() == ()
    assert not optimize(add()).rows_of("mine")


def test_passes_that_require_each_other(site: Site) -> None:
    """Those that can be used are; those in a circle, and what requires them, are missing."""
    text = PASS
    for name, requires in (("a", "b"), ("b", "a"), ("c", "b"), ("d", "mine"), ("e", "dce")):
        block = PASS[PASS.index("@vyre_pass") :].replace("class Mine", f"class {name.upper()}")
        block = block.replace('name="mine"', f'name="{name}"')
        text += block.replace("CLEANUP)", f"CLEANUP, requires=({requires!r},))")
    module = site.module(text)
    lines = [f"{name} = {module}:{name.upper()}" for name in "abcde"]
    site.package("my-package", "\n".join(["[vyre.passes]", f"mine = {module}:Mine", *lines]))
    assert [each.name for each in missing_passes()] == ["a", "b", "c"]
    assert {"mine", "d", "e"} < {each.metadata.name for each in registered_passes()}
    assert added("cpu") == [1, 1, 1]


RUNNING: dict[str, tuple[str, str, str]] = {
    "raises in transform": ("return PassResult(program)", "return program.nonsense", "nonsense"),
    "leaves in transform": ("return PassResult(program)", "raise SystemExit(4)", "SystemExit: 4"),
    "leaves in analyze": ("return PassAnalysis.RUN", "raise SystemExit", "SystemExit"),
    "raises in analyze": ("return PassAnalysis.RUN", "raise KeyError('x')", "KeyError: 'x'"),
    "gives no analysis": ("return PassAnalysis.RUN", "return None", "AttributeError"),
    "gives no result": ("return PassResult(program)", "return program", "no PassResult"),
    "gives no program": ("PassResult(program)", "PassResult(None)", "no PassResult"),
    "raises an error of vyre": ("return PassResult(program)", "Expr.u32(-1)", "BuildError"),
}


@pytest.mark.parametrize("how", RUNNING)
def test_a_pass_that_fails_is_named_and_the_fix_leaves_it_out(site: Site, how: str) -> None:
    old, new, problem = RUNNING[how]
    name = site.module(changed(PASS, old, new))
    site.package("my-package", f"[vyre.passes]\nentry = {name}:Mine\n")
    with pytest.raises(OptimizerError) as caught:
        added("cpu")
    assert caught.value.code == "O013"
    message = str(caught.value)
    assert "the pass 'mine' of the package my-package 1.0 failed" in message
    assert problem in message
    assert caught.value.__cause__ is not None or "PassResult" in problem
    advised = re.search(r"VYRE_WITHOUT=(\w+)", caught.value.fix)
    assert advised is not None
    site.without(advised[1])
    assert added("cpu") == [1, 1, 1]


def test_a_pass_that_breaks_programs_is_named_though_nobody_asked_for_checks(site: Site) -> None:
    bad = "PassResult(program.with_rewritten_entry([Node.eval(Expr.var('nowhere'))]))"
    name = site.module(changed(PASS, "PassResult(program)", bad))
    site.package("my-package", f"[vyre.passes]\nmine = {name}:Mine\n")
    with pytest.raises(OptimizerError) as caught:
        added("cpu")
    assert caught.value.code == "O009"
    assert "'mine'" in str(caught.value)
    assert "VYRE_WITHOUT=mine" in caught.value.fix


def test_a_pass_of_vyre_that_fails_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(dce.Dce, "analyze", broken)
    with pytest.raises(BackendError, match=r"on purpose \(in the pass 'dce'\)"):
        vy.compile(add(), device="cpu", cache=DiskCache("", 0))
