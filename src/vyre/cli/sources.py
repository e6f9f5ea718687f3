"""Programs named on the command line: `.vy` text, `.vyb` bytes, `module.py:kernel`."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, cast

from vyre.cli.command import UsageError
from vyre.cli.output import listing
from vyre.diagnostics import VyreError
from vyre.front import scalars
from vyre.front.scalars import ScalarType
from vyre.ir import Program
from vyre.pipelines.pipeline import Pipeline
from vyre.runtime.kernel import Kernel
from vyre.wire import load


def file_argument(
    parser: argparse.ArgumentParser, also: str = "", *, optional: bool = False
) -> None:
    """Declare the argument that names a program."""
    parser.add_argument(
        "file",
        nargs="?" if optional else None,
        metavar="FILE",
        help="a .vy or .vyb file, or module.py:kernel; with types and static values where the "
        f"kernel leaves them open: 'module.py:kernel(f32, n=4)'{also}",
    )


def device_argument(parser: argparse.ArgumentParser, default: str = "the best one") -> None:
    """Declare the option that names a device, and say which one is meant without it."""
    parser.add_argument(
        "--device", metavar="ID", help=f"a device that `vyre devices` lists (default: {default})"
    )


def program_from(name: str) -> Program:
    """The program that FILE names."""
    path, _, kernel = name.partition(".py:")
    if kernel:
        return _from_python(Path(f"{path}.py"), kernel)
    if name.endswith(".py"):
        raise UsageError(f"say which kernel of {name} is meant: {name}:KERNEL")
    if not name.endswith((".vy", ".vyb")):
        raise UsageError(f"{name} is neither a .vy nor a .vyb file, nor module.py:kernel")
    return load(name)


def program_or_pipeline(name: str) -> Program | Pipeline[..., Any]:
    """The program or the pipeline that FILE names."""
    path, _, called = name.partition(".py:")
    if called:
        found = _named(Path(f"{path}.py"), _call(called)[0])
        if isinstance(found, Pipeline):
            return cast("Pipeline[..., Any]", found)
    return program_from(name)


def _from_python(path: Path, name: str) -> Program:
    name, args, kwargs = _call(name)
    found = _named(path, name)
    if isinstance(found, Program):
        return found
    if isinstance(found, Pipeline):
        raise UsageError(f"{name} in {path} is a pipeline: export writes it as a page, with --web")
    if not isinstance(found, Kernel):
        raise UsageError(f"{name} in {path} is neither a kernel nor a Program")
    return found.program(*args, **kwargs)


def _named(path: Path, name: str) -> object:
    """What a name of a Python file stands for."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    module = _imported(path)
    found = getattr(module, name, None)
    if found is None:
        names: dict[str, object] = module.__dict__
        kinds = (Program, Kernel, Pipeline)
        known = [key for key, value in names.items() if isinstance(value, kinds)]
        raise UsageError(f"{path} has nothing called {name}; there are {listing(known)}")
    return found


def _call(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """`kernel`, or `kernel(f32, n=4)`: the name, and what decides about an open kernel."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise UsageError(f"{text} is no kernel: write kernel, or 'kernel(f32, n=4)'") from None
    if isinstance(node, ast.Name):
        return node.id, [], {}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise UsageError(f"{text} is no kernel: write kernel, or 'kernel(f32, n=4)'")
    given = {str(one.arg): _value(one.value) for one in node.keywords}
    return node.func.id, [_value(one) for one in node.args], given


def _value(node: ast.expr) -> Any:
    """A type of vy by its name, or a constant."""
    if isinstance(node, ast.Name):
        types = {str(one): one for one in vars(scalars).values() if isinstance(one, ScalarType)}
        if node.id in types:
            return types[node.id]
        raise UsageError(f"{node.id} is no type; there are {listing(list(types))}")
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise UsageError(f"{ast.unparse(node)} is neither a type nor a constant") from None


def _imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.setdefault(path.stem, module)
    # The file may import what lies beside it, as when Python runs it; what it prints is no part
    # of the answer.
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except VyreError:
        raise
    except (Exception, SystemExit) as problem:  # the code is the user's and may raise anything
        if known is module:
            del sys.modules[path.stem]
        raise UsageError(_why_not(problem, path)) from problem
    finally:
        sys.path.remove(folder)
    return module


def _why_not(problem: BaseException, path: Path) -> str:
    """Why a file cannot be imported, with the innermost line of the user's own files."""
    if isinstance(problem, SyntaxError):
        return f"{path} is no Python: {problem.msg} at {problem.filename}:{problem.lineno}"
    own = path.parent.resolve()
    frames = traceback.extract_tb(problem.__traceback__)
    files = [(Path(one.filename), one.lineno) for one in frames]
    places = [f"{file.name}:{line}" for file, line in files if file.parent.resolve() == own]
    where = places[-1] if places else str(path)
    if isinstance(problem, SystemExit):
        return f"{path} ends Python at {where}; do so only under: if __name__ == '__main__'"
    return f"{path} cannot be imported: {type(problem).__name__}: {problem} at {where}"
