"""A file is named after its idea: drawers for everything else are not allowed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "docs")
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "stuff"}
FRAGMENT = re.compile(r"(^|_)(part|chunk|v)\d+$")


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_file_or_folder_is_a_drawer() -> None:
    drawers = [
        str(path.relative_to(ROOT))
        for path in modules()
        if DRAWERS & {*path.relative_to(ROOT).parts[:-1], path.stem.removeprefix("test_")}
    ]
    assert drawers == []


def test_no_file_is_a_fragment_of_another() -> None:
    assert [str(path.relative_to(ROOT)) for path in modules() if FRAGMENT.search(path.stem)] == []
