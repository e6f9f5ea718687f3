"""What a person waits for: importing, compiling, the first result, a launch; and what it weighs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kernels.launch import LAUNCH, LAUNCHES
from benchmarks.peers import PEERS, ROOT
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.suites.kernels import Results, measure_kernel, started

DEPENDENCIES = ("numpy", "llvmlite", "wgpu", "rich")
PROBE = "benchmarks.first_result"

INTRODUCTION = """\
Importing and compiling are measured in new processes. Cold means an empty cache folder, from the
program to its first result with all stages of vyre; cached means a second process that finds the
first one's work on disk. A launch is one call from Python on bound arrays until the result is
there."""


def run(options: Options) -> Report:
    """Everything, each in processes of its own."""
    rounds = 5 if options.scale == "full" else 2
    imports = [probe("import", {})["import"] for _ in range(rounds)]
    compiled = {kind: compile_times(kind, rounds) for kind in ("small", "large")}
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
            launch_table(results, launches),
            size_table(sizes),
        ),
        data={"import": imports, "compile": compiled, "launch": launches, "bytes": sizes},
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
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def compile_times(kind: str, rounds: int) -> dict[str, Any]:
    """Medians of a cold compile and of a start from the cache it left."""
    cold: list[dict[str, Any]] = []
    cached: list[dict[str, Any]] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"VYRE_CACHE_DIR": folder}
            cold.append(probe(kind, environment))
            cached.append(probe(f"{kind}-cached", environment))
    return {
        "statements": cold[0]["statements"],
        "cold": median(answer["seconds"] for answer in cold),
        "cached": median(answer["seconds"] for answer in cached),
        "llvmlite_loaded_from_cache": any(answer["llvmlite"] for answer in cached),
    }


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
    loaded = any(compiled[kind]["llvmlite_loaded_from_cache"] for kind in compiled)
    note = f"A start from the cache {'loads' if loaded else 'does not load'} llvmlite."
    return Table("Starting", ["what", "time", "bound", ""], rows, [note])


def launch_table(results: Results, launches: Mapping[str, float | None]) -> Table:
    """Microseconds per launch, peer by peer."""
    rows: list[list[str]] = []
    for peer in PEERS:
        seconds = launches[peer.name]
        outcome = results.outcomes[LAUNCH.name].get(peer.name)
        problem = results.missing.get(peer.name) or (outcome.problem if outcome else "")
        shown = duration(seconds / LAUNCHES) if seconds is not None else problem
        rows.append([peer.title, shown])
    notes = ["vyre's bound is 3 µs for a one-element kernel on bound arrays."]
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
