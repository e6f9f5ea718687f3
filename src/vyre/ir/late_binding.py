"""Functions of higher layers that lower layers call: declared here, implemented above.

Programs have methods that print, check and hash them: `str(program)`, `program.validate()`. These
are part of the public API, but their implementations (text, wire, check) import the language, so
that the language cannot import them. The runtime likewise compares results with the reference, and
the front end looks translations up in the cache. Each such function is declared below with its full
signature, so that callers are type-checked; `vyre/__init__.py` binds the declarations to
implementations, and the module of an implementation is imported at its first call.

Why no imports inside functions: the layer contract forbids them, rightly, because with them the
language could not be used without the rest. Why no imports at binding: the launch of a cached
kernel needs none of these modules, and importing them takes longer than the launch. Why a decorator
and no generic class: creating one costs a twentieth of the time that `import vyre` takes.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from vyre.diagnostics import Diagnostic
    from vyre.ir.expr import AnyExpr
    from vyre.ir.program import Program
    from vyre.ir.stmt import AnyStmt

    F = TypeVar("F", bound=Callable[..., Any])

declared: dict[str, Callable[..., Any]] = {}
"""All declarations by name."""
_targets: dict[str, str] = {}
_loaded: dict[str, Callable[..., Any]] = {}


def bind(**targets: str) -> None:
    """Set implementations, by name of declaration: `bind(validate="vyre.check:validate")`."""
    _targets.update(targets)
    for name in targets:
        _loaded.pop(name, None)


def implementation(name: str) -> Callable[..., Any]:
    """The function that a declaration is bound to, imported when it is first asked for."""
    function = _loaded.get(name)
    if function is None:
        module, _, attribute = _targets[name].partition(":")
        function = _loaded[name] = getattr(importlib.import_module(module), attribute)
    return function


def late(declaration: F) -> F:
    """A function with the signature of the declaration that calls the implementation."""
    name = declaration.__name__
    declared[name] = declaration

    def call(*args: object, **keywords: object) -> Any:
        return implementation(name)(*args, **keywords)

    return cast("F", call)


# --- text, wire format and checks -----------------------------------------------------------------


@late
def to_text(program: Program) -> str:
    """The text of a program."""
    ...


@late
def parse(source: str, file: str) -> Program:
    """The program that a text writes."""
    ...


@late
def statement_line(statement: AnyStmt) -> str:
    """The first line of a statement's text."""
    ...


@late
def expr_text(expr: AnyExpr) -> str:
    """The text of an expression."""
    ...


@late
def to_wire(program: Program) -> bytes:
    """A program in the wire format."""
    ...


@late
def from_wire(data: bytes) -> Program:
    """The program in wire data."""
    ...


@late
def digest(program: Program) -> str:
    """The digest of a program's wire format."""
    ...


@late
def check(program: Program, target: object) -> list[Diagnostic]:
    """All problems of a program."""
    ...


@late
def validate(program: Program, target: object) -> None:
    """Raise an error if a program has problems."""
    ...


# --- the reference --------------------------------------------------------------------------------


@late
def execute_reference(
    program: Program, inputs: Mapping[str, Any], grid: tuple[int, int, int], **options: Any
) -> Any:
    """Run a program on the reference interpreter."""
    ...


@late
def run_graph(
    graph: Any,
    inputs: Mapping[str, object],
    sizes: Mapping[str, int],
    device: str | None,
    deadline: float | None,
) -> dict[str, Any]:
    """Run the nodes of a graph of programs."""
    ...


@late
def tolerance(*, ulps: float) -> object:
    """How far a result may be from the reference."""
    ...


@late
def compare_outputs(
    program: Program,
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    tolerances: Mapping[str, Any],
) -> list[Any]:
    """The differences between outputs."""
    ...


# --- the translation cache ------------------------------------------------------------------------


@late
def cached_note(*key: str) -> dict[str, Any] | None:
    """What is noted of a function in the cache."""
    ...


@late
def store_note(note: dict[str, Any], *key: str) -> None:
    """Put a note of a function into the cache."""
    ...


@late
def cached_program(translate: Callable[[], Program], *key: str) -> Program | None:
    """The translation of a kernel in the cache; `translate` makes its statements if needed."""
    ...


@late
def store_program(program: Program, *key: str) -> None:
    """Put the translation of a kernel into the cache."""
    ...
