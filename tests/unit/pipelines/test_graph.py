"""A call of a pipeline as a graph: run, stored and read, it gives what the call gives."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.pipelines.case import copies, disagreement, outcome
from tests.unit.pipelines.fifteen import CASES
from vyre.diagnostics import PlanError
from vyre.plan import Graph

DECIDES = {"breadth-first search", "Jacobi to a tolerance", "dataflow of bit sets"}


def run(graph: Graph, given: dict[str, Any], device: str) -> dict[str, Any]:
    wanted = {each.name for each in graph.buffers if each.role.value in ("input", "inout")}
    return graph.run({name: given[name] for name in wanted}, device=device)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_graph_gives_what_the_call_gives(case: Any) -> None:
    given = case.make(200)
    if case.name in DECIDES:
        with pytest.raises(PlanError) as caught:
            case.pipeline.graph(*given, device="cpu")
        assert caught.value.code == "P212"
        return
    graph = case.pipeline.graph(*given, device="cpu")
    read = Graph.parse(str(graph))
    assert read == graph
    assert Graph.from_wire(graph.to_wire()) == graph
    named = dict(zip(case.pipeline.written.parameters, given, strict=True))
    mine = copies(given)
    expected = outcome(case, mine, case.pipeline(*mine, device="cpu"))
    found = list(run(read, named, "cpu").values())
    for each in expected:
        flat = each.reshape(-1)
        assert any(not disagreement([flat], [one]) for one in found), case.name
    assert len(found) == len(expected)


def test_arrays_without_elements_are_refused() -> None:
    case = next(case for case in CASES if case.number == 1)
    with pytest.raises(PlanError) as caught:
        case.pipeline.graph(*case.make(0), device="cpu")
    assert caught.value.code == "P212"
