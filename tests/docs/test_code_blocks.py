"""Every Python block in the README and in the docs runs, in order, in one process per page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vyre.cli.command import command
from vyre.cli.program import command_parser

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ {4}vyre (.+)$", re.MULTILINE)
# The page of codes shows what goes wrong; its examples have a test of their own.
DOCS = [p for p in sorted((ROOT / "docs").rglob("*.md")) if p.name != "codes.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def blocks_of(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def shown_of(page: Path) -> list[str]:
    """What stands right below a block of code as its output."""
    return SHOWN.findall(page.read_text(encoding="utf-8"))


WITH_CODE = [page for page in PAGES if blocks_of(page)]


MEAN = """import vyre as vy


@vy.kernel
def mean(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    total = 0.0
    for k in range(len(x)):
        total += x[k]
    y[0] = total / len(x)


mean.program()
"""


def test_the_readme_has_code():
    assert ROOT / "README.md" in WITH_CODE


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_run(page: Path, tmp_path: Path):
    # Kernels are read from their source, so the blocks must be a file.
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks_of(page)), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert result.returncode == 0, result.stderr[-3000:]
    printed = {_plain(line) for line in result.stdout.splitlines()}
    shown = [line for text in shown_of(page) for line in text.splitlines() if "..." not in line]
    assert [line for line in shown if _plain(line) not in printed] == []


def _plain(line: str) -> str:
    """A line of output without what differs from run to run: folders and times."""
    return re.sub(r"[\d.]+ m?s\b", "TIME", re.sub(r"\S*page\.py", "page.py", line)).strip()


def test_every_block_of_code_is_seen():
    """A block that the pattern above does not find would never run."""
    for page in PAGES:
        fences = re.findall(r"^\s*```\s*(py\w*)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == len(blocks_of(page)), page


def test_the_message_in_the_readme_is_what_vyre_says(tmp_path: Path):
    (shown,) = re.findall(
        r"^```text\n(error.*?)^```",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    script = tmp_path / "mean.py"
    script.write_text(MEAN, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, script.name], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    said = result.stderr[result.stderr.index("error[") :].replace(f"{tmp_path}/", "")
    assert said.strip() == shown.strip()


def commands() -> list[list[str]]:
    found = [line for page in PAGES for line in COMMAND.findall(page.read_text(encoding="utf-8"))]
    return [shlex.split(line, comments=True) for line in dict.fromkeys(found)]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_in_the_pages_are_understood(words: list[str]):
    name, *arguments = words
    command_parser(name, command(name)).parse_args(arguments)


def test_targets_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(
        r"^\$ make ([a-z-]+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
