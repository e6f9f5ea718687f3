"""Threads, forks, spawned processes and signals, each scenario in a process with a time limit."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import pytest

from tests.processes.running import outcome

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no fork and no such signals")
FOLDER = Path(__file__).parent / "scenarios"


def scenarios() -> list[str]:
    """Every public function without parameters that a module of scenarios defines itself."""
    found: list[str] = []
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        module = importlib.import_module(f"tests.processes.scenarios.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and is_scenario(name, function):
                found.append(f"{path.stem}.{name}")
    return found


def is_scenario(name: str, function: object) -> bool:
    """Whether it is to be run, and not what others are made of."""
    parts = {"as_a_plain_user", "no_more_threads", "keep_nothing", "reproducers", "use"}
    assert callable(function)
    return name[0] != "_" and name not in parts and not inspect.signature(function).parameters


@pytest.mark.parametrize("scenario", scenarios())
def test_a_scenario_ends_well_and_in_time(scenario: str, cache: Path) -> None:
    told = outcome(scenario, cache)
    assert not told, told
