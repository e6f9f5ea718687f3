"""The fingerprint of the compiler: part of the key of every cache entry.

It holds what vyre consists of, what every package consists of that brings a pass or a backend, and
which llvmlite, numpy, wgpu, Python and C library they work with. Of a vyre that was installed, the
list of files says what it consists of; one that is worked on is looked at file by file. A process
whose files are no longer those that it was started with shares nothing with others: which of its
modules are the old ones is unknown.
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from importlib.util import find_spec

from vyre.cache.listings import EVERY_FILE
from vyre.cache.sources import Files
from vyre.config import IMPORTED_NS, vyre_version
from vyre.digests import blake2b
from vyre.extensions import extensions
from vyre.installed import GROUPS, Extension, installed
from vyre.signals import is_from_handler

_FOLDER = os.path.dirname(os.path.dirname(__file__))
_SOURCES = (".py", ".pyc", ".ll", ".wgsl")
_THIS_FILE = b"\nvyre/cache/compiler_fingerprint.py,sha256="
_ABOVE = frozenset({"cli", "conform", "examples"})
"""Layers above the runtime, which decide nothing about compiled programs."""
_LIBRARIES = {"llvmlite": "binding", "wgpu": "resources", "numpy": ""}
"""Packages that vyre compiles with, and the folder of each that holds its shared library."""
_TICK_NS = 20_000_000
"""How far the times of files may be behind the clock."""


def code_stamp() -> str:
    """All code that decides about what is kept for later processes."""
    return _stamp(tuple(sys.path), _registered())[0]


def is_still_the_code() -> bool:
    """Whether files are what they were when the stamp was made, as far as modules came from them.

    What was made by other code must not be kept under this stamp.
    """
    loaded = len(sys.modules)
    if _checked.loaded != loaded:
        _checked.loaded = loaded
        registered = _registered()
        _, signature = _stamp(tuple(sys.path), registered)
        _checked.holds = _checked.holds and _own_files(registered).signature() == signature
    return _checked.holds


class _Checked:
    """How many modules there were when files were last compared with the stamp."""

    loaded = 0
    holds = True


_checked = _Checked()


def _registered() -> tuple[Extension, ...]:
    return tuple(each for group in GROUPS for each in extensions(group))


@lru_cache(maxsize=4)
def _stamp(paths: tuple[str, ...], registered: tuple[Extension, ...]) -> tuple[str, str]:
    """The stamp, and the signature of files, to see later whether they are still the same."""
    files = _own_files(registered)
    libraries = {name: _library(name, folder, paths) for name, folder in _LIBRARIES.items()}
    parts = [
        vyre_version(),
        sys.version,
        _c_library(),
        *(f"{each.group} {each.name} = {each.value}" for each in registered),
        *(f"{name} {found}" for name, found in libraries.items()),
    ]
    is_known = files.are_all and files.changed_ns <= IMPORTED_NS - _TICK_NS
    parts.append(_contents(files) if is_known else _of_its_own())
    digest = blake2b("\0".join(parts).encode(), digest_size=24)
    return digest.hexdigest(), files.signature()


def _contents(files: Files) -> str:
    try:
        return files.digest()
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return _of_its_own()


def _of_its_own() -> str:
    """What no other process has."""
    return os.urandom(16).hex()


def _own_files(registered: tuple[Extension, ...]) -> Files:
    """The files of vyre, and of the packages that extend it."""
    files = Files()
    is_frozen = getattr(sys, "frozen", False)
    if is_frozen:  # all modules are in one file, and the rest may be
        files.add("program", sys.executable)
    record = _list_of_files()
    if record:
        files.add("vyre/RECORD", record)
    elif not is_frozen or os.path.isdir(_FOLDER):
        files.add_tree("vyre", _FOLDER, _SOURCES, _ABOVE)
    for metadata in sorted({each.metadata for each in registered if each.metadata}):
        files.add(f"{os.path.basename(metadata)}/RECORD", os.path.join(metadata, "RECORD"))
    for module in sorted({each.module for each in registered}):
        _add_package(files, module)
    return files


def _list_of_files() -> str:
    """The file in which an installer noted every file of this vyre and its digest.

    There is none for a vyre that is run from where it is worked on.
    """
    metadata = installed(tuple(sys.path)).metadata.get("vyre", "")
    record = os.path.join(metadata, "RECORD")
    if not metadata or os.path.dirname(metadata) != os.path.dirname(_FOLDER):
        return ""
    try:
        with open(record, "rb", buffering=0) as file:
            return record if _THIS_FILE in file.readall() else ""
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return ""


def _add_package(files: Files, module: str) -> None:
    """The whole package that a module is part of, without importing it."""
    name, *inner = module.split(".")
    try:
        spec = find_spec(name)
    except (ImportError, ValueError) as problem:  # broken, or a script that is being run
        if is_from_handler(problem):
            raise
        spec = None
    if spec is None:
        files.add(name, getattr(sys.modules.get(name), "__file__", None) or "")
    elif spec.submodule_search_locations is None:
        files.add(name, spec.origin or "")
    else:
        # Of a package that several distributions share, only the part that is named.
        part = inner[:1] if spec.origin is None else []
        for folder in spec.submodule_search_locations:
            path = os.path.join(folder, *part)
            if os.path.isfile(path + ".py"):
                files.add(".".join([name, *part]), path + ".py")
            elif os.path.exists(folder):
                files.add_tree(".".join([name, *part]), path, EVERY_FILE)


@cache
def backend_stamp(module: str) -> str:
    """Where a backend comes from: what its class consists of, if no package registers that."""
    if module.split(".")[0] == "vyre":
        return module
    files = Files()
    _add_package(files, module)
    try:
        return f"{module} {files.digest() if files.changed_ns else _of_its_own()}"
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return f"{module} {_of_its_own()}"


def _c_library() -> str:
    """The C library, whose mathematics constants may have been computed with."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError) as problem:
        if is_from_handler(problem):
            raise
        return ""


def _library(name: str, folder: str, paths: tuple[str, ...]) -> str:
    """A package that vyre compiles with: its version, its list of files, its shared library."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    package = os.path.dirname(spec.origin)
    metadata = installed(paths).metadata.get(name, "")
    if os.path.dirname(metadata) != os.path.dirname(package):
        metadata = ""  # of another one, which this one hides
    record = os.path.join(metadata, "RECORD") if metadata else ""
    found = [os.path.basename(metadata), _status(spec.origin)]
    if not folder:
        return " ".join([*found, _status(record)])
    libraries = _shared_libraries(os.path.join(package, folder))
    try:
        with open(record, "rb", buffering=0) as file:
            listed = blake2b(file.readall(), digest_size=24).hexdigest()
        return " ".join([*found, *map(_status, libraries), listed])
    except OSError as problem:
        if is_from_handler(problem):
            raise
        # Without a list of files that holds its digest, the library itself is read, once.
        files = Files()
        files.add_tree(name, package, (".py",))
        for library in libraries:
            files.add(os.path.basename(library), library)
        return " ".join([*found, files.digest()])


def _shared_libraries(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return []
    endings = (".so", ".dylib", ".dll", ".pyd")
    return sorted(os.path.join(folder, name) for name in names if name.endswith(endings))


def _status(path: str) -> str:
    """The size of a file, and when it was written."""
    try:
        status = os.stat(path)
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return "none"
    return f"{status.st_size}.{status.st_mtime_ns}"
