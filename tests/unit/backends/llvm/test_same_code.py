"""The same program becomes the same code in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).parents[4] / "benchmarks" / "kernels"
SHOW = """
import hashlib, sys
from pathlib import Path
from vyre.backends.llvm import host
from vyre.backends.llvm.emit.module import generate
from vyre.text import parse
for path in sys.argv[1:]:
    code = generate(parse(Path(path).read_text()), host.generic()).text
    print(path, hashlib.sha256(code.encode()).hexdigest())
"""


def shown(hash_seed: str) -> str:
    made = subprocess.run(
        [sys.executable, "-c", SHOW, *map(str, sorted(KERNELS.glob("*.vy")))],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout


def test_no_order_of_sets_shows_in_the_code():
    first = shown("1")
    assert len(first.splitlines()) >= 10
    assert shown("2") == first
    assert shown("3") == first
