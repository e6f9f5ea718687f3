"""What calls of pipelines take: problems are named as the caller wrote them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import blur, clip, increase, scale
from vyre.diagnostics import PlanError, VyreError


@vy.pipeline
def scaled(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(a, x, t)
    clip(t, y)


def refused(run: Any, code: str) -> str:
    with pytest.raises(VyreError) as caught:
        run()
    assert caught.value.code == code
    return str(caught.value)


@pytest.mark.parametrize("deadline", [0, -1, "soon", float("nan"), float("inf")])
def test_seconds_that_nothing_can_end_within_are_refused(deadline: Any) -> None:
    x, y = suite.floats(10), np.zeros(10, np.float32)
    bound = scaled.bind(2.0, x, y)
    for run in (scaled, scaled.apart, scaled.reference, scaled.submit):
        refused(lambda run=run: run(2.0, x, y, deadline=deadline), "D013")
    for _ in range(3):
        scaled(2.0, x, y)
        bound()
        refused(lambda: scaled(2.0, x, y, deadline=deadline), "D013")  # replayed
        refused(lambda: bound(deadline=deadline), "D013")


def test_a_deadline_of_ages_is_legal() -> None:
    x, y = suite.floats(10), np.zeros(10, np.float32)
    for _ in range(4):
        scaled(2.0, x, y, deadline=1e300)
    scale(2.0, x, y, deadline=1e300)


def test_an_array_of_another_device_is_named_as_the_parameter() -> None:
    x = vy.array(suite.floats(10), "cpu")
    y = vy.array(suite.floats(10), "reference")
    z = vy.array(suite.floats(10), "cpu")
    for run in (scaled, scaled.apart, scaled.plan, scaled.submit, scaled.graph):
        assert "'x' lives on cpu" in refused(lambda run=run: run(2.0, x, y), "D015")
        found = refused(lambda run=run: run(2.0, x, z, device="reference"), "D015")
        assert "'x' lives on cpu" in found


def test_a_grid_for_a_pipeline_is_refused() -> None:
    with pytest.raises(PlanError) as caught:

        @vy.pipeline
        def outer(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
            scaled(2.0, x, y, elements=3)  # pyright: ignore[reportCallIssue]

    assert caught.value.code == "P105"
    assert "elements=" in str(caught.value)


@pytest.mark.parametrize("wanted", [["launches"], 3, {"launches": "1"}, {"x": 1}, {1: 1}])
def test_what_is_no_contract_is_refused(wanted: Any) -> None:
    def decorate() -> None:
        vy.pipeline(require=wanted)(scaled.__wrapped__)

    refused(decorate, "P114")


@vy.pipeline
def enormous(x: vy.InOut[vy.f32], n: vy.u64) -> vy.Array[vy.f32]:
    t = vy.scratch(vy.f32, (n, n))
    increase(x)
    return t


def test_scratch_that_no_memory_holds_is_named() -> None:
    for run in (enormous, enormous.apart):
        found = refused(lambda run=run: run(suite.floats(3), 2**31), "P108")
        assert "'t' would have 4611686018427387904 elements in all" in found
        found = refused(lambda run=run: run(suite.floats(3), 2**24, device="cpu"), "B005")
        assert "for the scratch 't'" in found


@vy.kernel
def with_factor(x: vy.In[vy.f32], y: vy.Out[vy.f32], *, by: vy.f32 = 2.0):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] * by


@vy.pipeline
def twice_by(x: vy.In[vy.f32], y: vy.Out[vy.f32], *, by: vy.f32):
    t = vy.scratch_like(x)
    with_factor(x, t, by=by)
    with_factor(t, y)


def test_parameters_by_name_only_are_given_by_name() -> None:
    x, y = suite.floats(10), np.zeros(10, np.float32)
    for run in (twice_by, twice_by.apart, twice_by):
        run(x, y, by=3.0)
        np.testing.assert_array_equal(y, x * np.float32(3) * np.float32(2))
    found = refused(lambda: twice_by(x, y, 3.0), "F052")  # pyright: ignore[reportCallIssue]
    assert "twice_by(x, y, by=by)" in found
    with pytest.raises(PlanError) as caught:

        @vy.pipeline
        def by_place(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
            with_factor(x, y, 3.0)  # pyright: ignore[reportCallIssue]

    assert caught.value.code == "P105"
    assert "with_factor(x, y, by=by)" in str(caught.value)


def test_results_of_several_axes_say_so() -> None:
    assert vy.Array[vy.f32, 2]


REFUSED = {
    "vy.keep(x[2:])": "name the arrays",
    "blur(x[1:], y)": "pass the whole array",
    "blur(x.reshape(-1), y)": "compute the index there",
    "blur(x if len(x) > 1 else y, y)": "write an if statement on len(x) > 1",
    "blur.reference(x, y)": "call it as blur(x, y)",
    "vy.barrier()": "use it in a kernel",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_to_write_instead_is_said(statement: str, tmp_path: Any) -> None:
    source = f"def refused(x: vy.In[vy.f32], y: vy.Out[vy.f32]):\n    {statement}\n"
    path = tmp_path / "page.py"
    path.write_text(source)
    names: dict[str, Any] = {"vy": vy, "blur": blur}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(PlanError) as caught:
        vy.pipeline(names["refused"])
    assert REFUSED[statement] in str(caught.value).split("fix:")[1]
