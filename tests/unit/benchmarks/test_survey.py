"""The survey: vyre gives what C gives at a small odd size, and both what others' code gives."""

import base64
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.peers.c import Compiler
from benchmarks.report import Options
from benchmarks.suites import survey
from benchmarks.suites.survey import Outcomes
from benchmarks.survey import CASES
from benchmarks.survey.case import (
    SOURCES,
    Arguments,
    Case,
    difference,
    private_copy,
    survey_compiler,
)
from benchmarks.survey.foreign_load import ForeignLoad
from benchmarks.survey.measure import Found, Request, found_of


@pytest.fixture(scope="module")
def gcc() -> Compiler:
    assert shutil.which("gcc"), "the survey needs gcc: apt-get install gcc"
    return survey_compiler()


def by_c(case: Case, arguments: Arguments, gcc: Compiler) -> Arguments:
    given = private_copy(arguments)
    case.bind_c(gcc, given)()
    return given


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.name}")
def test_vyre_gives_what_c_gives(
    case: Case, gcc: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VYRE_DEVICE", "cpu")
    arguments = case.data(case.tiny)
    want, got = by_c(case, arguments, gcc), private_copy(arguments)
    case.run_vyre(got)
    assert case.complaint(want, got) is None
    for name in case.outputs:
        assert not np.array_equal(want[name], arguments[name]), f"{name} is as it was"
    for name in arguments.keys() - set(case.outputs):
        assert np.array_equal(want[name], got[name]), f"{name} is written by one of the two"


def rows_of_text(arguments: Arguments) -> list[bytes]:
    start, text = arguments["start"], arguments["text"].tobytes()
    return [text[a:b] for a, b in pairwise(start)]


DEFINITIONS: Mapping[str, Callable[[Arguments], object]] = {
    "hex_encode": lambda a: list(a["data"].tobytes().hex().encode()),
    "base64_encode": lambda a: list(base64.b64encode(a["data"].tobytes())),
    "swap_case": lambda a: list(a["data"].tobytes().swapcase()),
    "signed_integers": lambda a: [int(row[:-1]) for row in rows_of_text(a)],
    "iso_dates": lambda a: [
        int(np.datetime64(bytes(row).decode()).astype(int)) for row in a["text"]
    ],
    "crc32": lambda a: [zlib.crc32(row) for row in rows_of_text(a)],
    "adler32": lambda a: [zlib.adler32(row.tobytes()) for row in a["text"]],
    "bitonic_sort": lambda a: sorted(a["x"].tolist()),
    "insertion_rows": lambda a: np.sort(a["x"], axis=1).tolist(),
    "rank_sort": lambda a: sorted(a["x"].tolist()),
    "merge_sorted": lambda a: sorted([*a["a"].tolist(), *a["b"].tolist()]),
    "median_rows": lambda a: np.sort(a["x"], axis=1)[:, a["x"].shape[1] // 2].tolist(),
    "lower_bound": lambda a: np.searchsorted(a["table"], a["wanted"]).tolist(),
    "integral_image": lambda a: a["image"].astype(np.uint32).cumsum(0).cumsum(1).tolist(),
    "btree_lookup": lambda a: (a["wanted"] // 16).tolist(),
}
"""What the standard library and numpy say: two programs by one hand may make the same mistake."""


@pytest.mark.parametrize("name", DEFINITIONS)
def test_c_gives_what_others_give(name: str, gcc: Compiler) -> None:
    case = next(case for case in CASES if case.name == name)
    arguments = case.data(case.tiny)
    found = by_c(case, arguments, gcc)[case.outputs[-1]]
    assert found.tolist() == DEFINITIONS[name](arguments)


def test_there_are_enough_of_each_kind() -> None:
    kinds = Counter(case.kind for case in CASES)
    assert len(CASES) >= 60
    assert min(kinds.values()) >= 5
    assert set(kinds) == {path.stem for path in SOURCES.glob("*.c")}


def test_names_are_unique_and_no_kinds() -> None:
    names = Counter(case.name for case in CASES)
    assert max(names.values()) == 1
    assert not names.keys() & {case.kind for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tolerances_are_for_floats_and_data_is_seeded(case: Case) -> None:
    first, second = case.data(case.tiny), case.data(case.tiny)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    if case.tolerance:
        assert all(first[name].dtype.kind == "f" for name in case.outputs)
    assert case.tolerance or not case.libm


def test_zeros_of_both_signs_differ_bit_for_bit() -> None:
    plus, minus = np.zeros(3, np.float32), np.array([0, -0.0, 0], np.float32)
    assert difference(plus, minus, 0.0) == "1 of 3 elements differ"
    assert difference(plus, plus.copy(), 0.0) is None
    assert difference(minus + 1, plus + np.float32(1.001), 1e-5) is not None
    assert difference(plus, np.full(3, np.nan, np.float32), 1e-5) == "not all elements are finite"


def test_foreign_load_is_a_share() -> None:
    assert 0.0 <= ForeignLoad().share() <= 1.0


def test_a_tiny_run_measures_both_ways() -> None:
    names = ("adler32", "gelu")
    report = survey.run(Options(scale="tiny", kernels=names, rounds=1))
    assert report.failures == []
    assert {table.title for table in report.tables[1:]} == {
        "Every kernel",
        "Kernels whose C is mostly libm",
    }
    assert all(report.data[way][name]["ratio"] > 0 for way in survey.WAYS for name in names)


def test_a_refused_or_wrong_case_is_a_problem_of_its_own(gcc: Compiler) -> None:
    case = next(case for case in CASES if case.name == "swap_case")
    request = Request([case.name], tiny=True, pairs=1, budget=0.0)
    refused = replace(case, launch=lambda data, out: case.kernels[0](data, out.astype(np.int16)))
    assert found_of(refused, gcc, "all", request).problem.startswith("error[")
    idle = replace(case, launch=lambda data, out: None)
    assert found_of(idle, gcc, "all", request).problem.startswith("wrong result: out: ")


def test_means_are_geometric_and_libm_is_apart() -> None:
    cases = [case for case in CASES if case.kind == "ml"]
    found = {case.name: Found(case.name, 1e-3, 1e-3, 1.0) for case in cases}
    ordinary = sum(not case.libm for case in cases)
    found["conv2d"] = Found("conv2d", 1e-3, 8e-3, 2.0**ordinary)
    found["gelu"] = Found("gelu", 1e-3, 1e-6, 0.001)
    outcomes: Outcomes = {"one": found, "all": found}
    means, each, apart = survey.tables(cases, outcomes)
    assert means.rows == [
        [kind, str(ordinary), *["2.00", f"conv2d {2.0**ordinary:.2f}"] * 2]
        for kind in ("ml", "all")
    ]
    assert ["ml: gelu", "1 ms", "0.00", "1 ms", "0.00"] in apart.rows
    assert len(each.rows) == ordinary


def test_what_was_disturbed_is_a_failure_and_in_no_mean() -> None:
    cases = [case for case in CASES if case.name in ("sobel", "dilate")]
    whole = Found("dilate", 1e-3, 1e-3, 1.5)
    broken = Found("sobel", problem="foreign load of 30% in every run")
    outcomes: Outcomes = {way: {"dilate": whole, "sobel": broken} for way in survey.WAYS}
    means, each = survey.tables(cases, outcomes)
    assert means.rows[0][2] == "1.50"
    assert len(survey.failures(cases, outcomes)) == len(each.notes) == 2


def test_only_takes_kinds_and_kernels_of_the_survey(capsys: pytest.CaptureFixture[str]) -> None:
    assert [case.name for case in survey.cases_named(["sobel", "dilate"])] == ["sobel", "dilate"]
    assert {case.kind for case in survey.cases_named(["graph"])} == {"graph"}
    with pytest.raises(SystemExit):
        main(["--suite", "survey", "--only", "triad"])
    assert "no kernel 'triad'" in capsys.readouterr().err
