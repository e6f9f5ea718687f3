"""Peers in their own processes: started, asked, timed in turns, and reported when they fail."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.interleave import SETTLE, Plan, measure, settle
from benchmarks.kernels import kernel_named
from benchmarks.peers import PeerMissingError, peer_named
from benchmarks.remote import PeerFailedError, Remote
from benchmarks.report import Options
from benchmarks.suites import kernels as suite


@pytest.fixture
def remote() -> Generator[Remote]:
    remote = Remote(peer_named("numpy"))
    yield remote
    remote.stop()


def load(remote: Remote, name: str, folder: Path) -> None:
    kernel = kernel_named(name)
    for key, array in kernel.data(kernel.sizes["tiny"]).items():
        np.save(folder / f"{key}.npy", array)
    remote.load(name, folder)


def test_a_peer_says_its_version_and_gives_its_result(remote: Remote, tmp_path: Path) -> None:
    load(remote, "triad", tmp_path)
    assert remote.version == np.__version__
    out = tmp_path / "out"
    out.mkdir()
    remote.ask("result", folder=str(out))
    kernel = kernel_named("triad")
    expected = kernel.define(kernel.data(kernel.sizes["tiny"]))
    assert kernel.check(expected, {"a": np.load(out / "a.npy")}) is None


def test_every_peer_has_its_turn_in_every_round(remote: Remote, tmp_path: Path) -> None:
    load(remote, "triad", tmp_path)
    times = measure([remote], Plan(rounds=4, budget=60))["numpy"]
    assert isinstance(times, list)
    assert len(times) == 4
    assert all(seconds > 0 for seconds in times)


def test_a_used_up_budget_still_gives_three_rounds(remote: Remote, tmp_path: Path) -> None:
    load(remote, "triad", tmp_path)
    assert len(measure([remote], Plan(rounds=100, budget=0))["numpy"]) == 3


def test_nobody_starts_while_the_threads_of_another_one_spin() -> None:
    class Spinning(Remote):
        looks = 0

        def busy_seconds(self) -> float:
            self.looks += 1
            return SETTLE * min(self.looks, 5)

    spinning = Spinning(peer_named("numpy"))
    settle([spinning])
    assert spinning.looks == 6


def test_a_peer_that_works_has_used_processor_time(remote: Remote, tmp_path: Path) -> None:
    assert remote.busy_seconds() == 0
    load(remote, "triad", tmp_path)
    if Path("/proc/self/schedstat").exists():
        assert remote.busy_seconds() > 0


def test_an_error_in_a_peer_is_passed_on_and_it_lives(remote: Remote, tmp_path: Path) -> None:
    with pytest.raises(PeerFailedError, match="no such kernel"):
        remote.load("no such kernel", tmp_path)
    load(remote, "triad", tmp_path)


def test_a_peer_that_dies_is_started_again(remote: Remote, tmp_path: Path) -> None:
    load(remote, "triad", tmp_path)
    process = remote._process
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises(PeerFailedError, match="status -9"):
        remote.ask("time", warm=False)
    load(remote, "triad", tmp_path)


def test_a_missing_environment_is_a_missing_peer(tmp_path: Path) -> None:
    peer = replace(peer_named("numba"), python=tmp_path / "no" / "bin" / "python")
    with pytest.raises(PeerMissingError, match="make bench-peers"):
        Remote(peer).start()


def test_missing_peers_stay_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(peer_named("numba"), python=tmp_path / "no" / "bin" / "python")
    monkeypatch.setattr(suite, "peer_named", lambda n: absent if n == "numba" else peer_named(n))
    options = Options(scale="tiny", kernels=["triad"], peers=["c", "numba"], rounds=3, budget=1)
    report = suite.run(options)
    table = report.tables[0]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["numba"] == "missing"
    assert any("numba is missing" in note for note in table.notes)
    assert report.failures == []


def test_a_wrong_result_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = kernel_named("triad")
    wrong = replace(right, define=lambda data: {"a": data["b"]})
    monkeypatch.setattr(suite, "kernels_named", lambda _: (wrong,))
    options = Options(scale="tiny", kernels=["triad"], peers=["c", "numpy"], rounds=3, budget=1)
    report = suite.run(options)
    assert all("wrong result" in failure for failure in report.failures)
    assert len(report.failures) == 2
    assert not report.data["kernels"]["triad"]["c"]["seconds"]
