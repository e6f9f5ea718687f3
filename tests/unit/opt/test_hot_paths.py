"""Hot-path hints: what the store remembers, forgets and keeps between processes."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from vyre.diagnostics import OptimizerError
from vyre.ir import ROOT_GENERATOR, BufferDecl, DataType, Expr, Node, Program
from vyre.opt import HotPathHints, RegionRecord, hint_rows
from vyre.opt.hot_paths import dispatch_keys, hint_keys, region_keys


def program(*regions: str, entry: str | None = None) -> Program:
    store = Node.store("out", 0, Expr.u32(1))
    body = [Node.region(name, [store]) for name in regions] or [store]
    out = BufferDecl.output("out", 0, DataType.U32).with_count(1)
    return Program.wrapped([out], (1, 1, 1), body, entry_op_id=entry)


def test_an_empty_store_knows_nothing() -> None:
    hints = HotPathHints()
    assert len(hints) == 0
    assert hints.is_empty
    assert not hints.is_hot("any")
    assert hints.dispatch_count("any") == 0
    assert hints.mean_kernel_ns("any") == 0
    assert hints.record_for("any") is None


def test_an_empty_store_is_still_a_store() -> None:
    assert HotPathHints()


def test_samples_add_up() -> None:
    hints = HotPathHints()
    for ns, touched in ((1_000, 100), (3_000, 300), (2_000, 200)):
        hints.record("matmul", ns, touched)
    record = hints.record_for("matmul")
    assert record == RegionRecord(3, 6_000, 3_000, 600)
    assert record is not None
    assert record.mean_kernel_ns == 2_000
    assert hints.mean_kernel_ns("matmul") == 2_000
    assert hints.dispatch_count("matmul") == 3


def test_hot_when_the_mean_reaches_the_threshold() -> None:
    hints = HotPathHints(hot_threshold_ns=1_000)
    hints.record("region", 500, 0)
    assert not hints.is_hot("region")
    hints.record("region", 1_500, 0)
    assert hints.is_hot("region")


def test_the_defaults_are_part_of_the_contract() -> None:
    hints = HotPathHints()
    assert (hints.capacity, hints.hot_threshold_ns) == (256, 100_000)
    hints.record("edge", 100_000, 0)
    hints.record("below", 99_999, 0)
    assert hints.is_hot("edge")
    assert not hints.is_hot("below")


def test_the_region_used_longest_ago_makes_room() -> None:
    hints = HotPathHints(capacity=2)
    for name in ("a", "b", "c"):
        hints.record(name, 100, 10)
    assert len(hints) == 2
    assert hints.record_for("a") is None
    assert hints.record_for("b") is not None
    assert hints.record_for("c") is not None


def test_recording_again_keeps_a_region() -> None:
    hints = HotPathHints(capacity=2)
    for name in ("a", "b", "a", "c"):
        hints.record(name, 100, 10)
    assert hints.record_for("a") is not None
    assert hints.record_for("b") is None


def test_capacity_zero_records_nothing() -> None:
    hints = HotPathHints(capacity=0)
    hints.record("a", 1_000_000, 10)
    assert len(hints) == 0
    assert not hints.is_hot("a")


def test_sums_saturate() -> None:
    hints = HotPathHints()
    hints.record("a", (1 << 64) - 1, 5)
    hints.record("a", 10, 5)
    record = hints.record_for("a")
    assert record is not None
    assert record.kernel_ns_total == (1 << 64) - 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: HotPathHints(capacity=-1),
        lambda: HotPathHints(hot_threshold_ns=-1),
        lambda: HotPathHints(half_life_s=0.0),
        lambda: HotPathHints().record("a", -1, 0),
        lambda: HotPathHints().record("a", 0, -1),
    ],
)
def test_nonsense_is_refused(make) -> None:
    with pytest.raises(OptimizerError) as error:
        make()
    assert error.value.code == "O008"


def test_threads_lose_nothing() -> None:
    hints = HotPathHints()

    def work(name: str) -> None:
        for _ in range(500):
            hints.record("shared", 10, 1)
            hints.record(name, 10, 1)

    threads = [threading.Thread(target=work, args=(f"own{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hints.dispatch_count("shared") == 2_000
    assert all(hints.dispatch_count(f"own{i}") == 500 for i in range(4))


def test_a_record_costs_the_same_however_full_the_store_is() -> None:
    def seconds(regions: int) -> float:
        hints = HotPathHints(capacity=regions)
        names = [f"r{i}" for i in range(regions)]
        for name in names:
            hints.record(name, 1, 1)
        start = time.process_time()
        for i in range(4_000):
            hints.record(names[i % regions] if i % 2 else f"new{i}", 1, 1)
        return time.process_time() - start

    small = min(seconds(16) for _ in range(3))
    large = min(seconds(16_384) for _ in range(3))
    assert large < 6 * small + 0.01


def test_saved_and_loaded(tmp_path) -> None:
    path = tmp_path / "hints.json"
    hints = HotPathHints(capacity=3)
    for name in ("a", "b", "c"):
        hints.record(name, 200_000, 7)
    hints.save(path)
    again = HotPathHints.load(path)
    assert [again.record_for(name) for name in "abc"] == [RegionRecord(1, 200_000, 200_000, 7)] * 3
    assert again.is_hot("b")
    smaller = HotPathHints.load(path, capacity=1)
    assert len(smaller) == 1
    assert smaller.record_for("c") is not None
    assert [p.name for p in tmp_path.iterdir()] == ["hints.json"]


WRONG_ROWS: tuple[Any, ...] = (
    [["a"]],
    [["a", "1", 1, 1, 1, 1.0, 1.0, 1.0]],
    [["a", -1, 1, 1, 1, 1.0, 1.0, 1.0]],
    [["a", 1, 1, 1, 1, 1.0, float("nan"), 1.0]],
    [[None, 1, 1, 1, 1, 1.0, 1.0, 1.0]],
    {"a": 1},
)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("200000", "900000"),
        lambda text: json.dumps([1, 2]),
        lambda text: json.dumps({"format": "other"}),
        lambda text: "[" * 100_000,
        *(lambda _, rows=rows: hint_rows.to_bytes(rows).decode() for rows in WRONG_ROWS),
    ],
)
def test_a_torn_or_foreign_file_is_an_empty_store(tmp_path, damage) -> None:
    path = tmp_path / "hints.json"
    hints = HotPathHints()
    hints.record("a", 200_000, 7)
    hints.save(path)
    path.write_text(damage(path.read_text()))
    assert len(HotPathHints.load(path)) == 0


def test_a_missing_file_is_an_empty_store(tmp_path) -> None:
    assert len(HotPathHints.load(tmp_path / "none.json")) == 0


def test_with_a_half_life_a_region_cools_down() -> None:
    now = [0.0]
    hints = HotPathHints(half_life_s=10.0, clock=lambda: now[0])
    hints.record("a", 300_000, 0)
    assert hints.is_hot("a")
    now[0] = 10.0
    assert hints.is_hot("a")
    now[0] = 20.0
    assert not hints.is_hot("a")
    assert hints.mean_kernel_ns("a") == 300_000


def test_with_a_half_life_new_samples_count_more() -> None:
    now = [0.0]
    hints = HotPathHints(half_life_s=1.0, clock=lambda: now[0])
    for _ in range(10):
        hints.record("a", 1_000_000, 0)
    now[0] = 10.0
    for _ in range(3):
        hints.record("a", 1_000, 0)
    assert not hints.is_hot("a")
    assert hints.record_for("a") == RegionRecord(13, 10_003_000, 1_000_000, 0)


def test_both_keys_of_a_program_work() -> None:
    both = program("first", "second", entry="op")
    assert hint_keys(both) == ("op", "first", "second")
    for key in ("op", "first", "second"):
        hints = HotPathHints()
        hints.record(key, 200_000, 0)
        assert hints.is_hot_program(both)


def test_what_was_measured_of_a_program_is_no_hint_for_another_of_the_same_names() -> None:
    one, two = program("first", "second", entry="op"), program("first", entry="op")
    assert hint_keys(two) == ("op", "first")
    assert set(dispatch_keys(one)).isdisjoint(dispatch_keys(two))
    hints = HotPathHints()
    for key in (*dispatch_keys(one), *region_keys(one)):
        hints.record(key, 200_000, 8)
    assert hints.is_hot_program(one)
    assert not hints.is_hot_program(two)
    assert [record.dispatch_count for record in hints.records_of(one)] == [1, 1, 1]
    assert hints.records_of(two) == []


def test_a_name_stands_for_all_that_was_measured_under_it() -> None:
    one, two = program("first", "second", entry="op"), program("first", entry="op")
    hints = HotPathHints()
    for each, spent in ((one, 300_000), (two, 100_000), (two, 50_000)):
        for key in (*dispatch_keys(each), *region_keys(each)):
            hints.record(key, spent, 8)
    hints.record("op", 150_000, 8)
    assert hints.record_for("op") == RegionRecord(4, 600_000, 300_000, 32)
    assert hints.record_for("second") == RegionRecord(1, 300_000, 300_000, 8)
    assert hints.dispatch_count("first") == 3
    assert hints.mean_kernel_ns("op") == 150_000
    assert hints.is_hot("op")
    assert hints.is_hot("first")
    assert not hints.is_hot("o")
    assert hints.record_for("o") is None


def test_a_program_without_a_name_is_recorded_by_its_digest() -> None:
    plain = program()
    assert dispatch_keys(plain) == (plain.digest(),)
    hints = HotPathHints()
    hints.record(plain.digest(), 200_000, 0)
    assert hints.is_hot_program(plain)


def test_the_root_region_is_nobodys_name() -> None:
    plain = program()
    assert ROOT_GENERATOR not in hint_keys(plain)
    assert hint_keys(plain) == (plain.digest(),)
    hints = HotPathHints()
    hints.record(ROOT_GENERATOR, 200_000, 0)
    assert not hints.is_hot_program(plain)
    hints.record(plain.digest(), 200_000, 0)
    assert hints.is_hot_program(plain)
