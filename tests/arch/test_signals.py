"""Whatever catches an exception lets those of signal handlers pass: they are for the caller.

A handler may run between any two instructions, and raise what it likes: `TimeoutError`, say, which
is an `OSError`, while a file is being read. `vyre.signals` tells them apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import vyre

SOURCE = Path(vyre.__file__).parent
# Programs of their own, in which vyre is called: what they catch is theirs.
PROGRAMS = {"cli", "conform", "examples"}
THREADS = {
    "backends/wgsl/adapters.py:ask",
    "interruptible.py:do",
    "runtime/compile_server/process.py:_ask",
    "runtime/compile_server/server.py:_read",
}
"""Functions that run in threads of vyre's own. Handlers run in the main thread only."""
RAISED = {"BaseException", "Exception", "KeyboardInterrupt", "SystemExit", "TimeoutError"} | {
    "OSError",
    "RuntimeError",
    "ValueError",
    "MemoryError",
}
"""What handlers raise on purpose. The others are exceptions of vyre, or say what came of a single
operation, as `KeyError` and `ZeroDivisionError` do."""


def is_raised(kind: ast.expr | None) -> bool:
    """Whether an `except` is for something that a handler may raise."""
    if isinstance(kind, ast.Tuple):
        return any(map(is_raised, kind.elts))
    name = "" if kind is None else ast.unparse(kind).rpartition(".")[2]
    return not name or name in RAISED or name.isupper()  # a name for several of them


def is_lookup(body: list[ast.stmt]) -> bool:
    """Whether nothing is called, so that no handler runs in between."""
    calls = (ast.Call, ast.For, ast.While, ast.With, ast.Import, ast.ImportFrom, ast.Yield)
    return not any(isinstance(node, calls) for each in body for node in ast.walk(each))


def lets_pass(handler: ast.ExceptHandler) -> bool:
    """Whether it raises what it caught: always, or first of all if a signal handler raised it."""
    first, last = handler.body[0], handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return True
    return (
        isinstance(first, ast.If)
        and "is_from_handler" in ast.unparse(first.test)
        and ast.unparse(first.body[-1]) == "raise"
    )


def trespassers(file: str, tree: ast.AST) -> Iterator[int]:
    """The lines of those that do not."""
    for node in walk(file, tree):
        if isinstance(node, ast.Try) and not is_lookup(node.body):
            for handler in node.handlers:
                if is_raised(handler.type) and not lets_pass(handler):
                    yield handler.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            yield from [node.lineno for kind in node.args if is_raised(kind)]


def walk(file: str, node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, but for functions that other threads run."""
    if isinstance(node, ast.FunctionDef) and f"{file}:{node.name}" in THREADS:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk(file, child)


def test_exceptions_of_signal_handlers_pass() -> None:
    found: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        catches = "except" in text or "suppress" in text
        if catches and file.partition("/")[0] not in PROGRAMS:
            found += [f"{file}:{line}" for line in trespassers(file, ast.parse(text))]
    assert found == []
