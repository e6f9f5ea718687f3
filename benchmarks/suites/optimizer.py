"""What the optimizer costs and what it earns."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmarks.programs import all_programs
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.stopwatch import median_seconds
from benchmarks.synthetic import program_of_size

if TYPE_CHECKING:
    from vyre.ir import Program
    from vyre.opt import OptimizerRunReport

SIZES = {"full": (1_000, 20_000), "quick": (200, 1_000), "tiny": (50, 100)}
GROWTH_BOUND = 26.0
COST_BOUND = 400e-6

FIGURES = {
    "instruction_count": "instructions",
    "memory_op_count": "memory operations",
    "atomic_op_count": "atomics",
    "barrier_count": "barriers",
    "control_flow_count": "branches and loops",
}

INTRODUCTION = """\
The release profile on synthetic programs of growing size, and on the benchmark kernels: what is in
the program before and after, and which pass took how much away."""


def run(options: Options) -> Report:
    """Cost and growth first, then the benefit kernel by kernel."""
    from vyre.opt import optimize

    seconds = {
        size: median_seconds(optimize, lambda size=size: program_of_size(size), 3, budget=30.0)
        for size in SIZES[options.scale]
    }
    reports = {name: optimize(program) for name, program in all_programs().items()}
    programs = all_programs()
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(cost(seconds, options), benefit(programs, reports), contributions(reports)),
        data={
            "seconds": {str(size): value for size, value in seconds.items()},
            "figures": {
                name: {"before": figures(programs[name]), "after": figures(report.program)}
                for name, report in reports.items()
            },
        },
        versions=versions_of("vyre", "numpy"),
        scale=options.scale,
        complete=options.complete,
    )


def figures(program: "Program") -> dict[str, int]:
    """What the optimizer tries to have less of."""
    stats = program.stats()
    return {name: getattr(stats, name) for name in FIGURES}


def cost(seconds: Mapping[int, float], options: Options) -> Table:
    """Microseconds per statement, and growth."""
    small, large = seconds
    growth = seconds[large] / seconds[small]
    rows = [
        [f"{size:_}".replace("_", " "), duration(s), duration(s / size)]
        for size, s in seconds.items()
    ]
    each = verdict(seconds[small] / small <= COST_BOUND, options)
    linear = verdict(growth <= GROWTH_BOUND, options)
    notes = [
        f"At most {COST_BOUND * 1e6:g} µs per statement at 1 000 statements: {each}.",
        f"Growth {growth:.1f}, at most {GROWTH_BOUND:g} from 1 000 to 20 000: {linear}.",
    ]
    columns = ["statements", "time", "per statement"]
    return Table("Cost of the release profile", columns, rows, notes)


def benefit(
    programs: Mapping[str, "Program"], reports: Mapping[str, "OptimizerRunReport"]
) -> Table:
    """Figures before → after, kernel by kernel."""
    rows: list[list[str]] = []
    for name, report in reports.items():
        before, after = figures(programs[name]), figures(report.program)
        cells = [
            f"{before[f]} → {after[f]}" if before[f] != after[f] else str(before[f])
            for f in FIGURES
        ]
        rows.append([name, *cells])
    return Table("Kernels before → after", ["kernel", *FIGURES.values()], rows)


def contributions(reports: Mapping[str, "OptimizerRunReport"]) -> Table:
    """What each pass took away over all kernels, and where it changed something."""
    saved: dict[str, Counter[str]] = {}
    kernels: dict[str, set[str]] = {}
    names = {metric.pass_name for report in reports.values() for metric in report.passes}
    for kernel, report in reports.items():
        for metric in report.passes:
            if metric.changed:
                kernels.setdefault(metric.pass_name, set()).add(kernel)
                row: Any = metric
                saved.setdefault(metric.pass_name, Counter()).update(
                    {figure: row.reduction(figure) for figure in FIGURES}
                )
    rows = [
        [name, f"{len(kernels[name])}", *(f"{-saved[name][figure]:+d}" for figure in FIGURES)]
        for name in sorted(kernels, key=lambda name: -saved[name]["instruction_count"])
    ]
    idle = sorted(names - kernels.keys())
    notes = [f"Changed nothing here: {', '.join(idle)}."] if idle else []
    return Table("What each pass changed", ["pass", "kernels", *FIGURES.values()], rows, notes)


SUITE = Suite("optimizer", "The optimizer's cost and benefit", run)
