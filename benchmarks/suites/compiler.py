"""What the compiler's own front end costs: building, checking, text, wire, digest."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.stopwatch import median_seconds
from benchmarks.synthetic import program_of_size

if TYPE_CHECKING:
    from vyre.ir import Program

SIZES = {
    "full": (100, 1_000, 10_000, 100_000),
    "quick": (100, 1_000, 10_000),
    "tiny": (100, 1_000),
}
GROWTH_BOUND = 13.0
CHECK_BOUND = 40e-6

INTRODUCTION = """\
Time to build, check, print, parse, encode, decode and digest programs of growing size, each on a
program that is not cached yet. Ten times the statements should cost ten times the time."""


def operations() -> dict[str, tuple[Callable[[Any], object], Callable[["Program"], Any]]]:
    """What is timed, and what it takes, made from a program."""
    from vyre.ir import Program
    from vyre.text import parse, to_text

    return {
        "build": (program_of_size, lambda program: program.stats().node_count),
        "check": (Program.check, lambda program: program),
        "print": (to_text, lambda program: program),
        "parse": (parse, to_text),
        "encode": (Program.to_wire, lambda program: program),
        "decode": (Program.from_wire, Program.to_wire),
        "digest": (Program.digest, lambda program: program),
    }


def run(options: Options) -> Report:
    """Every operation on every size."""
    sizes = SIZES[options.scale]
    seconds: dict[str, dict[int, float]] = {}
    for name, (operation, given) in operations().items():
        seconds[name] = {
            size: median_seconds(
                operation, lambda size=size, given=given: given(program_of_size(size)), 5
            )
            for size in sizes
        }
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(table(seconds, sizes, options),),
        data={name: {str(n): s for n, s in row.items()} for name, row in seconds.items()},
        versions=versions_of("vyre", "numpy"),
        scale=options.scale,
        complete=options.complete,
    )


def table(
    seconds: Mapping[str, Mapping[int, float]], sizes: tuple[int, ...], options: Options
) -> Table:
    """Milliseconds per size, microseconds per statement, and growth over the last step."""
    before, last = sizes[-2:]
    rows = [
        [
            name,
            *(duration(row[size]) for size in sizes),
            duration(row[before] / before),
            f"{row[last] / row[before]:.1f}",
        ]
        for name, row in seconds.items()
    ]
    steep = [name for name, row in seconds.items() if row[last] / row[before] > GROWTH_BOUND]
    linear = verdict(not steep, options)
    linear += f" by {', '.join(steep)}" if linear == "broken" else ""
    cheap = verdict(seconds["check"][before] / before <= CHECK_BOUND, options)
    both_ways = seconds["encode"][before] + seconds["decode"][before]
    light = verdict(both_ways < seconds["check"][before], options)
    notes = [
        f"Growth at most {GROWTH_BOUND:g} from 10 000 to 100 000 statements: {linear}.",
        f"Checking at most {CHECK_BOUND * 1e6:g} µs per statement: {cheap}.",
        f"Encoding and decoding 10 000 statements costs less than checking them: {light}.",
    ]
    statements = [f"{size:_} statements".replace("_", " ") for size in sizes]
    columns = ["operation", *statements, f"per statement at {before:_}".replace("_", " "), "growth"]
    return Table("Time of the compiler's front end", columns, rows, notes)


SUITE = Suite("compiler", "The compiler's own speed", run)
