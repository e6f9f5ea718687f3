"""Data classes that cost little to define.

`@dataclass` here means what it means in the standard library, whose version compiles six methods
for every class as it is defined: a millisecond each, a third of the time in which a process starts
and compiles its first program. Here a method is made when it is first used, most are never, and a
constructor is written when a class turns out to have many instances.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """A data class; the options are the standard library's."""
        if cls is None:
            return lambda cls: _define(cls, **options)
        return _define(cls, **options)


def _define(
    cls: type[T],
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    init: bool = True,
    weakref_slot: bool = False,
) -> type[T]:
    own = cls.__dict__
    kinds: dict[str, str] = own.get("__annotations__", {})
    specs = {
        name: own.get(name, MISSING)
        for name, kind in kinds.items()
        if not kind.startswith("ClassVar")
    }
    every: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        every |= base.__dict__.get(_SPECS, {})
    every |= specs
    contents: dict[str, Any] = {
        _SPECS: every,
        "__dataclass_fields__": Later(_fields),
        "__dataclass_params__": Later(_parameters),
        "__match_args__": tuple(name for name, spec in every.items() if _is(spec, "init")),
    }
    if init:
        contents["__init__"] = _constructor(frozen=frozen)
    if weakref_slot:
        contents["__slots__"] = (*specs, "__weakref__")
    if "__repr__" not in own:
        contents["__repr__"] = _show
    if eq and "__eq__" not in own:
        contents["__eq__"] = Later(_equality)
    if eq and "__hash__" not in own:
        contents["__hash__"] = Later(_hashing) if frozen else None
    if frozen:
        contents |= _FROZEN
    return _slotted(cls, specs, contents) if slots else _open(cls, specs, contents)


_SPECS = "__record__"
"""Fields in order, each with its default, `MISSING`, or what `field` gave."""


def _specs(owner: type) -> dict[str, Any]:
    return getattr(owner, _SPECS)


def _is(spec: object, role: str) -> bool:
    """Whether a field takes part in something: `init`, `repr`, `compare`."""
    return not isinstance(spec, Field) or bool(getattr(cast("Any", spec), role))


def _slotted(cls: type[T], specs: dict[str, Any], more: dict[str, Any]) -> type[T]:
    """The class once more, with slots: they cannot be added to one that is there."""
    contents = {name: value for name, value in cls.__dict__.items() if name not in specs}
    contents.pop("__dict__", None)
    contents.pop("__weakref__", None)
    contents |= more
    contents.setdefault("__slots__", tuple(specs))
    contents["__qualname__"] = cls.__qualname__
    return cast("type[T]", type(cls)(cls.__name__, cls.__bases__, contents))


def _open(cls: type[T], specs: dict[str, Any], more: dict[str, Any]) -> type[T]:
    for name, spec in specs.items():
        if isinstance(spec, Field):
            delattr(cls, name)
    for name, value in more.items():
        setattr(cls, name, value)
        if isinstance(value, (Later, Constructor)):
            value.__set_name__(cls, name)
    return cls


class Later:
    """Part of a class that is made when it is first looked up, and then takes this one's place."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, make: Callable[[type], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
        return getattr(self._owner if instance is None else instance, self._name)


def _fields(owner: type) -> Any:
    """What `dataclasses.fields` looks at, made by the standard library from a class like it."""
    return _like(owner).__dataclass_fields__


def _parameters(owner: type) -> Any:
    return _like(owner).__dataclass_params__


def _like(owner: type) -> Any:
    kinds = inspect.get_annotations(owner)
    contents = {n: s for n, s in _specs(owner).items() if n in kinds and s is not MISSING}
    # Without a text, the standard library would find out the signature of a constructor for it.
    contents |= {"__annotations__": kinds, "__module__": owner.__module__, "__doc__": ""}
    like = type(owner)(owner.__name__, owner.__bases__, contents)
    return dataclasses.dataclass(init=False, repr=False, eq=False)(like)


# --- constructors ---------------------------------------------------------------------------------

_FEW = 16
"""Instances up to here are filled field by field: writing a constructor takes as long as this."""

_set_always = object.__setattr__


def _constructor(*, frozen: bool) -> Constructor:
    if frozen:
        return Constructor(_set_always, _write_frozen)
    return Constructor(setattr, _write_open)


class Constructor:
    """`__init__` of a class until it is known to have many instances."""

    __slots__ = ("_left", "_owner", "_put", "_write")

    def __init__(self, put: Callable[[Any, str, Any], None], write: Callable[[type], Any]) -> None:
        self._put = put
        self._write = write
        self._left = _FEW

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is not None and self._left > 0:
            self._left -= 1
            return partial(self._fill, instance)
        written = self._written()
        return written if instance is None else written.__get__(instance, owner)

    def _written(self) -> Any:
        """The constructor proper, which takes this one's place."""
        written = self._write(self._owner)
        setattr(self._owner, "__init__", written)  # noqa: B010
        return written

    def _fill(self, instance: Any, *args: object, **given: object) -> None:
        names: tuple[str, ...] = cast("Any", self._owner).__match_args__
        values: dict[str, object] = dict(zip(names, args, strict=False))
        if len(args) > len(names) or not values.keys().isdisjoint(given):
            return self._written()(instance, *args, **given)  # which says what is wrong
        values |= given
        put = self._put
        for name, spec in _specs(self._owner).items():
            value = values.pop(name, MISSING) if _is(spec, "init") else MISSING
            if value is MISSING:
                value = _default(spec)
            if value is not MISSING:
                put(instance, name, value)
            elif _is(spec, "init"):
                return self._written()(instance, *args, **given)
        if values:
            return self._written()(instance, *args, **given)
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()
        return None


def _default(spec: Any) -> Any:
    default, make = _defaults(spec)
    if make is not MISSING:
        return make()
    return default if _is(spec, "init") else MISSING


def _defaults(spec: Any) -> tuple[Any, Any]:
    """The default of a field, and what makes one; either may be missing."""
    if not isinstance(spec, Field):
        return spec, MISSING
    found = cast("Any", spec)
    return found.default, found.default_factory


class _Fresh:
    """The default of a field whose value is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FRESH = _Fresh()


def _write_frozen(owner: type) -> Any:
    return _written(owner, "set_(self, {0!r}, {0})")


def _write_open(owner: type) -> Any:
    return _written(owner, "self.{0} = {0}")


def _written(owner: type, assign: str) -> Any:
    """`__init__` for one class, straight-line."""
    space: dict[str, Any] = {"set_": _set_always, "FRESH": _FRESH}
    arguments: list[str] = []
    kinds: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        kinds |= inspect.get_annotations(base)
    annotations: dict[str, Any] = {}
    lines: list[str] = []
    for name, spec in _specs(owner).items():
        taken = _is(spec, "init")
        default, make = _defaults(spec)
        fresh = make is not MISSING
        if fresh:
            space[f"make_{name}"] = make
            condition = f"if {name} is FRESH: " if taken else ""
            lines.append(f"{condition}{name} = make_{name}()")
        if taken:
            space[f"default_{name}"] = _FRESH if fresh else default
            optional = fresh or default is not MISSING
            arguments.append(f"{name}=default_{name}" if optional else name)
            annotations[name] = kinds[name]
        if taken or fresh:
            lines.append(assign.format(name))
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n    ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(['self', *arguments])}):\n    {body}", space)
    made = _named(owner, space["__init__"], "__init__")
    made.__annotations__ = {**annotations, "return": None}
    return made


# --- the other methods ----------------------------------------------------------------------------


def _equality(owner: type) -> Any:
    values = _values(owner)

    def equal(self: object, other: object) -> bool:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return _named(owner, equal, "__eq__")


def _hashing(owner: type) -> Any:
    values = _values(owner)

    def hashed(self: object) -> int:
        return hash(values(self))

    return _named(owner, hashed, "__hash__")


def _values(owner: type) -> Callable[[object], tuple[object, ...]]:
    """What reads the compared fields of an instance."""
    names = [name for name, spec in _specs(owner).items() if _is(spec, "compare")]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _named(owner: type, function: Any, name: str) -> Any:
    function.__name__ = name
    function.__qualname__ = f"{owner.__qualname__}.{name}"
    function.__module__ = owner.__module__
    return function


def _show(self: object) -> str:
    fields = [name for name, spec in _specs(type(self)).items() if _is(spec, "repr")]
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
            _set_always(self, name, value)


_State = dict[str, object] | tuple[dict[str, object] | None, ...]
"""What `object.__getstate__` gives: the dictionary, or that and the slots."""

_FROZEN = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__setstate__": _restore,
}
