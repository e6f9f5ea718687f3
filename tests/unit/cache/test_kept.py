"""All that outlives a process is kept under what the code is: other code does not find it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cache.attacks import adding
from vyre.analysis.default_grid.needs import find_plan
from vyre.analysis.default_grid.plan import PLAN
from vyre.backends.llvm import native_object
from vyre.backends.llvm.pool import EXPORTS
from vyre.cache import DiskCache
from vyre.opt import HotPathHints, OptimizerProfile, OptimizerRunReport, optimize, report
from vyre.opt.selection import PassSelectionReason
from vyre.runtime import compile, compiling, telemetry, translation_store


class Kept:
    """A cache, and code that can be another."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.store = DiskCache(folder / "store", 1 << 24)
        self.code = "one"
        for module in (compiling, translation_store, telemetry, native_object, report):
            patch.setattr(module, "code_stamp", lambda: self.code)
            if hasattr(module, "default_cache"):
                patch.setattr(module, "default_cache", lambda: self.store)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    return Kept(tmp_path, monkeypatch)


def compiled_code(kept: Kept, patch: pytest.MonkeyPatch) -> bool:
    return compile(adding(1), device="cpu", cache=kept.store).from_cache


def translation(kept: Kept, patch: pytest.MonkeyPatch) -> bool:
    found = translation_store.program(lambda: pytest.fail("not asked for"), "name")
    if found is None:
        made = adding(1)
        made.memo(PLAN, find_plan)  # as a kernel has it
        translation_store.keep_program(made, "name")
    return found is not None


def note(kept: Kept, patch: pytest.MonkeyPatch) -> bool:
    found = translation_store.note("name")
    if found is None:
        translation_store.keep_note({"said": 1}, "name")
    return found is not None


def hints(kept: Kept, patch: pytest.MonkeyPatch) -> bool:
    patch.setattr(telemetry.atexit, "register", lambda function: None)
    patch.setattr(telemetry, "_hints", None)
    found = len(telemetry.hints()) > 0
    telemetry.hints().record("region", 10, 10)
    telemetry._save_hints()
    return found


def native_runtime(kept: Kept, patch: pytest.MonkeyPatch) -> bool:
    made: list[str] = []
    right = native_object._compile

    def counting(text: str) -> bytes:
        made.append(text)
        return right(text)

    patch.setattr(native_object, "_compile", counting)
    try:
        native_object.object_bytes(kept.store, EXPORTS)
    finally:
        patch.setattr(native_object, "_compile", right)
    return not made


KINDS: tuple[Callable[[Kept, pytest.MonkeyPatch], bool], ...] = (
    compiled_code,
    translation,
    note,
    hints,
    native_runtime,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_other_code_does_not_find_it(
    kept: Kept,
    kind: Callable[[Kept, pytest.MonkeyPatch], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not kind(kept, monkeypatch)
    assert kind(kept, monkeypatch)
    kept.code = "other"
    assert not kind(kept, monkeypatch)
    kept.code = "one"
    assert kind(kept, monkeypatch)


def test_nothing_lies_beside_the_cache(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        kind(kept, monkeypatch)
    folder = Path(kept.store.folder)
    assert [path.name for path in folder.parent.iterdir()] == ["store"]
    assert {path.suffix for path in folder.iterdir()} == {".vyc"}


def test_a_report_of_other_code_is_read_but_chooses_no_passes(kept: Kept, tmp_path: Path) -> None:
    known = HotPathHints()
    known.record("hostile.adding", 1_000_000, 4)
    made = optimize(adding(1), OptimizerProfile.RELEASE, None, known)
    first = made.passes[0]
    paid = first._replace(changed=True, before=first.before._replace(nodes=9))
    made = OptimizerRunReport(made.program, (paid,), (), made.profile, made.target)
    assert made.cost_reducing_passes() == {paid.pass_name}
    made.save(tmp_path / "report.json")

    def chosen(given: OptimizerRunReport) -> set[str]:
        decisions = optimize(adding(1), report=given).decisions
        wanted = PassSelectionReason.PASS_COST_REPORT
        return {each.metadata.name for each in decisions if each.reason is wanted}

    loaded = OptimizerRunReport.load(tmp_path / "report.json")
    assert loaded == made
    assert chosen(made) == chosen(loaded) == {paid.pass_name}
    kept.code = "other"
    loaded = OptimizerRunReport.load(tmp_path / "report.json")
    assert loaded == made
    assert chosen(loaded) == set()
    # Saved again it is still that of the other code.
    loaded.save(tmp_path / "again.json")
    kept.code = "one"
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["made_by"] == "one"
