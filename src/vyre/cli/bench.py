"""`vyre bench`: the benchmarks of the project's source tree."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from vyre.cli.command import UsageError

SUMMARY = "measure vyre and the peers that are installed (needs the source tree)"
EXAMPLE = "vyre bench --quick --only triad,sum"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    parser.add_argument("--suite", metavar="A,B", help="only these suites")
    parser.add_argument("--only", metavar="A,B", help="only these kernels")
    parser.add_argument("--peers", metavar="A,B", help="only against these peers")
    parser.add_argument("--list", action="store_true", help="list suites, kernels and peers")


def run(options: argparse.Namespace) -> int:
    """Run the benchmarks in a process of their own, so that nothing of ours is in their way."""
    if not _is_here():
        raise UsageError(
            "the benchmarks are no part of the package: run this in a checkout of vyre's source, "
            "or try `vyre demo`, which times the examples anywhere"
        )
    command = [sys.executable, "-m", "benchmarks"]
    command += ["--quick"] if options.quick else []
    command += ["--list"] if options.list else []
    command += ["--json"] if options.json else []
    for name in ("suite", "only", "peers"):
        value = getattr(options, name)
        command += [f"--{name}", value] if value else []
    return subprocess.run(command, check=False).returncode


def _is_here() -> bool:
    """True if Python finds vyre's benchmarks, and not another package's."""
    found = importlib.util.find_spec("benchmarks")
    places = [] if found is None else list(found.submodule_search_locations or ())
    return any((Path(place) / "suites" / "kernels.py").is_file() for place in places)
