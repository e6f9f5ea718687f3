"""Graphs of programs: checked when made, the same in text and bytes, run and fused alike."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ParseError, PlanError, VyreError, WireError
from vyre.ir import DataType, Program
from vyre.plan import Graph, GraphBuffer, GraphNode, Role, fuse_decode_scan

N = 200
GRID = (4, 1, 1)


@vy.kernel(workgroup=64)
def scale(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.kernel(workgroup=64)
def blur(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[max(i, 1) - 1] + x[i]


@vy.kernel(workgroup=64)
def tally(x: vy.In[vy.f32], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        counts.atomic_add(vy.u32(x[i]) % 4, 1)


@vy.kernel(workgroup=64)
def within_groups(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    other = vy.wid() * 64 + (63 - vy.lid())
    if vy.gid() < len(y):
        y[vy.gid()] = x[other]


@vy.kernel(workgroup=64)
def to_own_group(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    at = vy.wid() * 64 + vy.lid()
    y[at] = x[at] + 1.0


def buffer(name: str, role: Role, element: DataType = DataType.F32, count: int = N) -> GraphBuffer:
    data = b"" if role is not Role.CONSTANT else np.full(count, 3.0, "<f4").tobytes()
    return GraphBuffer(name, role, element, count, data)


X, T, Y = buffer("x", Role.INPUT), buffer("t", Role.SCRATCH), buffer("y", Role.OUTPUT)
A = buffer("a", Role.CONSTANT, count=1)


def node(name: str, kernel: Any, grid: tuple[int, int, int] | None = GRID, **to: str) -> GraphNode:
    return GraphNode.of(name, kernel.program(), to, grid)


def scaled_twice() -> Graph:
    nodes = [node("first", scale, y="t"), node("second", scale, x="t")]
    return Graph.of("scaled twice", [A, X, T, Y], nodes)


def blurred() -> Graph:
    counts = buffer("counts", Role.INOUT, DataType.U32, 4)
    u = buffer("u", Role.SCRATCH)
    nodes = [
        node("scale", scale, y="t"),
        node("blur", blur, x="t", y="u"),
        node("blur again", blur, x="u", y="t"),
        node("tally", tally, x="t"),
        node("last", blur, x="t", grid=None),
    ]
    return Graph.of('blurred \u00e9 "quoted"', [A, X, T, u, counts, Y], nodes)


def x() -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).random(N, dtype=np.float32) * np.float32(9)


def blurred_in_numpy(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.concatenate([values[:1], values[:-1]]) + values


GRAPHS = [scaled_twice(), blurred()]
each = pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)


@each
def test_text_and_bytes_give_the_same_graph_back(graph: Graph) -> None:
    assert Graph.parse(str(graph)) == graph
    assert str(Graph.parse(str(graph))) == str(graph)
    assert Graph.from_wire(graph.to_wire()) == graph
    assert str(graph).count("program workgroup") == len({n.program for n in graph.nodes})


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_nodes_run_one_after_another(device: str) -> None:
    given = x()
    found = blurred().run({"x": given, "counts": np.ones(4, np.uint32)}, device=device)
    t = blurred_in_numpy(blurred_in_numpy(given * np.float32(3)))
    np.testing.assert_array_equal(found["y"], blurred_in_numpy(t))
    counts = np.bincount(t.astype(np.uint32) % 4, minlength=4) + 1
    np.testing.assert_array_equal(found["counts"], counts)
    assert set(found) == {"y", "counts"}


def test_one_program_gives_what_the_nodes_give() -> None:
    graph = scaled_twice()
    fused = graph.fuse()
    assert [b.name for b in fused.buffers if b.binding is not None] == ["a", "x", "y"]
    assert not any(b.is_scratch for b in fused.buffers)
    given = x()
    a = np.full(1, 3.0, np.float32)
    made = vy.run(fused, {"a": a, "x": given}, grid=GRID, sizes={"y": N}, device="cpu")
    np.testing.assert_array_equal(made["y"], graph.run({"x": given}, device="cpu")["y"])


def refusal(code: str, buffers: list[GraphBuffer], nodes: list[GraphNode]) -> PlanError:
    with pytest.raises(PlanError) as caught:
        Graph.of("wrong", buffers, nodes)
    assert caught.value.code == code, caught.value
    return caught.value


def test_what_is_no_graph_is_refused() -> None:
    first, second = node("first", blur, y="t"), node("second", blur, x="t")
    u = buffer("u", Role.SCRATCH)
    refusal("P201", [X, T, Y], [])
    refusal("P201", [X, X, T, Y], [first, second])
    refusal("P201", [X, T, Y], [first, first])
    refusal("P201", [buffer("x", Role.INPUT, count=-1), Y], [node("first", blur)])
    refusal("P201", [X, Y], [GraphNode("first", "no program", ())])  # pyright: ignore[reportArgumentType]
    refusal("P201", [X, Y], [node("first", blur, grid=(1, 1, 1 << 32))])
    refusal("P202", [X, Y], [first])
    refusal("P202", [X, Y], [node("first", blur, z="x")])
    refusal("P202", [X, Y], [GraphNode("first", blur.program(), (("x", "x"),))])
    refusal("P203", [X, buffer("y", Role.OUTPUT, DataType.U32)], [node("first", blur)])
    refusal("P204", [X, T], [node("first", blur, y="x", x="t")])
    refusal("P205", [T], [node("first", blur, x="t", y="t")])
    refusal("P206", [T, Y], [second])
    refusal("P206", [X, T, Y], [first])
    refusal("P207", [X, T, Y], [second, first])
    cycle = [node("one", blur, x="t", y="u"), node("two", blur, x="u", y="t")]
    refusal("P208", [T, u, Y], [*cycle, second])


def test_a_graph_that_cannot_be_one_program_names_the_condition() -> None:
    for nodes, condition in (
        ([node("first", scale, y="t"), node("second", blur, x="t")], "L7"),
        ([node("first", scale, y="t"), node("second", scale, (2, 1, 1), x="t")], "L2"),
    ):
        graph = Graph.of("apart", [A, X, T, Y], nodes)
        with pytest.raises(PlanError) as caught:
            graph.fuse()
        assert caught.value.code == "P209"
        assert condition in str(caught.value)


def test_a_run_without_an_array_or_a_size_is_refused() -> None:
    graph = scaled_twice()
    open_output = Graph.of(
        "open", [X, buffer("y", Role.OUTPUT, count=0)], [node("first", blur, grid=None)]
    )
    for call in (
        lambda: graph.run({}),
        lambda: graph.run({"x": x(), "z": x()}),
        lambda: graph.run({"x": x()[:5]}),
        lambda: graph.run({"x": x().astype(np.float64)}),
        lambda: open_output.run({"x": x()}),
    ):
        with pytest.raises(PlanError) as caught:
            call()
        assert caught.value.code == "P211"
    found = open_output.run({"x": x()}, sizes={"y": 7}, device="cpu")["y"]
    np.testing.assert_array_equal(found, blurred_in_numpy(x())[:7])


def test_text_that_is_no_graph_is_refused_with_its_line() -> None:
    written = str(scaled_twice())
    for old, new in (
        ("graph", "grahp"),
        ("input", "somewhere"),
        ("program 0", "program 9"),
        ("grid(4, 1, 1)", "grid(4, 1)"),
        ("f32[200]", "f33[200]"),
        ("program workgroup(64, 1, 1)", "program workgroup(64, 1, 1) nonsense"),
    ):
        with pytest.raises(ParseError) as caught:
            Graph.parse(written.replace(old, new, 1), "file.vyg")
        assert "file.vyg" in str(caught.value), old


def test_hostile_bytes_are_refused() -> None:
    data = blurred().to_wire()
    dice = random.Random(3)
    from vyre.plan.graph_wire import MAGIC
    from vyre.wire.envelope import HEAD_SIZE, seal

    payload = data[HEAD_SIZE:]
    refused = 0
    for _ in range(400):
        changed = bytearray(payload)
        for _ in range(dice.randrange(1, 4)):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        cut = (
            bytes(changed[: dice.randrange(1, len(changed) + 1)])
            if dice.random() < 0.3
            else bytes(changed)
        )
        for hostile in (seal(cut, MAGIC), MAGIC + cut):
            try:
                found = Graph.from_wire(hostile)
            except WireError:
                refused += 1
            else:
                assert found.to_wire() == hostile  # another graph, whole and canonical
    assert refused > 700
    for wrong in (b"", data[:-1], data + b"\0", b"\x89VYB" + data[4:], scale.program().to_wire()):
        with pytest.raises(WireError):
            Graph.from_wire(wrong)
    with pytest.raises(VyreError):
        Program.from_wire(data)


def handed_on(kernel: Any, name: str, count: int = N) -> Program:
    program = kernel.program()
    return program.with_rewritten_buffers(
        d.with_name(name).with_count(count) if d.name == "y" else d for d in program.buffers
    )


def renamed(kernel: Any, old: str, new: str) -> Program:
    from vyre.plan.arms import with_buffer_names

    return with_buffer_names(kernel.program(), {old: new})


def decoder(kernel: Any) -> Program:
    program = renamed(kernel, "y", "plain")
    return program.with_rewritten_buffers(
        d.with_count(256) if d.name == "plain" else d for d in program.buffers
    )


@pytest.mark.parametrize(("first", "second"), [(blur, scale), (to_own_group, within_groups)])
def test_a_decoder_and_a_scanner_become_one_program(first: Any, second: Any) -> None:
    fused = fuse_decode_scan(decoder(first), renamed(second, "x", "plain"), "plain")
    plain = fused.buffer("plain")
    assert plain is None or plain.is_on_chip
    given = {"x": np.resize(x(), 256)}
    if second is scale:
        given["a"] = np.full(1, 3.0, np.float32)
    made = vy.run(fused, given, grid=GRID, sizes={"y": 256}, device="cpu")["y"]
    between, apart = np.zeros(256, np.float32), np.zeros(256, np.float32)
    first(given["x"], between)
    second(*((3.0,) if second is scale else ()), between, apart)
    np.testing.assert_array_equal(made, apart)


def test_a_handoff_that_is_none_or_not_legal_is_refused() -> None:
    one, two = decoder(blur), renamed(blur, "x", "plain")
    for wrong in ((one, two, "z"), (two, one, "plain"), (one, decoder(blur), "plain")):
        with pytest.raises(PlanError) as caught:
            fuse_decode_scan(*wrong)
        assert caught.value.code == "P210"
    with pytest.raises(PlanError) as caught:
        fuse_decode_scan(one, two, "plain")
    assert caught.value.code == "P209"
    assert "L7: read after write of plain" in str(caught.value)
