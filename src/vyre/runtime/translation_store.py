"""Reads and writes translated kernels in the on-disk cache, for `vyre.front.translation_cache`.

A program is kept with what a launch asks about it, so that its statements are not even read unless
it has to be compiled again, shown or explained. Entries are sealed like those of compiled programs;
one that does not say what it should is as good as none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from vyre import ir
from vyre.analysis.coverage_types import (
    COVERAGE,
    Along,
    At,
    Coverage,
    Extent,
    Limit,
    Subscript,
    UpTo,
)
from vyre.analysis.default_grid.plan import PLAN, from_rows, plan_of, to_rows
from vyre.cache import cache_key, code_stamp, default_cache, is_still_the_code
from vyre.diagnostics import BuildError, FrontError, WireError
from vyre.driver.grid import indirect_dispatch, written_buffers
from vyre.front.extent_limit import LIMIT, extents_below
from vyre.opt.hot_paths import hint_keys
from vyre.runtime.kernel_outputs import coverage_of
from vyre.signals import is_from_handler

_WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, BuildError)
"""What reading an entry that says something else comes to."""


def note(*parts: str) -> dict[str, Any] | None:
    """What is noted under a name."""
    found = _find(parts)
    if found is None:
        return None
    try:
        read: object = json.loads(bytes(found))
    except ValueError as problem:
        if is_from_handler(problem):
            raise
        return None
    return cast("dict[str, Any]", read) if isinstance(read, dict) else None


def keep_note(said: dict[str, Any], *parts: str) -> None:
    """Note something under a name."""
    _keep(json.dumps(said).encode(), parts)


def program(translated: Callable[[], ir.Program], *parts: str) -> ir.Program | None:
    """The program that is kept under a name.

    `translated` makes it anew, with the places of its statements in the source.
    """
    found = _find(parts)
    if found is None:
        return None
    try:
        return _from_bytes(bytes(found), translated)
    except _WRONG as problem:
        if is_from_handler(problem):
            raise
        return None


def keep_program(made: ir.Program, *parts: str) -> None:
    """Keep a program under a name."""
    plain = all(decl.hints == ir.BufferHints() for decl in made.buffers)
    if not plain or indirect_dispatch(made) is not None or plan_of(made) is None:
        return
    try:
        body = _to_bytes(made)
    except WireError:
        return  # compiling it reports the error
    _keep(body, parts)


def _find(parts: tuple[str, ...]) -> memoryview | None:
    store = default_cache()
    return store.get(_key(parts)) if store.limit else None


def _keep(body: bytes, parts: tuple[str, ...]) -> None:
    store = default_cache()
    if store.limit and is_still_the_code():
        store.put(_key(parts), body)


def _key(parts: tuple[str, ...]) -> str:
    return cache_key("translation 3", code_stamp(), *parts)


def _to_bytes(made: ir.Program) -> bytes:
    head = {
        "digest": made.digest(),
        "buffers": [_decl_row(decl) for decl in made.buffers],
        "workgroup": made.workgroup_size,
        "id": made.entry_op_id,
        "fast_math": made.fast_math,
        "hint_keys": hint_keys(made),
        "grid": _plan_rows(made),
        "extents_below": extents_below(made),
        "written": written_buffers(made),
        "filled": {name: _filled_row(one) for name, one in coverage_of(made).items()},
    }
    data = json.dumps(head).encode()
    return len(data).to_bytes(4, "little") + data + made.to_wire()


def _from_bytes(data: bytes, translated: Callable[[], ir.Program]) -> ir.Program:
    start = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:start])
    digest = _text(head["digest"])
    filled: dict[str, Any] = head["filled"]
    known = {
        "digest": digest,
        "hint_keys": tuple(map(_text, head["hint_keys"])),
        PLAN: from_rows(head["grid"]),
        LIMIT: _number(head["extents_below"]),
        "indirect_dispatch": None,
        "driver.written": tuple(map(_text, head["written"])),
        COVERAGE: {_text(name): _filled(row) for name, row in filled.items()},
    }

    def make() -> ir.Body:
        return _entry(data[start:], digest, translated)

    return ir.Program.deferred(
        [_decl(row) for row in head["buffers"]],
        [_number(extent) for extent in head["workgroup"]],
        make,
        known,
        None if head["id"] is None else _text(head["id"]),
        head["fast_math"] is True,
    )


def _entry(wire: bytes, digest: str, translated: Callable[[], ir.Program]) -> ir.Body:
    """The statements; those that know their places in the source, if it still says the same."""
    try:
        found = translated()
    except FrontError:
        found = None
    if found is None or found.digest() != digest:
        found = ir.Program.from_wire(wire)
    return found.entry


def _plan_rows(made: ir.Program) -> object:
    plan = plan_of(made)
    assert plan is not None  # a kernel has one
    return to_rows(plan)


# --- rows -----------------------------------------------------------------------------------------


def _decl_row(decl: ir.BufferDecl) -> list[object]:
    flags = (decl.is_output, decl.is_pipeline_live_out, decl.has_initial_value)
    kinds = (decl.access.value, decl.kind.value, decl.element.spelling)
    return [decl.name, decl.binding, *kinds, decl.count, *flags]


def _decl(row: list[Any]) -> ir.BufferDecl:
    name, binding, access, kind, element, count, output, live_out, has_initial = row
    return ir.BufferDecl(
        _text(name),
        None if binding is None else _number(binding),
        ir.BufferAccess(access),
        ir.MemoryKind(kind),
        ir.DataType.parse(_text(element)),
        _number(count),
        output is True,
        live_out is True,
        has_initial is True,
    )


def _filled_row(filled: Coverage) -> list[object]:
    places: list[object] = []
    for place in filled.places:
        match place:
            case Along(axis):
                places.append(["along", axis])
            case At(number):
                places.append(["at", number])
            case UpTo(counter, end):
                places.append(["up to", counter, end])
    limits = [(one.axis, one.first, one.extent, one.margin) for one in filled.limits]
    return [places, filled.sizes, limits, sorted(filled.parts)]


def _filled(row: list[Any]) -> Coverage:
    places, sizes, limits, parts = row
    return Coverage(
        tuple(map(_place, places)),
        tuple(_number(size) if isinstance(size, int) else _extent(size) for size in sizes),
        tuple(
            Limit(_number(axis), _number(first), extent and _extent(extent), _number(margin))
            for axis, first, extent, margin in limits
        ),
        frozenset(tuple(map(_number, part)) for part in parts),
    )


def _place(row: list[Any]) -> Subscript:
    match row:
        case ["along", axis]:
            return Along(_number(axis))
        case ["at", number]:
            return At(_number(number))
        case ["up to", counter, end]:
            return UpTo(_text(counter), _extent(end))
        case _:
            raise ValueError(row)


def _extent(row: list[Any]) -> Extent:
    buffer, axis = row
    return _text(buffer), _number(axis)


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError(value)
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value
