"""What a person waits for: importing, compiling, the first result, a launch; and what it weighs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kernels.launch import LAUNCH, LAUNCHES
from benchmarks.peers import PEERS, ROOT
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.shapes import SHAPES
from benchmarks.suites.kernels import Results, measure_kernel, started

DEPENDENCIES = ("numpy", "llvmlite", "wgpu", "rich")
PROBE = "benchmarks.first_result"
STEP = 2.2
"""Times as long as a program of half the size: twice, and what noise adds."""

INTRODUCTION = """\
Importing and compiling are measured in new processes that find Python's byte code, as after an
installation. Cold means an empty cache folder, from the program to its first result with all stages
of vyre; cached means a program that an earlier process left on disk. Both are measured in a process
that has run another program before; what a process does once is shown beside it. Growth is told by
programs of one kind, each of twice as many statements as the one before. A launch is one call from
Python until the result is there."""


def run(options: Options) -> Report:
    """Everything, each in processes of its own."""
    rounds = 11 if options.scale == "full" else 2
    probe("small-first", {})
    imports = [probe("import", {})["import"] for _ in range(rounds)]
    compiled = {kind: compile_times(kind, rounds) for kind in ("small", "large")}
    grown = {shape: growth(shape, options) for shape in ("mixed", *SHAPES)}
    overhead = probe("overhead", {})
    results = Results(options.statistic)
    names = [peer.name for peer in PEERS]
    with started(names, results) as remotes:
        results.outcomes[LAUNCH.name] = measure_kernel(LAUNCH, remotes, options)
    sizes = {name: installed_bytes(name) for name in ("vyre", *DEPENDENCIES)}
    launches = {name: results.figure(LAUNCH.name, name) for name in names}
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(
            starting_table(median(imports), compiled, options),
            growth_table(grown, options),
            overhead_table(overhead, options),
            launch_table(results, launches, overhead),
            size_table(sizes),
        ),
        data={
            "import": imports,
            "compile": compiled,
            "growth": grown,
            "overhead": overhead,
            "launch": launches,
            "bytes": sizes,
        },
        versions={**versions_of("vyre", *DEPENDENCIES), **results.versions},
        scale=options.scale,
        complete=options.complete,
    )


def probe(what: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Runs benchmarks/first_result.py in a new process; its answer."""
    command = [sys.executable, "-m", PROBE, what]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=as_installed(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def as_installed(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that keeps Python's byte code, as an installation has it."""
    environment = {**os.environ, **changes}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(tempfile.gettempdir()) / f"vyre-bench-bytecode-{os.getpid()}"
    environment.setdefault("PYTHONPYCACHEPREFIX", str(folder))
    return environment


def compile_times(kind: str, rounds: int) -> dict[str, Any]:
    """Medians of a cold compile and of a start from the cache it left."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as folder:
            first = probe(f"{kind}-first", {"VYRE_CACHE_DIR": empty})
            answers.setdefault("first cold", []).append(first)
            environment = {"VYRE_CACHE_DIR": folder}
            answers.setdefault("cold", []).append(probe(kind, environment))
            answers.setdefault("cached", []).append(probe(f"{kind}-cached", environment))
            answers.setdefault("first cached", []).append(probe(f"{kind}-first", environment))
    medians = {how: median(one["seconds"] for one in all_) for how, all_ in answers.items()}
    loaded = [one["llvmlite"] for how in ("cached", "first cached") for one in answers[how]]
    statements = answers["cold"][0]["statements"]
    return {"statements": statements, **medians, "llvmlite_loaded_from_cache": any(loaded)}


def starting_table(seconds: float, compiled: Mapping[str, Any], options: Options) -> Table:
    """Import and compile, each with its bound."""
    small, large = compiled["small"], compiled["large"]
    bounded = [
        ("import vyre, numpy's own import not counted", seconds, 0.120),
        (f"cold compile, {small['statements']} statements", small["cold"], 0.080),
        (f"cold compile, {large['statements']} statements", large["cold"], 0.800),
        (f"from the cache, {small['statements']} statements", small["cached"], 0.003),
        (f"from the cache, {large['statements']} statements", large["cached"], 0.003),
    ]
    rows = [
        [what, duration(value), f"≤ {duration(bound)}", verdict(value <= bound, options)]
        for what, value, bound in bounded
    ]
    for how in ("cold", "cached"):
        row = f"the first program of a process, {how}, {small['statements']} statements"
        rows.append([row, duration(small[f"first {how}"]), "", ""])
    loaded = any(compiled[kind]["llvmlite_loaded_from_cache"] for kind in compiled)
    note = f"A start from the cache {'loads' if loaded else 'does not load'} llvmlite."
    return Table("Starting", ["what", "time", "bound", ""], rows, [note])


def growth(shape: str, options: Options) -> dict[int, float]:
    """Seconds of a cold compile by statements: the best of some rounds, each of all sizes."""
    rounds: list[dict[str, float]] = []
    for _ in range(5 if options.scale == "full" else 1):
        with tempfile.TemporaryDirectory() as folder:
            found = probe(f"growth-{shape}", {"VYRE_CACHE_DIR": folder})
        rounds.append(found["seconds"])
    return {int(size): min(each[size] for each in rounds) for size in rounds[0]}


def growth_table(grown: Mapping[str, Mapping[int, float]], options: Options) -> Table:
    """Cold compiles of ever larger programs: how much longer each takes than one of half its size.

    Most kinds have two sizes, so a step is bounded by what two measurements can tell.
    """
    rows: list[list[str]] = []
    for shape, seconds in grown.items():
        before: float | None = None
        for statements, value in seconds.items():
            row = [f"{shape}, {statements} statements", duration(value), "", "", ""]
            if before is not None:
                ratio = value / before
                row[2:] = [f"{ratio:.2f}", f"≤ {STEP:g}", verdict(ratio <= STEP, options)]
            rows.append(row)
            before = value
    notes = [
        "Cold compiles as above, each relative to that of half as many statements. `mixed` is the "
        "program of the rows before; the others consist of one thing each: "
        + ", ".join(f"{name} ({_first_line(shape)})" for name, shape in SHAPES.items())
        + "."
    ]
    columns = ["program", "time", "against half", "bound", ""]
    return Table("Growth of a cold compile", columns, rows, notes)


def _first_line(shape: Callable[[int], object]) -> str:
    text = (shape.__doc__ or "").splitlines()[0].rstrip(".")
    return text[:1].lower() + text[1:]


def overhead_table(seconds: Mapping[str, float], options: Options) -> Table:
    """What calls cost on arrays that live on the device, each with its bound."""
    bounded = [
        ("a bound launch of one element", seconds["bound"], 3e-6),
        ("`run` on resident arrays, above the backend's launch", _above(seconds), 15e-6),
        ("a launch on all threads, above the work", seconds["parallel"] - seconds["work"], 10e-6),
    ]
    rows = [
        [what, duration(value), f"≤ {duration(bound)}", verdict(value <= bound, options)]
        for what, value, bound in bounded
    ]
    notes = [
        f"The backend's own launch takes {duration(seconds['launch'])}, "
        f"`run` as a whole {duration(seconds['run'])}; the work on all threads "
        f"{duration(seconds['work'])}, its launch {duration(seconds['parallel'])}."
    ]
    return Table("Overhead of a warm launch", ["what", "time", "bound", ""], rows, notes)


def _above(seconds: Mapping[str, float]) -> float:
    return seconds["run"] - seconds["launch"]


def launch_table(
    results: Results, launches: Mapping[str, float | None], overhead: Mapping[str, float]
) -> Table:
    """Microseconds per launch, peer by peer."""
    rows: list[list[str]] = []
    for peer in PEERS:
        seconds = launches[peer.name]
        outcome = results.outcomes[LAUNCH.name].get(peer.name)
        problem = results.missing.get(peer.name) or (outcome.problem if outcome else "")
        shown = duration(seconds / LAUNCHES) if seconds is not None else problem
        rows.append([peer.title, shown])
    rows.append(["vyre, `run` on resident arrays", duration(overhead["run"])])
    rows.append(["vyre, a bound launch", duration(overhead["bound"])])
    notes = ["Each peer by its ordinary call on arrays of the host; vyre's is `run`, in place."]
    return Table("A launch with nothing to do", ["peer", "per launch"], rows, notes)


def size_table(sizes: Mapping[str, int | None]) -> Table:
    """Megabytes on disk."""
    rows = [
        [name, "not installed" if size is None else f"{size / 1e6:.3g} MB"]
        for name, size in sizes.items()
    ]
    return Table("Installed size", ["package", "on disk"], rows)


def installed_bytes(package: str) -> int | None:
    """Bytes of a package's files without byte code; None when it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    files = {path for root in spec.submodule_search_locations for path in Path(root).rglob("*")}
    try:
        # Shared libraries that a wheel keeps beside its package belong to its weight.
        for file in distribution(package).files or ():
            files.add(Path(str(file.locate())))
    except PackageNotFoundError:
        pass
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")


SUITE = Suite("latency", "Starting, launching, and size", run)
