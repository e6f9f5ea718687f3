"""Data classes that cost little to define.

`@dataclass` here means what it means in the standard library, whose version compiles six methods
for every class as it is defined: a millisecond each, a third of the time in which a process starts
and compiles its first program. Here a method is written when it is first used. Most are never.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from typing import TYPE_CHECKING, Any, TypeVar, cast

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """A data class; the options are the standard library's."""
        if cls is None:
            return lambda cls: _define(cls, frozen=frozen, slots=slots, eq=eq)
        return _define(cls, frozen=frozen, slots=slots, eq=eq)


def _define(cls: type[T], *, frozen: bool, slots: bool, eq: bool) -> type[T]:
    own = cls.__dict__
    has_hash = "__hash__" in own
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    methods: dict[str, Any] = {"__init__": _Later(made, _constructor(frozen))}
    if "__repr__" not in own:
        methods["__repr__"] = _show
    if eq and "__eq__" not in own:
        methods["__eq__"] = _Later(made, _equality)
    if eq and frozen and not has_hash:
        methods["__hash__"] = _Later(made, _hashing)
    elif eq and not has_hash:
        methods["__hash__"] = None
    if frozen:
        methods |= _FROZEN
    for name, method in methods.items():
        setattr(made, name, method)
    return made


class _Later:
    """A method that is made when it is first looked up, and then takes this one's place."""

    __slots__ = ("_make", "_owner")

    def __init__(self, owner: type, make: Callable[[type], Any]) -> None:
        self._owner = owner
        self._make = make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._make(self._owner)
        setattr(self._owner, method.__name__, method)
        return method if instance is None else method.__get__(instance, owner)


def _constructor(frozen: bool) -> Callable[[type], Any]:
    return _frozen_constructor if frozen else _open_constructor


def _open_constructor(owner: type) -> Any:
    return _written_constructor(owner, "self.{0} = {0}")


def _frozen_constructor(owner: type) -> Any:
    return _written_constructor(owner, "set_(self, {0!r}, {0})")


class _Fresh:
    """The default of a field whose value is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FRESH = _Fresh()


def _written_constructor(owner: type, assign: str) -> Any:
    """`__init__` for one class, straight-line."""
    space: dict[str, Any] = {"set_": object.__setattr__, "FRESH": _FRESH}
    arguments: list[str] = []
    annotations: dict[str, Any] = {}
    lines: list[str] = []
    for field in _fields(owner):
        name = field.name
        fresh = field.default_factory is not MISSING
        if fresh:
            space[f"make_{name}"] = field.default_factory
            condition = f"if {name} is FRESH: " if field.init else ""
            lines.append(f"{condition}{name} = make_{name}()")
        if field.init:
            space[f"default_{name}"] = _FRESH if fresh else field.default
            optional = fresh or field.default is not MISSING
            arguments.append(f"{name}=default_{name}" if optional else name)
            annotations[name] = field.type
        if field.init or fresh:
            lines.append(assign.format(name))
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    made = _function(owner, f"__init__({', '.join(['self', *arguments])})", lines, space)
    made.__annotations__ = {**annotations, "return": None}
    return made


def _equality(owner: type) -> Any:
    mine, other = (_values(owner, whose) for whose in ("self", "other"))
    lines = [
        "if other.__class__ is self.__class__:",
        f"    return {mine} == {other}",
        "return NotImplemented",
    ]
    return _function(owner, "__eq__(self, other)", lines, {})


def _hashing(owner: type) -> Any:
    return _function(owner, "__hash__(self)", [f"return hash({_values(owner, 'self')})"], {})


def _values(owner: type, whose: str) -> str:
    """The compared fields of an instance as a tuple, in source text."""
    inner = "".join(f"{whose}.{field.name}, " for field in _fields(owner) if field.compare)
    return f"({inner.rstrip()})"


def _fields(owner: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cast("Any", owner))


def _function(owner: type, head: str, lines: list[str], space: dict[str, Any]) -> Any:
    body = "\n    ".join(lines or ["pass"])
    exec(f"def {head}:\n    {body}", space)
    made = space[head.partition("(")[0]]
    made.__qualname__ = f"{owner.__qualname__}.{made.__name__}"
    made.__module__ = owner.__module__
    return made


def _show(self: object) -> str:
    fields = [field.name for field in _fields(type(self)) if field.repr]
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
    return f"{type(self).__qualname__}({shown})"


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _restore(self: object, state: _State) -> None:
    """For copies and pickles, which would assign."""
    parts = state if isinstance(state, tuple) else (state,)
    for part in parts:
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


_State = dict[str, object] | tuple[dict[str, object] | None, ...]
"""What `object.__getstate__` gives: the dictionary, or that and the slots."""

_FROZEN = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__setstate__": _restore,
}
