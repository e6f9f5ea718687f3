"""What the optimizer costs and what it earns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.executed import FIGURES as EXECUTED
from benchmarks.executed import Launch, executed
from benchmarks.plain_launches import launches
from benchmarks.programs import all_programs, plain_programs
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.stopwatch import median_seconds
from benchmarks.synthetic import program_of_size, stages

if TYPE_CHECKING:
    from vyre.ir import Program
    from vyre.opt import HotPathHints, OptimizerRunReport, Pass
    from vyre.target import Target

SIZES = {"full": (1_000, 20_000), "quick": (200, 1_000), "tiny": (50, 100)}
GROWTH_BOUND = 26.0
COST_BOUND = 400e-6

FIGURES = {
    "node_count": "statements",
    "instruction_count": "instructions",
    "memory_op_count": "memory ops",
    "atomic_op_count": "atomics",
    "barrier_count": "barriers",
    "control_flow_count": "branches",
    "bounds_checks": "bounds checks",
    "scratch": "scratch bytes",
    "cost": "work",
}
_FROM_ROWS = {"node_count": "nodes"}
"""Figures that rows of a report have under another name."""
_NOT_IN_ROWS = ("bounds_checks", "scratch", "cost")

INTRODUCTION = """\
The release profile on synthetic programs of growing size. Then kernels as one writes them first
(benchmarks/plain), optimised as hot programs for a device like a GPU under WebGPU: subgroups of 32,
memory of its own, no accesses to single bytes. Counted on the reference is what a launch executes;
a pass is judged by what would be executed without it. Last, what stands in the program text of
those kernels and of the tuned ones of the other suites. In the text, bounds checks are the accesses
that ranges do not prove, for which backends emit a check; work is a weight of what one invocation
does, loops counted by their rounds (eight where that is not known)."""


def run(options: Options) -> Report:
    """Cost and growth first, then the benefit kernel by kernel."""
    from vyre.opt import optimize

    sizes = SIZES[options.scale]
    seconds = {
        size: median_seconds(optimize, lambda size=size: stages(size), 3, budget=30.0)
        for size in sizes
    }
    unrolled = median_seconds(
        lambda given: optimize(given[0], hints=given[1]), lambda: _hot(program_of_size(sizes[0])), 3
    )
    plain, tuned = plain_programs(), all_programs()
    reports = {name: _optimized(program) for name, program in plain.items()}
    given = launches()
    others = {name: optimize(program) for name, program in tuned.items()}
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(
            cost(seconds, unrolled, options),
            executions(plain, reports, given),
            losses(plain, given),
            benefit("Kernels as first written: what stands there, before → after", plain, reports),
            contributions(reports),
            benefit("Tuned kernels: what stands there, before → after", tuned, others),
        ),
        data={
            "seconds": {str(size): value for size, value in seconds.items()},
            "figures": {
                name: {"before": figures(program), "after": figures(report.program)}
                for programs, made in ((plain, reports), (tuned, others))
                for (name, program), report in zip(programs.items(), made.values(), strict=True)
            },
        },
        versions=versions_of("vyre", "numpy"),
        scale=options.scale,
        complete=options.complete,
    )


def _target() -> "Target":
    from vyre.target import Feature, Target

    features = frozenset(Feature) - {Feature.HOST_MEMORY, Feature.SUBWORD}
    return Target("benchmark", features, subgroup_width=32)


def _hot(program: "Program") -> tuple["Program", "HotPathHints"]:
    """A program with hints that say that it runs long."""
    from vyre.opt import HotPathHints
    from vyre.opt.hot_paths import hint_keys

    hints = HotPathHints()
    for key in hint_keys(program):
        hints.record(key, kernel_ns=1_000_000, bytes_touched=0)
    return program, hints


def _optimized(program: "Program") -> "OptimizerRunReport":
    """As a program is optimised that is known to be hot, for a target with subgroups."""
    from vyre.opt import optimize

    _, hints = _hot(program)
    return optimize(program, target=_target(), hints=hints)


def figures(program: "Program") -> dict[str, int]:
    """What the optimizer tries to have less of."""
    from vyre.analysis import Ranges, program_cost

    stats = program.stats()
    found = {
        "bounds_checks": Ranges.of(program).unproven,
        "scratch": sum(decl.size_bytes or 0 for decl in program.buffers if decl.is_scratch),
        "cost": program_cost(program),
    }
    return {name: found[name] if name in found else getattr(stats, name) for name in FIGURES}


def cost(seconds: Mapping[int, float], unrolled: float, options: Options) -> Table:
    """Microseconds per statement, and growth."""
    small, large = seconds
    growth = seconds[large] / seconds[small]
    rows = [
        [f"{size:_}".replace("_", " "), duration(s), duration(s / size)]
        for size, s in seconds.items()
    ]
    rows.append([f"{small:_}, hot, most of them unrolled".replace("_", " "), duration(unrolled)])
    rows[-1].append(duration(unrolled / small))
    each = verdict(seconds[small] / small <= COST_BOUND, options)
    linear = verdict(growth <= GROWTH_BOUND, options)
    notes = [
        f"At most {COST_BOUND * 1e6:g} µs per statement at 1 000 statements: {each}.",
        f"Growth {growth:.1f}, at most {GROWTH_BOUND:g} from 1 000 to 20 000: {linear}.",
        "The last row is a hot program whose loops are written out, so that it doubles on the way.",
    ]
    columns = ["statements", "time", "per statement"]
    return Table("Cost of the release profile", columns, rows, notes)


def benefit(
    title: str,
    programs: Mapping[str, "Program"],
    reports: Mapping[str, "OptimizerRunReport"],
) -> Table:
    """Figures before → after, kernel by kernel."""
    rows = [
        [name, *_pairs(figures(programs[name]), figures(report.program), FIGURES)]
        for name, report in reports.items()
    ]
    return Table(title, ["kernel", *FIGURES.values()], rows)


def contributions(reports: Mapping[str, "OptimizerRunReport"]) -> Table:
    """What each pass took away over all kernels, and where it changed something."""
    measured = [name for name in FIGURES if name not in _NOT_IN_ROWS]
    saved: dict[str, Counter[str]] = {}
    kernels: dict[str, set[str]] = {}
    names = {metric.pass_name for report in reports.values() for metric in report.passes}
    for kernel, report in reports.items():
        for metric in report.passes:
            if metric.changed:
                kernels.setdefault(metric.pass_name, set()).add(kernel)
                row: Any = metric
                saved.setdefault(metric.pass_name, Counter()).update(
                    {name: row.reduction(_FROM_ROWS.get(name, name)) for name in measured}
                )
    rows = [
        [name, ", ".join(sorted(kernels[name])), *_changes(saved[name], measured)]
        for name in sorted(kernels, key=lambda name: -saved[name]["instruction_count"])
    ]
    idle = sorted(names - kernels.keys())
    notes = [f"Changed nothing here: {', '.join(idle)}."] if idle else []
    columns = ["pass", "changed", *(FIGURES[name] for name in measured)]
    return Table("What each pass changed", columns, rows, notes)


def executions(
    programs: Mapping[str, "Program"],
    reports: Mapping[str, "OptimizerRunReport"],
    given: Mapping[str, Launch],
) -> Table:
    """What one launch of each kernel executes, before → after."""
    before = {name: executed(programs[name], given[name], checked=True) for name in reports}
    after = {name: executed(report.program, given[name]) for name, report in reports.items()}
    shown = [f for f in EXECUTED if any(before[name][f] or after[name][f] for name in reports)]
    rows = [[name, *_pairs(before[name], after[name], shown)] for name in reports]
    notes = [
        "Counted over all invocations; barriers and bytes of workgroup memory once per workgroup.",
        "Bounds checks: every access before, as the language says; those not proven after.",
    ]
    title = "Kernels as first written: what one launch executes, before → after"
    return Table(title, ["kernel", *(EXECUTED[figure] for figure in shown)], rows, notes)


def losses(programs: Mapping[str, "Program"], given: Mapping[str, Launch]) -> Table:
    """How much more would be executed, over all kernels, if a pass were left out."""
    from vyre.opt import registered_passes

    passes = registered_passes()
    whole = _executed(passes, programs, given)
    found: list[tuple[str, list[str], Counter[str]]] = []
    for each in passes:
        rest = [other for other in passes if other is not each]
        left = _executed(rest, programs, given)
        missed = [name for name in programs if left[name] != whole[name]]
        more: Counter[str] = Counter()
        for name in missed:
            more.update({figure: whole[name][figure] - left[name][figure] for figure in EXECUTED})
        found.append((each.metadata.name, missed, more))
    shown = [figure for figure in EXECUTED if any(more[figure] for _, _, more in found)]
    rows = [[name, ", ".join(missed), *_changes(more, shown)] for name, missed, more in found]
    notes = ["A minus: without this pass there would be less of that, at the price of the rest."]
    title = "What a launch would execute more of without a pass"
    columns = ["pass", "kernels", *(EXECUTED[figure] for figure in shown)]
    return Table(title, columns, rows, notes)


def _executed(
    passes: "Sequence[Pass]", programs: Mapping[str, "Program"], given: Mapping[str, Launch]
) -> dict[str, Counter[str]]:
    return {
        name: executed(_with(passes, program), given[name]) for name, program in programs.items()
    }


def _with(passes: "Sequence[Pass]", program: "Program") -> "Program":
    from vyre.opt import PassScheduler

    return PassScheduler(passes).run(program, _target())


def _pairs(before: Mapping[str, int], after: Mapping[str, int], names: Iterable[str]) -> list[str]:
    return [
        f"{before[name]} → {after[name]}" if before[name] != after[name] else str(before[name])
        for name in names
    ]


def _changes(saved: Mapping[str, int], names: Sequence[str]) -> list[str]:
    return [f"{-saved[name]:+d}" if saved[name] else "" for name in names]


SUITE = Suite("optimizer", "The optimizer's cost and benefit", run)
