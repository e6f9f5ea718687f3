"""Every Python block in the README and in the docs runs, in order, in one process per page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The page of codes shows what goes wrong; its examples have a test of their own.
DOCS = [p for p in sorted((ROOT / "docs").rglob("*.md")) if p.name != "codes.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def blocks_of(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


WITH_CODE = [page for page in PAGES if blocks_of(page)]


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
