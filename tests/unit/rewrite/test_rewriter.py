"""Rules at work: matching, effects, folding, types, memory."""

from __future__ import annotations

import pytest

from vyre.diagnostics import OptimizerError
from vyre.ir import Binary, BufferDecl, DataType, Expr, Lit
from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES, UNSIGNED_TYPES
from vyre.opt.rules import exact_rules, fast_rules, strength_rules
from vyre.rewrite import Rewriter, Rule, RuleSet, table, x, y
from vyre.rewrite.pattern import TRUE, c, cast, d, p, s, select

U32, I32, F32, BOOL = DataType.U32, DataType.I32, DataType.F32, DataType.BOOL
BUFFERS = {
    "a": BufferDecl.read("a", 0, U32).with_count(8),
    "h": BufferDecl.read_write("h", 1, U32).with_count(8),
}


def rewriter(*rules: Rule) -> Rewriter:
    made = Rewriter(RuleSet(rules) if rules else exact_rules())
    made.begin(BUFFERS)
    for name, dtype in {"i": U32, "j": U32, "k": I32, "f": F32, "b": BOOL}.items():
        made.bind(name, dtype)
    return made


def same(left, right) -> bool:
    return rewriter().rewrite(left) == right


i, j, k, f, b = (Expr.var(name) for name in "ijkfb")
ATOMIC = Expr.atomic_add("h", 0, Expr.u32(1))


def u(value: int) -> Lit:
    return Expr.u32(value)


def test_unchanged_means_the_same_object() -> None:
    expr = i * j + Expr.load("a", i)
    assert rewriter().rewrite(expr) is expr


def test_rules_apply_until_none_fits() -> None:
    assert same(((i + u(1)) + u(2)) - i, u(3))
    assert same((i ^ i) | (j & u(0xFFFFFFFF)), j)


def test_operands_of_commutative_opcodes_are_tried_in_both_orders() -> None:
    assert same((i + j) - j, i)
    assert same((j + i) - j, i)
    assert same(j + (i - j), i)


def test_literals_go_to_the_right() -> None:
    assert same(u(3) + i, i + u(3))
    assert same(u(3) < i, i > u(3))
    assert same(u(3) - i, u(3) - i)


def test_a_rule_is_for_its_types_only() -> None:
    assert same(i - i, u(0))
    assert same(k - k, Expr.i32(0))
    expr = f - f
    assert rewriter().rewrite(expr) is expr


def test_literals_are_folded_with_wrapping() -> None:
    assert same(u(0xFFFFFFFF) + u(2), u(1))
    assert same(Expr.select(Expr.bool_(True), u(1), u(2)), u(1))
    assert same(Expr.cast(Expr.f32(-1.5), U32), u(0))
    assert same(Expr.lane(Expr.vec(U32, i, j), 1), j)


def test_lengths_that_are_declared_are_literals() -> None:
    assert same(Expr.buf_len("a") + u(1), u(9))


@pytest.mark.parametrize(
    "expr",
    [ATOMIC * u(0), ATOMIC - ATOMIC, ATOMIC ^ ATOMIC, u(0) % ATOMIC, ATOMIC & u(0)],
    ids=str,
)
def test_an_effect_is_never_dropped(expr) -> None:
    assert rewriter().rewrite(expr) == expr


def test_an_effect_is_never_moved_past_another_operand() -> None:
    loaded = Expr.load("h", 0)
    expr = -(ATOMIC - loaded)
    assert rewriter().rewrite(expr) == expr
    assert same(-(i - loaded), loaded - i)


def test_an_effect_may_stay_where_it_is() -> None:
    assert same(ATOMIC + u(0), ATOMIC)
    assert same((ATOMIC + u(1)) + u(2), ATOMIC + u(3))


def test_only_cheap_operands_are_written_twice() -> None:
    double = Rule("double", x * 2, x + x, INTEGER_TYPES)
    loaded = Expr.load("a", i)
    assert rewriter(double).rewrite(i * u(2)) == i + i
    assert rewriter(double).rewrite(loaded * u(2)) == loaded * u(2)


def test_a_division_by_zero_gets_its_meaning() -> None:
    assert same(i / (j - j), u(0xFFFFFFFF))
    assert same(i % (j ^ j), u(0))
    assert same(k / (k - k), Expr.i32(-1))


def test_a_division_of_an_effect_by_zero_keeps_its_divisor() -> None:
    expr = ATOMIC / (j - j)
    assert rewriter().rewrite(expr) == expr


def test_accesses_out_of_bounds_get_their_meaning() -> None:
    assert same(Expr.load("a", u(4) + u(4)), u(0))
    assert same(Expr.atomic_add("h", u(4) * u(2), i) + j, j)
    assert same(Expr.load("a", u(4) + u(3)), Expr.load("a", u(7)))


def test_a_name_may_have_another_type_in_a_later_scope() -> None:
    made = rewriter()
    expr = Expr.var("v") - Expr.var("v")
    made.bind("v", U32)
    assert made.rewrite(expr) == u(0)
    made.bind("v", F32)
    assert made.rewrite(expr) is expr
    made.bind("v", I32)
    assert made.rewrite(expr) == Expr.i32(0)


def test_fast_math_rules_are_apart() -> None:
    fast = Rewriter(fast_rules())
    fast.bind("f", F32)
    assert fast.rewrite(f - f) == Expr.f32(0.0)
    assert rewriter().rewrite(f - f) == f - f


def test_what_was_seen_is_remembered() -> None:
    made = rewriter()
    expr = (i + u(0)) * j
    first = made.rewrite(expr)
    total = made.total
    assert made.rewrite(expr) is first
    assert made.total == total
    assert made.applied == {"add_zero": 1}


def test_expressions_as_deep_as_allowed_are_fine() -> None:
    expr = i
    for n in range(150):
        expr = Binary((i * j).op, expr, j) if n % 2 else expr ^ Expr.load("a", j)
    assert rewriter().rewrite(expr) is expr


def test_guards_over_operands_need_a_proof() -> None:
    made = Rewriter(strength_rules())
    made.bind("k", I32)
    expr = k / Expr.i32(4)
    assert made.rewrite(expr) is expr
    proven = Rewriter(strength_rules(), lambda guard, bound: True)
    proven.bind("k", I32)
    assert proven.rewrite(expr) == k >> Expr.i32(2)


def test_conversions_have_types_of_their_own() -> None:
    narrow = Rule(
        "narrow",
        cast(cast(s, "T"), "U"),
        cast(s, "U"),
        [{"S": DataType.U8, "T": U32, "U": DataType.U16}],
    )
    made = Rewriter(RuleSet([narrow]))
    made.bind("v", DataType.U8)
    made.bind("w", DataType.I8)
    v, w = Expr.var("v"), Expr.var("w")
    wide = Expr.cast(Expr.cast(v, U32), DataType.U16)
    assert made.rewrite(wide) == Expr.cast(v, DataType.U16)
    signed = Expr.cast(Expr.cast(w, U32), DataType.U16)
    assert made.rewrite(signed) is signed


def test_a_rule_shows_itself() -> None:
    rule = Rule("both", (x & c) | d, x | d, UNSIGNED_TYPES, when=(c | d).eq(255))
    assert str(rule) == "both: ((x & c) | d) -> (x | d) when ((c | d) == 255)"


@pytest.mark.parametrize(
    ("left", "right", "types", "when"),
    [
        (x, x, INTEGER_TYPES, None),
        (x + 0, y, INTEGER_TYPES, None),
        (x + 0, x, (), None),
        (x << 1, x, ARITHMETIC_FLOATS, None),
        (x.eq(y), x, INTEGER_TYPES, None),
        (x + 0, x, INTEGER_TYPES, c.eq(1)),
        (x + 300, x, (DataType.U8,), None),
        (cast(x, "S"), x, INTEGER_TYPES, None),
        (select(p, TRUE, x), p, INTEGER_TYPES, None),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_before_it_is_used(left, right, types, when) -> None:
    rule = Rule("odd", left, right, types, when)
    with pytest.raises(OptimizerError) as error:
        rule.instances()
    assert error.value.code == "O010"
    with pytest.raises(OptimizerError) as error:
        rule.instances_for(DataType.U32)
    assert error.value.code == "O010"


def test_a_name_is_given_once() -> None:
    rule = Rule("once", x + 0, x, INTEGER_TYPES)
    with pytest.raises(OptimizerError) as error:
        table([rule, rule])
    assert error.value.code == "O010"


def test_what_was_found_holds_for_the_next_program() -> None:
    made = rewriter()
    expr = i * u(1) + j
    first = made.rewrite(expr)
    for buffers in (BUFFERS, {"a": BUFFERS["a"]}):
        made.begin(buffers)
        made.bind("k", U32)  # another variable of that name
        assert made.rewrite(expr) is first
        assert made.generation == 1
    made.begin({"a": BUFFERS["a"].with_count(9)})
    assert made.generation == 2


def test_names_with_several_types_in_one_program_are_told_apart() -> None:
    made = Rewriter(exact_rules())
    chosen = Expr.select(b, Expr.var("n"), Expr.var("n") + Expr.var("n"))
    for _ in range(2):
        made.begin(BUFFERS)
        made.bind("b", BOOL)
        for dtype in (U32, F32):
            made.bind("n", dtype)
            assert made.type_of(made.rewrite(chosen)) is dtype
