"""Order, fixpoint, errors and rows of the scheduler."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from benchmarks.programs import plain_programs
from vyre.conform.fuzz.passes import FEATURES, WIDTH
from vyre.diagnostics import OptimizerError
from vyre.ir import BufferDecl, DataType, Expr, Node, Program, Region, Store
from vyre.opt import (
    MAX_ITERATIONS,
    Pass,
    PassAnalysis,
    PassContext,
    PassPhase,
    PassRefusalKind,
    PassResult,
    PassRunDecision,
    PassScheduler,
    explain,
    optimize,
    pass_by_name,
    registered_passes,
    vyre_pass,
)
from vyre.target import Feature, Target

OUT = BufferDecl.output("out", 0, DataType.U32).with_count(8)


def program(*values: int) -> Program:
    stores = [Node.store("out", 0, Expr.u32(value)) for value in values]
    return Program.wrapped([OUT], (1, 1, 1), stores)


def declared(name: str, phase=PassPhase.CLEANUP, **given) -> Pass:
    """A pass that does nothing."""

    @vyre_pass(name=name, phase=phase, **given)
    class Idle(Pass):
        """Does nothing. Legal always."""

        def transform(self, program: Program, context: PassContext) -> PassResult:
            return PassResult(program)

    return Idle()


@vyre_pass(name="countdown", phase=PassPhase.SCALAR_ALGEBRA)
class Countdown(Pass):
    """Stores one less, down to zero. Legal in tests only."""

    def transform(self, program: Program, context: PassContext) -> PassResult:
        region = _region(program)
        changed = [_less(s) for s in region.body]
        if all(new is old for new, old in zip(changed, region.body, strict=True)):
            return PassResult(program)
        entry = [Node.region(region.generator, changed)]
        return PassResult(program.with_rewritten_entry(entry), 1, ("counted",))


def _region(program: Program) -> Region:
    (region,) = program.entry
    assert isinstance(region, Region)
    return region


def _less(statement):
    value = statement.value.value
    if not isinstance(statement, Store) or value == 0:
        return statement
    return Node.store("out", 0, Expr.u32(value - 1))


@dataclass
class Log:
    ran: list[str] = field(default_factory=list)


def logging(name: str, log: Log, skip: bool = False) -> Pass:
    @vyre_pass(name=name, phase=PassPhase.CLEANUP)
    class Logs(Pass):
        """Writes down that it ran. Legal always."""

        def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
            return PassAnalysis.SKIP if skip else PassAnalysis.RUN

        def transform(self, program: Program, context: PassContext) -> PassResult:
            log.ran.append(name)
            return PassResult(program)

    return Logs()


def names(scheduler: PassScheduler) -> list[str]:
    return [each.metadata.name for each in scheduler.passes]


def test_phases_decide_the_order_then_the_given_one() -> None:
    passes = [
        declared("z", PassPhase.SYNC),
        declared("b", PassPhase.STRUCTURE),
        declared("a", PassPhase.STRUCTURE),
        declared("m", PassPhase.MEMORY),
    ]
    assert names(PassScheduler(passes)) == ["b", "a", "m", "z"]


def test_requirements_come_first_whatever_the_phase() -> None:
    passes = [
        declared("early", PassPhase.STRUCTURE, requires=("late",)),
        declared("late", PassPhase.CLEANUP, requires=("latest",)),
        declared("latest", PassPhase.CLEANUP),
    ]
    assert names(PassScheduler(passes)) == ["latest", "late", "early"]


@pytest.mark.parametrize(
    ("passes", "code"),
    [
        ([declared("a"), declared("a")], "O001"),
        ([declared("a", requires=("missing",))], "O002"),
        ([declared("a", requires=("b",)), declared("b", requires=("a",))], "O003"),
    ],
)
def test_impossible_schedules_are_refused(passes, code) -> None:
    with pytest.raises(OptimizerError) as error:
        PassScheduler(passes)
    assert error.value.code == code


def test_a_cycle_is_shown() -> None:
    passes = [declared("a", requires=("b",)), declared("b", requires=("a",))]
    with pytest.raises(OptimizerError, match="a -> b -> a"):
        PassScheduler(passes)


def test_passes_run_until_nothing_changes() -> None:
    report = PassScheduler([Countdown()]).run_with_report(program(3))
    assert report.iterations == 4
    assert [row.changed for row in report.passes] == [True, True, True, False]
    assert report.program == program(0)
    assert PassScheduler([Countdown()]).run(program(3)) == program(0)


def test_no_convergence_is_an_error_that_names_the_pass() -> None:
    with pytest.raises(OptimizerError, match="countdown") as error:
        PassScheduler([Countdown()]).run(program(MAX_ITERATIONS + 5))
    assert error.value.code == "O004"


def test_exactly_the_last_allowed_round_may_be_the_quiet_one() -> None:
    report = PassScheduler([Countdown()]).run_with_report(program(MAX_ITERATIONS - 1))
    assert report.iterations == MAX_ITERATIONS


def test_a_program_that_nothing_improves_costs_one_round() -> None:
    log = Log()
    given = program(0)
    passes = [Countdown(), logging("first", log), logging("second", log)]
    report = PassScheduler(passes).run_with_report(given)
    assert report.iterations == 1
    assert log.ran == ["first", "second"]
    assert report.program is given
    assert not report.changed


def test_a_pass_is_not_run_again_on_the_program_where_it_found_nothing() -> None:
    log = Log()
    report = PassScheduler([Countdown(), logging("after", log)]).run_with_report(program(1))
    decisions = [row.decision for row in report.rows_of("after")]
    assert decisions == [PassRunDecision.RAN_UNCHANGED, PassRunDecision.SKIPPED_CLEAN]
    assert log.ran == ["after"]


def test_one_row_per_pass_per_round() -> None:
    idle = declared("idle", phase=PassPhase.DATAFLOW)
    report = PassScheduler([Countdown(), idle]).run_with_report(program(2))
    rows = [(row.iteration, row.pass_name) for row in report.passes]
    assert rows == [(i, name) for i in range(3) for name in ("countdown", "idle")]


def test_later_phases_look_again_when_values_have_settled() -> None:
    late = declared("late", phase=PassPhase.MEMORY)
    report = PassScheduler([Countdown(), late]).run_with_report(program(4))
    assert [row.iteration for row in report.rows_of("countdown")] == [0, 1, 2, 3, 4]
    assert [row.iteration for row in report.rows_of("late")] == [0, 4]


def test_a_quick_look_can_skip() -> None:
    log = Log()
    report = PassScheduler([logging("lazy", log, skip=True)]).run_with_report(program(1))
    (row,) = report.passes
    assert row.decision is PassRunDecision.SKIPPED_ANALYSIS
    assert not row.ran
    assert log.ran == []


def test_a_claimed_change_that_is_none_counts_as_none() -> None:
    @vyre_pass(name="boaster", phase=PassPhase.CLEANUP)
    class Boaster(Pass):
        """Builds the same program again. Legal always."""

        def transform(self, program: Program, context: PassContext) -> PassResult:
            copy = Program(program.buffers, program.workgroup_size, program.entry)
            return PassResult(copy, rewrites=7)

    given = program(1)
    report = PassScheduler([Boaster()]).run_with_report(given)
    (row,) = report.passes
    assert not row.changed
    assert row.decision is PassRunDecision.RAN_UNCHANGED
    assert row.rewrites == 0
    assert report.program is given


def test_capabilities_are_the_targets() -> None:
    needs = declared("needs", requires_caps=(Feature.SUBGROUPS,))
    scheduler = PassScheduler([needs])

    def refusal(target):
        (row,) = scheduler.run_with_report(program(1), target).passes
        return row.decision, row.refusal_kind

    assert refusal(None) == (PassRunDecision.REFUSED, PassRefusalKind.NO_TARGET)
    plain = Target("plain")
    assert refusal(plain) == (PassRunDecision.REFUSED, PassRefusalKind.MISSING_CAPABILITY)
    able = Target("able", frozenset({Feature.SUBGROUPS}))
    assert refusal(able) == (PassRunDecision.RAN_UNCHANGED, None)


def test_rows_carry_figures_before_and_after() -> None:
    @vyre_pass(name="halve", phase=PassPhase.CLEANUP)
    class Halve(Pass):
        """Drops the second store. Legal in tests only."""

        def transform(self, program: Program, context: PassContext) -> PassResult:
            region = _region(program)
            kept = Node.region(region.generator, region.body[:1])
            if len(region.body) == 1:
                return PassResult(program)
            return PassResult(program.with_rewritten_entry([kept]), 1, ("dropped one",))

    report = PassScheduler([Halve()]).run_with_report(program(1, 2))
    row = report.passes[0]
    assert (row.before.nodes, row.after.nodes) == (3, 2)
    assert (row.before.memory_op_count, row.after.memory_op_count) == (2, 1)
    assert row.cost_reduction > 0
    assert row.rewrites == 1
    assert row.research_trace == ("dropped one",)
    assert row.fact_substrate_invalidated
    assert row.runtime_ns > 0
    assert report.cost_reducing_passes() == {"halve"}


def test_verification_catches_a_pass_that_breaks_programs() -> None:
    @vyre_pass(name="vandal", phase=PassPhase.CLEANUP)
    class Vandal(Pass):
        """Breaks the program. Legal never."""

        def transform(self, program: Program, context: PassContext) -> PassResult:
            return PassResult(program.with_rewritten_entry([Node.eval(Expr.var("x"))]))

    with pytest.raises(OptimizerError, match="vandal") as error:
        PassScheduler([Vandal()], verify=True).run(program(1))
    assert error.value.code == "O009"


def test_a_value_that_is_moved_leaves_nothing_behind_to_be_found_again() -> None:
    text = "buffer out: read_write u32[] @0\nlet x = gid.x * 3u32\nout[gid.x] = x\n"
    before = Program.parse("program workgroup(64, 1, 1)\n\n" + text)
    passes = [pass_by_name("propagate"), pass_by_name("cse")]
    report = PassScheduler(passes).run_with_report(before)
    assert report.iterations == 2


@pytest.mark.parametrize("left", [each.metadata.name for each in registered_passes()])
def test_any_two_passes_come_to_an_end(left: str) -> None:
    for right in registered_passes():
        if right.metadata.name > left:
            scheduler = PassScheduler([pass_by_name(left), right], verify=True)
            for kernel in plain_programs().values():
                scheduler.run(kernel, Target("test", FEATURES, subgroup_width=WIDTH))


def test_the_reason_for_skipping_is_kept() -> None:
    report = PassScheduler([pass_by_name("unroll")]).run_with_report(program(1))
    (row,) = report.passes
    assert row.decision is PassRunDecision.SKIPPED_ANALYSIS
    assert row.research_trace == ("there is no loop over numbers",)
    assert "skipped: there is no loop over numbers" in explain(report)


def test_a_program_that_keeps_getting_smaller_has_more_rounds() -> None:
    """A long chain of constants, each of which decides what the next one is."""
    links = "\n".join(
        f"    if n == {k}u32 {{ n = n + 1u32 }} else {{ n = x[n] }}" for k in range(60)
    )
    chain = Program.parse(
        "program workgroup(1, 1, 1)\n"
        "buffer x: read_write u32[] @0\n"
        f'region "chain" {{\n    let n = 0u32\n{links}\n    x[0] = n\n}}\n'
    )
    report = optimize(chain)
    assert report.iterations > MAX_ITERATIONS
    assert "x[0] = 60u32" in str(report.program)
