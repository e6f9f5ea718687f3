"""The loop is closed: dispatches become hints, hints bring passes, profiles show all of it."""

from __future__ import annotations

import threading

import numpy as np

from vyre.cache import DiskCache
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import HotPathHints, OptimizerRunReport
from vyre.runtime import compile, profile, run
from vyre.runtime.compiling import finish_improvements
from vyre.runtime.run import dispatch
from vyre.runtime.telemetry import hints, record_dispatch

I = Expr.gid(0)  # noqa: E741


def stepping(name):
    step = Node.store("x", I, Expr.load("x", I) + Expr.u32(1))
    body = [Node.if_(Expr.buf_len("x") > I, [step])]
    return Program.wrapped(
        [BufferDecl.read_write("x", 0, DataType.U32)], (64, 1, 1), body, entry_op_id=name
    )


def chosen_by(compiled):
    assert compiled.report is not None
    return {d.metadata.name: d.reason.name for d in compiled.report.decisions if d.selected}


def test_every_dispatch_is_recorded_under_the_entrys_id():
    program = stepping("test.recorded")
    x = np.zeros(100, np.uint32)
    for _ in range(3):
        run(program, {"x": x}, device="reference")
    record = hints().record_for("test.recorded")
    assert record is not None
    assert record.dispatch_count == 3
    assert record.bytes_total == 3 * x.nbytes


def test_programs_of_one_name_do_not_share_what_was_measured():
    def added(value):
        body = [
            Node.region("test.region", [Node.store("x", I, Expr.load("x", I) + Expr.u32(value))])
        ]
        decl = BufferDecl.read_write("x", 0, DataType.U32)
        return Program.wrapped([decl], (64, 1, 1), body, entry_op_id="test.two_scripts")

    hot, other = added(1), added(2)
    for _ in range(2):
        run(hot, {"x": np.zeros(4, np.uint32)}, device="reference")
    record_dispatch(hot, 10**9, 4)
    assert hints().is_hot_program(hot)
    assert not hints().is_hot_program(other)
    run(other, {"x": np.zeros(4, np.uint32)}, device="reference")
    assert [record.dispatch_count for record in hints().records_of(other)] == [1, 1]
    assert hints().dispatch_count("test.region") == 4


def test_a_profile_shows_names_without_digests():
    with profile() as seen:
        run(stepping("test.shown"), {"x": np.zeros(4, np.uint32)}, device="cpu")
    assert [event.what for event in seen.events if event.kind == "dispatch"] == ["test.shown"]


def test_hints_that_are_given_are_used_at_once(tmp_path):
    cache = DiskCache(tmp_path, 1 << 24)
    compile(stepping("test.given"), device="cpu", hints=HotPathHints(), cache=cache)
    known = HotPathHints()
    known.record("test.given", 1_000_000, 4)
    made = compile(stepping("test.given"), device="cpu", hints=known, cache=cache)
    assert set(chosen_by(made).values()) == {"HOT_PATH_TELEMETRY"}
    again = compile(stepping("test.given"), device="cpu", hints=known, cache=cache)
    assert again.from_cache
    assert chosen_by(again) == chosen_by(made)


def test_a_report_is_kept_and_given_to_the_next_compilation(tmp_path):
    twice = Node.store("x", I, Expr.load("x", I) * Expr.u32(1) + Expr.load("x", I))
    decl = BufferDecl.read_write("x", 0, DataType.U32)
    program = Program.wrapped([decl], (64, 1, 1), [twice], entry_op_id="test.report")
    cache = DiskCache(tmp_path, 1 << 24)
    known = HotPathHints()
    known.record("test.report", 1_000_000, 4)
    made = compile(program, device="cpu", hints=known, cache=cache)
    assert made.report is not None
    made.report.save(tmp_path / "report.json")
    report = OptimizerRunReport.load(tmp_path / "report.json")
    cold = compile(program, device="cpu", hints=HotPathHints(), report=report, cache=cache)
    reasons = chosen_by(cold)
    paid = {name for name, reason in reasons.items() if reason == "PASS_COST_REPORT"}
    assert paid == report.cost_reducing_passes()
    assert "an earlier report shows that it pays" in cold.explain()


def test_a_program_that_becomes_hot_is_compiled_again_in_the_background(tmp_path):
    program = stepping("test.hot")
    known = HotPathHints()
    cache = DiskCache(tmp_path, 1 << 24)

    def compiled():
        return compile(program, device="cpu", hints=known, cache=cache)

    cold = compiled()
    reasons = chosen_by(cold)
    known.record("test.hot", 1_000_000, 4)
    assert compiled() is cold
    finish_improvements(program)
    hot = compiled()
    assert hot is not cold
    more = chosen_by(hot)
    granted = set(more) - set(reasons)
    assert granted
    assert {more[name] for name in granted} <= {"HOT_PATH_TELEMETRY", "REQUIRED_DEPENDENCY"}
    assert hot.options.emit.tier == "hot"


def pipelines(compiled):
    return [artifact.metadata["pipeline"] for artifact in compiled.compilation.artifacts]


def test_a_big_program_is_compiled_quickly_first_and_in_full_when_hot(tmp_path, monkeypatch):
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_BRISK_LINES", 10)
    program = stepping("test.big")
    known = HotPathHints()
    cache = DiskCache(tmp_path, 1 << 24)

    def compiled():
        return compile(program, device="cpu", hints=known, cache=cache)

    first = compiled()
    assert pipelines(first) == ["quick"]
    assert "made quickly" in first.explain()
    known.record("test.big", 1_000_000, 4)
    assert compiled() is first
    finish_improvements(program)
    best = compiled()
    assert pipelines(best) == ["full"]
    assert "made quickly" not in best.explain()
    x = np.arange(1000, dtype=np.uint32)
    for each in (first, best):
        assert np.array_equal(dispatch(each, {"x": x})["x"], x + 1)


def test_code_made_in_haste_is_replaced_after_many_short_dispatches(tmp_path, monkeypatch):
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_BRISK_LINES", 10)
    known = HotPathHints()
    cache = DiskCache(tmp_path, 1 << 24)
    program = stepping("test.short")

    def compiled():
        found = compile(program, device="cpu", hints=known, cache=cache)
        finish_improvements(program)
        return found

    for _ in range(100):
        known.record("test.short", 50_000, 4)
    assert pipelines(compiled()) == pipelines(compiled()) == ["quick"]
    for _ in range(4_000):
        known.record("test.short", 50_000, 4)
    assert pipelines(compiled()) == ["quick"]
    assert pipelines(compiled()) == ["full"]


def test_the_more_statements_the_sooner_code_is_made_in_haste(monkeypatch):
    def made(name):
        return compile(stepping(name), device="cpu", hints=HotPathHints())

    assert pipelines(made("test.small")) == ["standard"]
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_UNROLLED_STATEMENTS", 1)
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_LEAN_LINES", 10)
    medium = made("test.medium")
    assert pipelines(medium) == ["lean"]
    assert medium.is_provisional
    monkeypatch.setattr("vyre.backends.llvm.heuristics.LARGE_PROGRAM_STATEMENTS", 1)
    assert pipelines(made("test.large")) == ["quick"]


def test_a_big_program_known_to_be_hot_does_not_wait_for_its_best_code(tmp_path, monkeypatch):
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_BRISK_LINES", 10)
    monkeypatch.setattr("vyre.runtime.compiling._BIG_STATEMENTS", 1)
    hints().record("test.known", 1_000_000, 4)
    cache = DiskCache(tmp_path, 1 << 24)

    def compiled(program):
        return compile(program, device="cpu", cache=cache)

    program = stepping("test.known")
    for _ in range(2):
        assert pipelines(compiled(program)) == ["quick"]
        finish_improvements(program)
    assert pipelines(compiled(program)) == ["full"]
    again = compiled(stepping("test.known"))
    assert (pipelines(again), again.from_cache) == (["full"], True)


def test_what_an_earlier_process_left_is_used_at_once_though_the_program_is_hot(tmp_path):
    cache = DiskCache(tmp_path, 1 << 24)
    compile(stepping("test.left"), device="cpu", cache=cache)
    hints().record("test.left", 1_000_000, 4)
    program = stepping("test.left")
    for _ in range(2):
        first = compile(program, device="cpu", cache=cache)
        assert (pipelines(first), first.from_cache) == (["standard"], True)
        finish_improvements(program)
    assert pipelines(compile(program, device="cpu", cache=cache)) == ["full"]


def test_who_runs_a_hot_program_once_does_not_wait_for_better_code(tmp_path):
    cache = DiskCache(tmp_path, 1 << 24)
    compile(stepping("test.once"), device="cpu", cache=cache)
    hints().record("test.once", 1_000_000, 4)
    program = stepping("test.once")
    before = threading.active_count()
    compile(program, device="cpu", cache=cache)
    assert threading.active_count() == before


def test_a_tier_that_was_asked_for_is_kept(monkeypatch):
    monkeypatch.setattr("vyre.backends.llvm.heuristics.MAX_BRISK_LINES", 10)
    program = stepping("test.asked")
    known = HotPathHints()
    known.record("test.asked", 1_000_000, 4)
    options = CompileOptions(emit=EmitOptions("full"))
    made = compile(program, device="cpu", hints=known, options=options)
    assert pipelines(made) == ["standard"]


def test_results_stay_the_same_when_code_is_replaced():
    program = stepping("test.replaced")
    hints().record("test.replaced", 10**9, 1)
    x = np.arange(1000, dtype=np.uint32)
    for _ in range(5):
        assert np.array_equal(run(program, {"x": x}, device="cpu")["x"], x + 1)
        finish_improvements(program)


def test_a_profile_shows_stages_dispatches_and_cache_hits():
    program = stepping("test.profile")
    with profile() as seen:
        run(program, {"x": np.zeros(64, np.uint32)}, device="cpu")
        run(program, {"x": np.zeros(64, np.uint32)}, device="cpu")
    assert seen.count("dispatch") == 2
    assert {"check", "optimise", "emit", "load"} <= {event.kind for event in seen.events}
    with profile() as again:
        compile(stepping("test.profile"), device="cpu", hints=HotPathHints(capacity=0))
    assert again.count("cache hit") == 1
    assert again.count("emit") == 0
    assert "cache hit" in again.table()


def test_a_report_brings_its_passes_to_the_next_compile():
    program = stepping("test.report")
    first = compile(program, device="cpu").report
    assert first is not None
    paid = first.cost_reducing_passes()
    chosen = chosen_by(compile(program, device="cpu", report=first))
    assert all(chosen[name] == "PASS_COST_REPORT" for name in paid)


def test_eight_threads_share_a_device():
    program = stepping("test.threads")
    wrong = []

    def work(number):
        x = np.full(200, number, np.uint32)
        for _ in range(500):
            if not np.array_equal(run(program, {"x": x}, device="cpu")["x"], x + 1):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
