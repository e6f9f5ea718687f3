"""Type inference restarted locally: repeat one subtree until its types are stable.

A call of a device function and an iteration of an unrolled loop have variables of their own. If
translating such a subtree learns types of these variables only, restarting the whole translation
would reproduce everything before the subtree unchanged. So the state is rolled back to the
checkpoint at the start of the subtree, and the subtree alone is translated again until nothing new
is learned (a fixed point). The result is that of restarts from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeVar

from vyre.front.context import Context, Frame, LoopVariableLeft, Restart, Variable
from vyre.front.values import Key, Scalar, Several

R = TypeVar("R")


def apart(ctx: Context, path: Key, translate: Callable[[], R]) -> R:
    """What `translate` gives, which translates the part whose keys begin with `path`."""
    if path in ctx.entered:
        # Translated a second time, as a condition may be: what is learned now matters to the first.
        return translate()
    ctx.entered.add(path)
    state = _State(ctx)
    while True:
        known = ctx.knows()
        try:
            made = translate()
        except Restart:
            changed = ctx.changed()
            if not changed or not all(_is_within(key, path) for key in changed):
                raise
            state.put_back(ctx)
            ctx.settle(changed)
            continue
        if ctx.knows() != known and not _is_alive(ctx, path, made):
            # Types that turned out to be as assumed; nothing outside can change them any more.
            ctx.settle([key for key in ctx.changed() if _is_within(key, path)])
        return made


def _is_within(key: Key, path: Key) -> bool:
    return key[: len(path)] == path


def _is_alive(ctx: Context, path: Key, made: object) -> bool:
    """Whether something that can still be used has a type that the part assumed."""
    return any(
        _is_within(key, path)
        for value in (made, *ctx.frame.names.values())
        for key in _open_keys(value)
    )


def _open_keys(value: object) -> Iterator[Key]:
    """Keys of the variables whose type the type of a value depends on."""
    match value:
        case Scalar():
            yield from value.soft
        case Several(items):
            for item in items:
                yield from _open_keys(item)
        case Variable():
            yield from value.soft
            for inside in (value.stands_for, *(value.members or ())):
                yield from _open_keys(inside)
        case LoopVariableLeft(before):
            yield from _open_keys(before)
        case _:
            return


class _State:
    """What a part of a translation changes, as it was before."""

    def __init__(self, ctx: Context) -> None:
        self._lengths = [len(one) for one in _grown(ctx)]
        self._taken, self._entered = set(ctx.taken), set(ctx.entered)
        self._facts, self._limit = ctx.facts.state(), ctx.extents_below
        frame = ctx.frame
        self._names, self._assigned = dict(frame.names), set(frame.assigned)
        self._homes, self._path = frame.homes, frame.path
        self._variables = [(one, replace(one)) for one in _variables(frame)]

    def put_back(self, ctx: Context) -> None:
        """Forget everything since; `ctx` is in the same function and block again."""
        for one, length in zip(_grown(ctx), self._lengths, strict=True):
            del one[length:]
        ctx.taken, ctx.entered = set(self._taken), set(self._entered)
        ctx.facts.put_back(self._facts)
        ctx.extents_below = self._limit
        frame = ctx.frame
        frame.names, frame.assigned = dict(self._names), set(self._assigned)
        frame.homes, frame.path = self._homes, self._path
        for variable, before in self._variables:
            for field in fields(Variable):
                setattr(variable, field.name, getattr(before, field.name))


def _grown(ctx: Context) -> tuple[list[object], ...]:
    """Lists to whose ends a translation adds."""
    return ctx.body, ctx.buffers, ctx.spans, ctx.problems, ctx.frame.loops  # pyright: ignore[reportReturnType]


def _variables(frame: Frame) -> Iterator[Variable]:
    for found in (*frame.names.values(), frame.result.variable):
        yield from _and_members(found.before if isinstance(found, LoopVariableLeft) else found)


def _and_members(found: object) -> Iterator[Variable]:
    if isinstance(found, Variable):
        yield found
        for member in found.members or ():
            yield from _and_members(member)
