"""An environment that can be changed: vyre, packages it works with, and two that extend it.

What is installed is a copy of vyre; of the others there is what their stamp is made of. A process
in it computes the stamp of the code, each time as a process would that has just begun.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[3]

SERVER = """
import importlib, json, os, sys, traceback
from vyre.cache import code_stamp, sources; from vyre.cache import compiler_fingerprint as stamp

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        said = "failed"
        try:
            os.environ.update(asked["environment"])
            sys.path[:0] = asked["paths"]
            importlib.invalidate_caches()
            stamp.IMPORTED_NS = 1 << 62
            exec(asked["before"])
            said = code_stamp()
        except BaseException:
            traceback.print_exc()
        print(said, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""

PASS = """
from vyre.ir import Expr, Lit
from vyre.ir.walk import rewrite_exprs
from vyre.opt import Pass, PassPhase, PassResult, vyre_pass

FROM, TO = 1, 2

@vyre_pass(name="other_number", phase=PassPhase.CLEANUP)
class OtherNumber(Pass):
    "Makes another number of one. Legal never."

    def transform(self, program, context):
        def other(expr):
            is_one = isinstance(expr, Lit) and expr.value == FROM
            return Expr.lit(TO, expr.dtype) if is_one else expr
        return PassResult(program.with_rewritten_entry(rewrite_exprs(program.entry, other)))
"""


class Environment:
    """The environment, and a process in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vyre = folder / "src" / "vyre"
        self.site = folder / "site"
        ignored = shutil.ignore_patterns("__pycache__", "conform", "examples")
        shutil.copytree(ROOT / "src" / "vyre", self.vyre, ignore=ignored)
        for name, library in (("llvmlite", "binding"), ("wgpu", "resources"), ("numpy", "core")):
            self._package(name, {"__init__.py": "", "_version.py": "", f"{library}/lib.so": name})
        self._package(
            "own_passes",
            {
                **{"__init__.py": "", "one.py": PASS, "deep/helper.py": "x = 1"},
                **{"deep/table.json": "[1]", "notes.log": ""},
            },
            "[vyre.passes]\nother_number = own_passes.one:OtherNumber\n",
        )
        self._package(
            "own_backend",
            {"__init__.py": "def backend(): ...\n"},
            "[vyre.backends]\nown = own_backend:backend\n",
        )
        self._undo: list[Callable[[], object]] = []
        self._process: subprocess.Popen[str] | None = None

    def _package(self, name: str, files: dict[str, str], entry_points: str = "") -> None:
        for path, text in files.items():
            place = self.site / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        described = self.site / f"{name}-1.0.dist-info"
        described.mkdir()
        (described / "RECORD").write_text("\n".join(f"{name}/{path},sha256=0," for path in files))
        (described / "entry_points.txt").write_text(entry_points)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._process is not None:
            with self._process as process:
                assert process.stdin is not None
                process.stdin.close()

    @property
    def variables(self) -> dict[str, str]:
        """What a process in it finds around it."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        path = f"{self.vyre.parent}:{self.site}"
        return {**kept, "PYTHONPATH": path, "VYRE_CACHE_DIR": str(self.folder / "cache")}

    def stamp(
        self,
        before: str = "",
        environment: dict[str, str] | None = None,
        paths: tuple[str, ...] = (),
    ) -> str:
        """The stamp that a process computes which runs `before` first."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-B", "-c", SERVER],
                env=self.variables,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        asked = {"before": before, "environment": environment or {}, "paths": paths}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline().strip()
        assert len(said) == 48, said
        return said

    # --- changes, which `restore` takes back ------------------------------------------------------

    def write(self, path: Path, text: str) -> None:
        """Write a file where one was or not."""
        if path.exists():
            before, times = path.read_bytes(), path.stat()

            def undo() -> None:
                path.write_bytes(before)
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

            self._undo.append(undo)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._undo.append(path.unlink)
        path.write_text(dedent(text))

    def replace(self, path: Path, old: str, new: str) -> None:
        """Edit a file."""
        text = path.read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def append(self, path: Path, text: str) -> None:
        """Add to a file."""
        self.write(path, path.read_text() + text)

    def rename(self, path: Path, to: Path) -> None:
        """Rename a file or a folder."""
        path.rename(to)
        self._undo.append(lambda: to.rename(path))

    def remove(self, path: Path) -> None:
        """Take a file or a folder away."""
        self.rename(path, self.folder / f"away-{len(self._undo)}")

    def restore(self) -> None:
        """Take all changes back."""
        while self._undo:
            self._undo.pop()()
