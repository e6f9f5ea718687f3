"""Reports on disk, on the page, and on the command line."""

import json
from pathlib import Path

import pytest

from benchmarks import document, report
from benchmarks.__main__ import main
from benchmarks.plot import ratios
from benchmarks.report import Options, Report, Suite, Table, duration, verdict
from benchmarks.synthetic import program_of_size

TABLE = Table("Times", ["what", "time"], [["a", "1 ms"], ["b", "2 ms"]], ["b is slower."])
REPORT = Report("demo", "A demonstration", "It says nothing.", [TABLE], {"a": 1}, {"vyre": "1"})


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(document, "RESULTS", tmp_path)
    monkeypatch.setattr(document, "PLOT", tmp_path / "kernels.png")
    monkeypatch.setattr(document, "PAGE", tmp_path / "docs" / "benchmarks.md")
    return tmp_path


def test_a_report_survives_the_disk() -> None:
    assert report.load(report.save(REPORT)) == REPORT


def test_a_partial_run_does_not_replace_a_complete_one(results: Path) -> None:
    report.save(REPORT)
    partial = Report("demo", "t", "i", [], {}, {}, complete=False)
    assert report.save(partial) == results / "demo-partial.json"
    assert report.load(results / "demo.json") == REPORT


def suite_of(name: str, title: str) -> Suite:
    return Suite(name, title, lambda options: REPORT)


def test_a_suite_that_was_not_run_here_keeps_its_section(results: Path) -> None:
    report.save(REPORT)
    demo, other = suite_of("demo", REPORT.title), suite_of("other", "Another")
    first = document.write_page([demo, other]).read_text()
    (results / "demo.json").unlink()
    assert document.write_page([demo, other]).read_text() == first


def test_the_page_says_where_figures_come_from_and_what_is_missing() -> None:
    report.save(REPORT)
    demo, other = suite_of("demo", REPORT.title), suite_of("other", "other")
    page = document.write_page([demo, other]).read_text()
    assert "| a | 1 ms |\n| b | 2 ms |\n\n- b is slower." in page
    assert REPORT.date in page
    assert REPORT.machine.sentence in page
    assert "## other\n\nNot measured yet." in page


def test_bounds_are_judged_at_full_size_only() -> None:
    assert verdict(True, Options()) == "held"
    assert verdict(False, Options()) == "broken"
    assert verdict(False, Options(scale="quick")) == "not judged at this size"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3e-7, "0.3 µs"), (9.994e-4, "999 µs"), (9.996e-4, "1 ms"), (0.0123, "12.3 ms"), (15, "15 s")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_only_a_full_run_is_complete() -> None:
    assert Options().complete
    assert not Options(scale="quick").complete
    assert not Options(kernels=["triad"]).complete
    assert not Options(peers=["c"]).complete
    assert not Options(statistic="best").complete


@pytest.mark.parametrize("option", ["--suite", "--only", "--peers"])
def test_unknown_names_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([option, "nonsense"])
    assert "'nonsense'; there are" in capsys.readouterr().err


def test_the_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "compiler" in (listed := capsys.readouterr().out)
    assert "triad" in listed
    assert "taichi" in listed


@pytest.mark.parametrize("size", [2, 11, 12, 100, 1_234])
def test_synthetic_programs_have_the_size_asked_for(size: int) -> None:
    program = program_of_size(size)
    assert program.stats().node_count == size
    assert program.check() == []


def test_a_quick_run_leaves_json(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.__main__.ROOT", results)
    monkeypatch.setattr("benchmarks.__main__.plot", lambda *_: "no plot in this test")
    assert main(["--only", "triad", "--peers", "c,numpy", "--quick", "--rounds", "3"]) == 0
    data = json.loads((results / "kernels-partial.json").read_text())["data"]
    assert len(data["kernels"]["triad"]["numpy"]["seconds"]) == 3
    assert ratios(data)["triad"].keys() == {"numpy"}
    assert "stream triad" in capsys.readouterr().out
