"""What keys depend on and what not, as tables: a name, and how to change it.

`STAMPED` and `NOT_STAMPED` are about the code, in an environment of its own. `KEYED` and
`NOT_KEYED` are about a program, what was asked for, and the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cache.environment import Environment
from vyre.backends.llvm import host
from vyre.backends.llvm.backend import CpuBackend
from vyre.backends.llvm.backend import _target as cpu_target
from vyre.config import config
from vyre.driver import routing
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.driver.routing import Route
from vyre.ir import BufferDecl, BufferHints, DataType, Expr, Node, Program
from vyre.runtime import compiling
from vyre.target import Feature, Target

# --- the code -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """What to ask the process for after a change."""

    before: str = ""
    environment: Mapping[str, str] | None = None
    paths: tuple[str, ...] = ()


Change = Callable[[Environment], Changed | None]


def _same_size_and_time(e: Environment) -> Changed:
    """An edit that only the time of the last change of anything gives away."""
    path = e.vyre / "opt" / "passes" / "dce.py"
    noted = "sources._YOUNG_NS = -1 << 62"
    e.stamp(noted)  # what is in the files is noted now, however young they are
    times = path.stat()
    e.replace(path, "Dce", "dCE")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    return Changed(noted)


def _another_llvmlite_first(e: Environment) -> Changed:
    e.write(e.folder / "first" / "llvmlite" / "__init__.py", "")
    e.write(e.folder / "first" / "llvmlite" / "binding" / "lib.so", "another")
    return Changed(paths=(str(e.folder / "first"),))


def _library_without_a_list(e: Environment) -> Changed:
    """Of the same size, written at the same time, and nothing says what is in it."""
    e.remove(e.site / "llvmlite-1.0.dist-info" / "RECORD")
    library = e.site / "llvmlite" / "binding" / "lib.so"
    times = library.stat()
    first = e.stamp()
    e.write(library, "LLVMLITE")
    os.utime(library, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert e.stamp() != first
    return Changed()


def _a_pass_more(e: Environment) -> None:
    e.write(e.site / "more.py", "class More: ...")
    e.write(e.site / "more-1.dist-info" / "entry_points.txt", "[vyre.passes]\nmore = more:More\n")


def _editable(e: Environment) -> Changed:
    """A package whose sources lie elsewhere, edited there."""
    source = e.folder / "checkout" / "editable" / "__init__.py"
    e.write(source, "x = 1")
    point = "[vyre.passes]\nedited = editable:Edited\n"
    e.write(e.site / "editable-1.dist-info" / "entry_points.txt", point)
    paths = (str(e.folder / "checkout"),)
    first = e.stamp(paths=paths)
    e.write(source, "x = 2")
    assert e.stamp(paths=paths) != first
    return Changed(paths=paths)


def _shared_name(e: Environment) -> Changed | None:
    """A package that several distributions are parts of, without a file of its own."""
    source = e.site / "shared" / "part" / "__init__.py"
    e.write(source, "x = 1")
    point = "[vyre.backends]\npart = shared.part:backend\n"
    e.write(e.site / "part-1.dist-info" / "entry_points.txt", point)
    first = e.stamp()
    e.write(source, "x = 2")
    assert e.stamp() != first
    return None


def _site(path: str, text: str) -> Change:
    return lambda e: e.append(e.site / path, text)


def _vyre(path: str, text: str = "\n") -> Change:
    return lambda e: e.append(e.vyre / path, text)


STAMPED: dict[str, Change] = {
    "a pass of vyre edited": lambda e: e.replace(e.vyre / "opt/passes/dce.py", "Dce", "Dcf"),
    "and nothing else of it changed": _same_size_and_time,
    "the front end edited": _vyre("front/statements.py"),
    "code generation edited": _vyre("backends/llvm/emit/module.py"),
    "the native runtime edited": _vyre("backends/llvm/native/pool.ll"),
    "the prelude of WGSL edited": _vyre("backends/wgsl/prelude/float.wgsl"),
    "the cache itself edited": _vyre("cache/disk.py"),
    "a file of vyre more": lambda e: e.write(e.vyre / "opt/passes/new.py", ""),
    "a file of vyre less": lambda e: e.remove(e.vyre / "opt/passes/dce.py"),
    "a file of vyre renamed": lambda e: e.rename(
        e.vyre / "opt/passes/dce.py", e.vyre / "opt/passes/dcf.py"
    ),
    "another's pass more": _a_pass_more,
    "another's pass less": lambda e: e.remove(e.site / "own_passes-1.0.dist-info"),
    "another's pass left out": lambda e: Changed(environment={"VYRE_WITHOUT": "other_number"}),
    "another's pass edited": lambda e: e.replace(e.site / "own_passes/one.py", "2", "3"),
    "what another's pass uses edited": _site("own_passes/deep/helper.py", "y = 1"),
    "data of another's pass": lambda e: e.replace(e.site / "own_passes/deep/table.json", "1", "2"),
    "more data of another's pass": lambda e: e.write(e.site / "own_passes/more", "x"),
    "the list of files of another's pass": _site("own_passes-1.0.dist-info/RECORD", "\nx,,"),
    "another version of another's pass": lambda e: e.rename(
        e.site / "own_passes-1.0.dist-info", e.site / "own_passes-1.1.dist-info"
    ),
    "which class another's pass is": lambda e: e.replace(
        e.site / "own_passes-1.0.dist-info/entry_points.txt", ":OtherNumber", ":Other"
    ),
    "the sources of an editable package": _editable,
    "a part of a shared package": _shared_name,
    "another's backend less": lambda e: e.remove(e.site / "own_backend-1.0.dist-info"),
    "another's backend edited": _site("own_backend/__init__.py", "x = 1"),
    "another's backend gone": lambda e: e.remove(e.site / "own_backend"),
    "the library of llvmlite": _site("llvmlite/binding/lib.so", "more"),
    "the library of llvmlite, unlisted": _library_without_a_list,
    "the list of files of llvmlite": _site("llvmlite-1.0.dist-info/RECORD", "\nx,,"),
    "the version of llvmlite": lambda e: e.rename(
        e.site / "llvmlite-1.0.dist-info", e.site / "llvmlite-2.0.dist-info"
    ),
    "another llvmlite earlier on the path": _another_llvmlite_first,
    "no llvmlite": lambda e: e.remove(e.site / "llvmlite"),
    "the version of numpy": lambda e: e.rename(
        e.site / "numpy-1.0.dist-info", e.site / "numpy-2.0.dist-info"
    ),
    "the version of wgpu": lambda e: e.rename(
        e.site / "wgpu-1.0.dist-info", e.site / "wgpu-2.0.dist-info"
    ),
    "the library of wgpu": _site("wgpu/resources/lib.so", "more"),
    "the version of Python": lambda e: Changed("import sys; sys.version = '4.0'"),
    "the C library": lambda e: Changed("stamp.os.confstr = lambda name: 'glibc 3'"),
    "the version of vyre": lambda e: Changed("stamp.vyre_version = lambda: '9'"),
}


def _moved(e: Environment) -> Changed:
    """The same vyre in another place."""
    e.rename(e.vyre, e.folder / "moved")
    return Changed(f"stamp._FOLDER = {str(e.folder / 'moved')!r}")


def _touched(e: Environment) -> None:
    for path in (*e.vyre.rglob("*.py"), *e.site.rglob("own_*/*.py")):
        os.utime(path)


NOT_STAMPED: dict[str, Change] = {
    "nothing": lambda e: None,
    "the times of files": _touched,
    "their permissions": lambda e: (e.vyre / "config.py").chmod(0o600),
    "the place of vyre": _moved,
    "the command line": _vyre("cli/devices.py"),
    "byte code": lambda e: e.write(e.vyre / "__pycache__" / "x.py", "x"),
    "what is hidden": lambda e: e.write(e.vyre / "opt" / ".#dce.py", "x"),
    "other files in the folder": lambda e: e.write(e.vyre / "notes.txt", "x"),
    "what a package writes beside its code": _site("own_passes/notes.log", "x"),
    "packages that do not extend vyre": lambda e: e.write(
        e.site / "other-1.dist-info" / "entry_points.txt", "[console_scripts]\nx = y:z\n"
    ),
    "other settings": lambda e: Changed(
        environment={
            "VYRE_THREADS": "3",
            "VYRE_CHECK": "1",
            "VYRE_POOL_BYTES": "0",
            "VYRE_DEVICE": "reference",
            "VYRE_REPRODUCERS": "/tmp/x",
            "VYRE_CACHE_BYTES": "0",
            "VYRE_WITHOUT": "no_such_pass",
            "LANG": "de_DE.UTF-8",
            "HOME": "/",
        }
    ),
    "the order in which files are found": lambda e: Changed(
        "right = sources.os.scandir\n"
        "class Backwards(list):\n"
        "    __enter__ = lambda self: self\n"
        "    __exit__ = lambda self, *_: None\n"
        "sources.os.scandir = lambda folder: Backwards(reversed(list(right(folder))))"
    ),
    "whether the contents were noted": lambda e: Changed("sources._YOUNG_NS = -1 << 62"),
}


def stamp_after(environment: Environment, change: Change, plant: str = "") -> str:
    """The stamp after a change, which is taken back."""
    try:
        asked = change(environment) or Changed()
        before = "\n".join([plant, asked.before])
        return environment.stamp(before, dict(asked.environment or {}), asked.paths)
    finally:
        environment.restore()


# --- a program, and what was asked for ------------------------------------------------------------


def program(
    *,
    number: Any = 1.0,
    dtype: DataType = DataType.F32,
    count: int = 0,
    workgroup: tuple[int, int, int] = (64, 1, 1),
    fast_math: bool = False,
    name: str | None = "keys.program",
    hints: BufferHints | None = None,
    output: bool = False,
) -> Program:
    """A program of which everything can be changed."""
    make = BufferDecl.output if output else BufferDecl.read_write
    decl = replace(make("x", 0, dtype), count=count, hints=hints or BufferHints())
    value = Expr.load("x", Expr.gid(0)) + Expr.lit(number, dtype)
    store = Node.store("x", Expr.gid(0), value)
    return Program.wrapped([decl], workgroup, [store], entry_op_id=name, fast_math=fast_math)


@dataclass(frozen=True)
class World:
    """All that a key of a compiled program is made of, or that is around when it is made."""

    program: Program
    target: Target
    route: Route
    options: CompileOptions
    hot: bool = False

    def key(self) -> str:
        return compiling.entry_key(
            self.program, self.route, self.target, self.options, hot=self.hot
        )


def world() -> World:
    route = routing.choose("cpu")
    return World(program(), route.backend.target(route.device), route, CompileOptions())


Worlds = Callable[[World, pytest.MonkeyPatch], World]


def _with_program(**changes: Any) -> Worlds:
    return lambda w, patch: replace(w, program=program(**changes))


def _with_options(**changes: Any) -> Worlds:
    return lambda w, patch: replace(w, options=replace(w.options, **changes))


def _with_target(**changes: Any) -> Worlds:
    return lambda w, patch: replace(w, target=replace(w.target, **changes))


def _with_cpu(setting: str | None, described: str | None) -> Worlds:
    """A CPU of another kind, or one that is not asked for all that it can do."""

    def change(w: World, patch: pytest.MonkeyPatch) -> World:
        if setting is not None:
            patch.setenv("VYRE_CPU", setting)
        if described is not None:
            patch.setattr(host, "_cpu_description", lambda: described)
        host.fingerprint.cache_clear()
        cpu_target.cache_clear()
        try:
            return replace(w, target=w.route.backend.target(w.route.device))
        finally:
            patch.undo()
            host.fingerprint.cache_clear()
            cpu_target.cache_clear()

    return change


def _with_setting(name: str, value: str) -> Worlds:
    def change(w: World, patch: pytest.MonkeyPatch) -> World:
        patch.setenv(name, value)
        config.cache_clear()
        routing.choose.cache.clear()
        return replace(world(), program=program())

    return change


def _with_code(w: World, patch: pytest.MonkeyPatch) -> World:
    patch.setattr(compiling, "code_stamp", lambda: "another")
    return w


class ElsewhereBackend(CpuBackend):
    """The same under the same name, from another package."""


def _from_elsewhere(w: World, patch: pytest.MonkeyPatch) -> World:
    return replace(w, route=Route(ElsewhereBackend(), w.route.device, ""))


def _under_another_name(w: World, patch: pytest.MonkeyPatch) -> World:
    backend = CpuBackend()
    backend.name = "other"
    return replace(w, route=Route(backend, w.route.device, ""))


def _in_another_folder(w: World, patch: pytest.MonkeyPatch) -> World:
    patch.chdir(Path(__file__).parent)
    return w


KEYED: dict[str, Worlds] = {
    "a number": _with_program(number=2.0),
    "zero": _with_program(number=0.0),
    "zero with a sign": _with_program(number=-0.0),
    "a number of another type": _with_program(number=1, dtype=DataType.U32),
    "how many elements a buffer has": _with_program(count=64),
    "how many elements a buffer has, again": _with_program(count=65),
    "what a buffer is": _with_program(output=True),
    "advice on a buffer": _with_program(hints=BufferHints(preferred_alignment=64)),
    "the size of workgroups": _with_program(workgroup=(128, 1, 1)),
    "the shape of workgroups": _with_program(workgroup=(1, 64, 1)),
    "fast arithmetic": _with_program(fast_math=True),
    "the program's name": _with_program(name="keys.other"),
    "no name": _with_program(name=None),
    "the profile": _with_options(profile="debug"),
    "no profile": _with_options(profile=None),
    "checks after every pass": _with_options(verify=True),
    "the tier": _with_options(emit=EmitOptions("full")),
    "an option": _with_options(emit=EmitOptions(values={"a": "1", "b": "2"})),
    "options that look alike": _with_options(emit=EmitOptions(values={"a": "1,b=2"})),
    "features": lambda w, patch: replace(
        w, target=replace(w.target, features=w.target.features - {Feature.F16})
    ),
    "limits": lambda w, patch: replace(
        w, target=replace(w.target, limits=replace(w.target.limits, max_local_bytes=1))
    ),
    "the width of subgroups": _with_target(subgroup_width=8),
    "the version of a code generator": _with_target(details=(("version", "2"),)),
    "the name of the target": _with_target(name="other"),
    "a CPU of another kind": _with_cpu(None, "flags: sse avx"),
    "a CPU of a third kind": _with_cpu(None, "flags: sse"),
    "code for any CPU": _with_cpu("generic", None),
    "the name of the backend": _under_another_name,
    "where the backend comes from": _from_elsewhere,
    "that it is hot": lambda w, patch: replace(w, hot=True),
    "the code": _with_code,
}
"""Each gives a key that no other row gives."""

NOT_KEYED: dict[str, Worlds] = {
    "nothing": lambda w, patch: w,
    "another object that is the same program": _with_program(),
    "how many threads there are": _with_setting("VYRE_THREADS", "7"),
    "whether results are checked": _with_setting("VYRE_CHECK", "1"),
    "how much memory is kept": _with_setting("VYRE_POOL_BYTES", "1"),
    "where the cache is": _with_setting("VYRE_CACHE_DIR", "/nowhere"),
    "how large the cache may grow": _with_setting("VYRE_CACHE_BYTES", "1000"),
    "where reproducers go": _with_setting("VYRE_REPRODUCERS", "/nowhere"),
    "the device when none is named": _with_setting("VYRE_DEVICE", "reference"),
    "where a process was started": _in_another_folder,
}


def key_after(change: Worlds, patch: pytest.MonkeyPatch) -> str:
    """The key after a change, which is taken back."""
    try:
        return change(world(), patch).key()
    finally:
        patch.undo()
        config.cache_clear()
        routing.choose.cache.clear()
