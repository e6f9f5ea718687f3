"""Values used again, names kept apart, changes remembered, trees taken apart fast."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vyre.analysis import ProgramFacts
from vyre.conform.generate import generate
from vyre.ir import Block, Let, Load, Loop, Program, walk
from vyre.ir.walk import map_exprs, walk_all_exprs, walk_stmts
from vyre.rewrite.bodies import edited, jumps, size_of
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.names import Names, flattened
from vyre.rewrite.numbering import Numbering, Reuse


def parse(body: str) -> Program:
    return Program.parse(
        "program workgroup(8, 1, 1)\n\nbuffer a: read_only u32[] @0\n"
        "buffer h: read_write u32[64] @1\nbuffer own: local u32[8]\n\n" + body
    )


def reused(body: str) -> int:
    """How many loads are found to be superfluous."""
    program = parse(body)
    assigned = frozenset(row.name for row in ProgramFacts.of(program).assigns)
    found = Numbering(program, lambda e: type(e) is Load, Changing(), assigned)
    after = Reuse(program, found, "v").run(program)
    after.validate()
    return len(found.hits)


def test_a_value_survives_what_does_not_change_it() -> None:
    assert reused("let x = a[1]\nh[0] = x\nh[1] = a[1]\n") == 1
    assert reused("let x = own[1]\nh[0] = x\nbarrier seq_cst\nh[1] = own[1]\n") == 1
    assert reused("let x = h[1]\nif gid.x < 4u32 {\n    own[0] = h[1] + x\n}\n") == 1


def test_a_value_dies_with_what_changes_it() -> None:
    assert reused("let x = h[1]\nh[2] = x\nh[3] = h[1]\n") == 0
    assert reused("let x = h[1]\nbarrier seq_cst\nown[0] = h[1] + x\n") == 0
    assert reused("let x = h[1]\neval atomic_add(h[1], 1u32)\nown[0] = h[1] + x\n") == 0


def test_an_ordered_atomic_makes_other_memory_new() -> None:
    text = "let x = h[1]\neval atomic_add(g[0], 1u32{})\nown[0] = h[1] + x\n"

    def count(ordering: str) -> int:
        program = Program.parse(
            "program workgroup(8, 1, 1)\n\nbuffer h: read_write u32[64] @0\n"
            "buffer g: read_write u32[64] @1\nbuffer own: local u32[8]\n\n" + text.format(ordering)
        )
        found = Numbering(program, lambda e: type(e) is Load, Changing(), frozenset())
        return len(found.hits)

    assert count("") == 1
    assert count(", acquire") == 0


def test_one_arm_does_not_spoil_the_other() -> None:
    assert (
        reused(
            "let x = h[1]\nif gid.x < 4u32 {\n    h[2] = x\n} else {\n    own[0] = h[1]\n}\n"
            "own[1] = h[1]\n"
        )
        == 1
    )


def test_what_a_loop_changes_is_new_in_every_round() -> None:
    assert reused("let x = h[1]\nfor i in 0u32..4u32 {\n    own[i] = h[1]\n    h[i] = x\n}\n") == 0
    assert reused("let x = h[1]\nfor i in 0u32..4u32 {\n    own[i] = h[1] + x\n}\n") == 1


def test_the_condition_of_a_while_is_computed_again() -> None:
    program = parse("let n = a[0]\nwhile h[n] > 0u32 {\n    own[0] = h[n]\n    n = n + 1u32\n}\n")
    found = Numbering(program, lambda e: type(e) is Load, Changing(), frozenset({"n"}))
    assert found.hits == {}


def test_names_that_are_bound_elsewhere_are_renamed() -> None:
    program = parse("{\n    let x = a[0]\n    h[x] = x\n}\n{\n    let x = a[1]\n    h[x] = x\n}\n")
    names = Names(program)
    first, second = (flattened(b.body, names) for b in program.entry if isinstance(b, Block))
    assert [s.name for s in (first[0], second[0]) if isinstance(s, Let)] == ["x_1", "x"]
    assert names.fresh("x") == "x_2"
    assert names.fresh("x_1") == "x_3"
    assert names.fresh("h") == "h_1"


def test_jumps_belong_to_the_innermost_loop() -> None:
    program = parse(
        "for i in 0u32..4u32 {\n    while a[i] > 0u32 {\n        break\n    }\n}\n"
        "for i in 0u32..4u32 {\n    if a[i] > 0u32 {\n        continue\n    }\n}\n"
    )
    first, second = (s for s in program.entry if isinstance(s, Loop))
    assert not jumps(first.body)
    assert jumps(second.body)
    assert size_of(program.entry) == 6


def test_edited_gives_the_same_object_back() -> None:
    body = parse("h[0] = 1u32\nh[1] = 2u32\n").entry
    assert edited(body, lambda s: s) is body
    assert edited(body, lambda s: None) == ()
    assert len(edited(body, lambda s: [s, s])) == 4


@given(st.integers(0, 10_000))
def test_fast_trees_answer_like_slow_ones(seed: int) -> None:
    program = generate(seed, "tiny").program
    for tree in (*walk_stmts(program.entry), *walk_all_exprs(program.entry)):
        assert map_exprs(tree, lambda e: e) is tree
        swapped = map_exprs(tree, lambda e: Load("other", e))
        assert swapped == walk._map_any(tree, lambda e: Load("other", e))
