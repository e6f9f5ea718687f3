"""Which passes a program gets, and why."""

from __future__ import annotations

import pytest

from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import (
    CostModelFamily,
    HotPathHints,
    OptimizerProfile,
    OptimizerRunReport,
    PassBoundaryClass,
    PassMetadata,
    PassPhase,
    PassRunDecision,
    PassRunMetric,
    PassScheduler,
    PassSelectionReason,
    registered_passes_for,
    select_passes,
)
from vyre.opt.measure import NO_FIGURES

RELEASE = OptimizerProfile.RELEASE
FAMILIES = CostModelFamily


def meta(
    name: str,
    family: CostModelFamily,
    phase: PassPhase = PassPhase.MEMORY,
    requires: tuple[str, ...] = (),
    preserves_abi: bool = True,
) -> PassMetadata:
    return PassMetadata(
        name=name,
        requires=requires,
        invalidates=(),
        phase=phase,
        boundary_class=PassBoundaryClass.ABI_PRESERVING,
        requires_caps=(),
        preserves_abi=preserves_abi,
        cost_model_family=family,
    )


def tiny_program(entry: str | None = None, count: int = 1) -> Program:
    return Program.wrapped(
        [BufferDecl.output("out", 0, DataType.U32).with_count(count)],
        (1, 1, 1),
        [Node.store("out", 0, Expr.u32(1))],
        entry_op_id=entry,
    )


def sized_program(statements: int) -> Program:
    """A program with that many nodes, the root region included."""
    stores = [Node.store("out", 0, Expr.u32(i)) for i in range(statements - 1)]
    out = BufferDecl.output("out", 0, DataType.U32).with_count(1)
    return Program.wrapped([out], (1, 1, 1), stores)


def pass_metric(name: str, changed: bool, before: int, after: int) -> PassRunMetric:
    return PassRunMetric(
        iteration=0,
        pass_name=name,
        changed=changed,
        decision=PassRunDecision.CHANGED if changed else PassRunDecision.RAN_UNCHANGED,
        before=NO_FIGURES._replace(nodes=before, instruction_count=12),
        after=NO_FIGURES._replace(nodes=after, instruction_count=12),
        runtime_ns=100,
    )


def choose(row: PassMetadata, program: Program, **given):
    hints = given.pop("hints", HotPathHints())
    return select_passes([row], given.pop("profile", RELEASE), program, hints, **given)[0]


def test_a_small_cold_program_gets_no_expensive_memory_pass() -> None:
    decision = choose(meta("decode_scan_fuse", FAMILIES.MEMORY), tiny_program())
    assert not decision.selected
    assert decision.reason is PassSelectionReason.BELOW_THRESHOLD
    assert decision.priority == 0


def test_a_hot_program_gets_it() -> None:
    hints = HotPathHints(capacity=4)
    hints.record("hot_entry", 1_000_000, 4)
    row = meta("decode_scan_fuse", FAMILIES.MEMORY)
    decision = choose(row, tiny_program("hot_entry"), hints=hints)
    assert decision.selected
    assert decision.reason is PassSelectionReason.HOT_PATH_TELEMETRY
    assert decision.priority == 500


def test_a_region_that_is_hot_counts_too() -> None:
    hints = HotPathHints()
    hints.record("stage", 1_000_000, 4)
    store = Node.store("out", 0, Expr.u32(1))
    out = BufferDecl.output("out", 0, DataType.U32).with_count(1)
    program = Program.wrapped([out], (1, 1, 1), [Node.region("stage", [store])])
    decision = choose(meta("memory_pass", FAMILIES.MEMORY), program, hints=hints)
    assert decision.reason is PassSelectionReason.HOT_PATH_TELEMETRY


def test_a_report_of_savings_selects_it() -> None:
    report = OptimizerRunReport(tiny_program(), (pass_metric("decode_scan_fuse", True, 10, 3),))
    row = meta("decode_scan_fuse", FAMILIES.MEMORY)
    decision = choose(row, tiny_program(), report=report)
    assert decision.selected
    assert decision.reason is PassSelectionReason.PASS_COST_REPORT
    assert decision.priority == 400


@pytest.mark.parametrize(
    "metric",
    [
        pass_metric("decode_scan_fuse", False, 10, 3),
        pass_metric("decode_scan_fuse", True, 10, 10),
        pass_metric("decode_scan_fuse", True, 3, 10),
        pass_metric("another", True, 10, 3),
    ],
)
def test_a_report_without_savings_selects_nothing(metric) -> None:
    report = OptimizerRunReport(tiny_program(), (metric,))
    decision = choose(meta("decode_scan_fuse", FAMILIES.MEMORY), tiny_program(), report=report)
    assert not decision.selected
    assert decision.reason is PassSelectionReason.BELOW_THRESHOLD


def test_heat_is_stronger_evidence_than_a_report() -> None:
    hints = HotPathHints()
    hints.record("hot_entry", 1_000_000, 4)
    report = OptimizerRunReport(tiny_program(), (pass_metric("m", True, 10, 3),))
    decision = choose(
        meta("m", FAMILIES.MEMORY), tiny_program("hot_entry"), hints=hints, report=report
    )
    assert decision.reason is PassSelectionReason.HOT_PATH_TELEMETRY


def test_what_a_selected_pass_requires_is_selected() -> None:
    rows = [
        meta("shape_facts", FAMILIES.MEMORY),
        meta("memory_optimizer", FAMILIES.SCALAR, PassPhase.SCALAR_ALGEBRA, ("shape_facts",)),
    ]
    first, second = select_passes(rows, RELEASE, tiny_program(), HotPathHints())
    assert first.selected
    assert first.reason is PassSelectionReason.REQUIRED_DEPENDENCY
    assert first.priority == 100
    assert second.selected
    assert second.reason is PassSelectionReason.ALWAYS_ON
    assert second.priority == 200


def test_requirements_of_requirements_are_selected() -> None:
    rows = [
        meta("c", FAMILIES.MEMORY),
        meta("b", FAMILIES.MEMORY, requires=("c",)),
        meta("a", FAMILIES.SCALAR, requires=("b",)),
    ]
    decisions = select_passes(rows, RELEASE, tiny_program(), HotPathHints())
    assert all(decision.selected for decision in decisions)


def test_a_required_pass_that_the_profile_rejects_is_a_dependency() -> None:
    rows = [
        meta("loops", FAMILIES.LOOP),
        meta("cleaner", FAMILIES.SCALAR, PassPhase.DATAFLOW, requires=("loops",)),
        meta("other", FAMILIES.LOOP),
    ]
    profile = OptimizerProfile.DEBUG
    loops, cleaner, other = select_passes(rows, profile, tiny_program(), HotPathHints())
    assert loops.selected
    assert loops.reason is PassSelectionReason.REQUIRED_DEPENDENCY
    assert cleaner.selected
    assert not other.selected
    assert other.reason is PassSelectionReason.PROFILE_REJECTED
    assert other.priority == 0


def test_requirements_that_are_not_there_are_left_to_the_scheduler() -> None:
    rows = [meta("a", FAMILIES.SCALAR, requires=("missing",))]
    (decision,) = select_passes(rows, RELEASE, tiny_program(), HotPathHints())
    assert decision.selected


@pytest.mark.parametrize(
    ("family", "below", "at"),
    [
        (FAMILIES.LOOP, sized_program(11), sized_program(12)),
        (FAMILIES.MEMORY, tiny_program(count=4095), tiny_program(count=4096)),
        (FAMILIES.DATAFLOW, sized_program(63), sized_program(64)),
        (FAMILIES.MEGAKERNEL, sized_program(511), sized_program(512)),
    ],
)
def test_thresholds(family, below, at) -> None:
    row = meta("m", family)
    assert choose(row, below).reason is PassSelectionReason.BELOW_THRESHOLD
    decision = choose(row, at)
    assert decision.reason is PassSelectionReason.PROGRAM_SHAPE
    assert decision.priority == 300


def test_fusion_wants_two_regions_at_the_top() -> None:
    store = Node.store("out", 0, Expr.u32(1))
    out = BufferDecl.output("out", 0, DataType.U32).with_count(1)
    one = Program.wrapped([out], (1, 1, 1), [Node.region("a", [store])])
    two = Program.wrapped([out], (1, 1, 1), [Node.region("a", [store]), Node.region("b", [store])])
    row = meta("m", FAMILIES.FUSION)
    assert not choose(row, one).selected
    assert choose(row, two).selected


def test_an_unsized_element_counts_as_the_most_memory() -> None:
    decl = BufferDecl.read("t", 0, DataType.TENSOR)
    program = Program.wrapped([decl], (1, 1, 1), [])
    assert choose(meta("m", FAMILIES.MEMORY), program).selected


@pytest.mark.parametrize("family", [FAMILIES.SCALAR, FAMILIES.SYNC, FAMILIES.UNKNOWN])
def test_cheap_families_are_always_on(family) -> None:
    decision = choose(meta("m", family), tiny_program())
    assert decision.reason is PassSelectionReason.ALWAYS_ON


def test_a_tiny_program_has_two_nodes() -> None:
    assert tiny_program().stats().node_count == 2


def test_selected_passes_run_through_the_scheduler() -> None:
    program = tiny_program()
    passes = registered_passes_for(RELEASE, program, HotPathHints())
    assert passes
    optimised = PassScheduler(passes).run(program)
    assert optimised.stats().node_count > 0


def test_the_off_profile_selects_nothing() -> None:
    assert registered_passes_for(OptimizerProfile.OFF, tiny_program(), HotPathHints()) == []


def test_passes_that_change_slots_are_for_megakernels() -> None:
    row = meta("slots", FAMILIES.SCALAR, preserves_abi=False)
    assert not choose(row, tiny_program()).selected
    assert choose(row, tiny_program(), profile=OptimizerProfile.MEGAKERNEL).selected
