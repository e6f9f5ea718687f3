"""Columnar facts: order, nesting, names, buffers, regions and escapes."""

from __future__ import annotations

from vyre.analysis import TOP, BufferUse, Escape, ProgramFacts
from vyre.ir import (
    Assign,
    BufferDecl,
    DataType,
    Expr,
    If,
    Let,
    Loop,
    Node,
    Program,
    Region,
    Store,
)
from vyre.text import parse

SOURCE = """program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer tile: workgroup u32[64]

region "first" from "other" {
    let i = gid.x
    if i < len(a) {
        let x = a[i]
        i = x + x
    } else {
        let x = 2u32
        out[i] = x
    }
}
region "second" {
    for k in 0u32..4u32 {
        eval atomic_add(out[k], 1u32)
        async_load "t" tile[0] <- a[k], 4
    }
}
"""


def facts() -> ProgramFacts:
    return ProgramFacts.of(parse(SOURCE))


def test_statements_in_the_order_of_the_text() -> None:
    found = facts()
    kinds = [Region, Let, If, Let, Assign, Let, Store, Region, Loop]
    assert found.kinds[: len(kinds)] == kinds
    assert found.parents[:9] == [TOP, 0, 0, 2, 2, 2, 2, TOP, 7]
    assert found.ends[:9] == [7, 2, 7, 4, 5, 6, 7, 11, 11]
    assert found.fields[3:7] == ["then", "then", "otherwise", "otherwise"]
    assert found.path(6) == "entry[0].body[1].otherwise[1]"
    assert all(type(s) is kind for s, kind in zip(found.statements, found.kinds, strict=True))


def test_descendants_in_constant_time() -> None:
    found = facts()
    for position in range(len(found)):
        ancestors: set[int] = set()
        above = found.parents[position]
        while above != TOP:
            ancestors.add(above)
            above = found.parents[above]
        for other in range(len(found)):
            assert found.is_descendant_of(position, other) == (other in ancestors)
        assert found.is_descendant_of(position, TOP)


def test_children_by_body() -> None:
    found = facts()
    assert found.children(TOP) == [0, 7]
    assert found.children(2) == [3, 4, 5, 6]
    assert found.children(2, "then") == [3, 4]
    assert found.children(2, "otherwise") == [5, 6]


def test_names() -> None:
    found = facts()
    assert found.lets == [(1, "i"), (3, "x"), (5, "x")]
    assert found.assigns == [(4, "i")]
    assert found.loop_variables == [(8, "k")]
    assert found.variable_reads == [
        *((2, "i"), (3, "i"), (4, "x"), (4, "x"), (6, "i"), (6, "x"), (9, "k"), (10, "k"))
    ]
    assert found.reads_by_name["x"] == [4, 4, 6]
    assert found.assigns_by_name == {"i": [4]}
    assert [row.position for row in found.assigns_within(0)] == [4]


def test_names_mean_their_binding() -> None:
    found = facts()
    assert found.binding("x", 4) == 3
    assert found.binding("x", 6) == 5
    assert found.binding("i", 6) == 1
    assert found.binding("i", 1) is None
    assert found.binding("x", 2) is None
    assert found.binding("i", 8) is None
    assert found.binding("k", 9) == 8
    assert found.binding("k", 8) is None


def test_buffer_references_with_their_kind() -> None:
    found = facts()
    assert [(ref.position, ref.name, ref.use) for ref in found.buffer_refs] == [
        (2, "a", BufferUse.LENGTH),
        (3, "a", BufferUse.READ),
        (6, "out", BufferUse.WRITE),
        (9, "out", BufferUse.ATOMIC),
        (10, "a", BufferUse.ASYNC_READ),
        (10, "tile", BufferUse.ASYNC_WRITE),
    ]
    assert found.written_buffers == {"out", "tile"}
    assert found.read_buffers == {"a", "out"}
    assert [ref.position for ref in found.refs_by_buffer["a"]] == [2, 3, 10]


def test_regions() -> None:
    assert facts().regions == [(0, "first", "other"), (7, "second", None)]


def test_built_once_per_program_object_and_never_by_equality() -> None:
    first, second = parse(SOURCE), parse(SOURCE)
    assert first == second
    assert ProgramFacts.of(first) is ProgramFacts.of(first)
    assert ProgramFacts.of(first) is not ProgramFacts.of(second)


def of_buffer(decl: BufferDecl, *body: Node) -> dict[str, Escape]:
    return ProgramFacts.of(Program.wrapped([decl], (1, 1, 1), body)).escaping_buffers()


ZERO = Expr.u32(0)
SCRATCH = BufferDecl.scratch("x", 4, DataType.U32)


def test_what_escapes() -> None:
    read_only = BufferDecl.read("x", 0, DataType.U32)
    assert of_buffer(read_only, Node.let("v", Expr.load("x", 0))) == {}
    stored = of_buffer(BufferDecl.read_write("x", 0, DataType.U32), Node.store("x", 0, ZERO))
    assert stored == {"x": Escape.HOST_OUTPUT}
    assert of_buffer(BufferDecl.output("x", 0, DataType.U32)) == {"x": Escape.HOST_OUTPUT}
    assert of_buffer(read_only, Node.indirect_dispatch("x")) == {"x": Escape.INDIRECT}
    assert of_buffer(read_only, Node.opaque("k")) == {"x": Escape.OPAQUE}


def test_memory_without_a_host_slot_does_not_escape_by_being_written() -> None:
    assert of_buffer(SCRATCH, Node.store("x", 0, ZERO), Node.let("v", Expr.load("x", 0))) == {}
    tile = BufferDecl.workgroup("x", 4, DataType.U32)
    assert of_buffer(tile, Node.store("x", 0, ZERO)) == {}


def test_atomics_and_opaque_statements_make_scratch_escape() -> None:
    atomic = Node.eval(Expr.atomic_add("x", 0, Expr.u32(1)))
    assert of_buffer(SCRATCH, atomic) == {"x": Escape.ATOMIC}
    assert of_buffer(SCRATCH, Node.opaque("k")) == {"x": Escape.OPAQUE}
    program = Program.wrapped([SCRATCH], (1, 1, 1), [atomic])
    assert ProgramFacts.of(program).buffer_escapes("x")
