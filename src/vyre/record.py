"""Data classes that cost little to define.

`@dataclass` here means what it means in the standard library, whose version compiles six methods
for every class as it is defined: a millisecond each, a third of the time in which a process starts
and compiles its first program. Here a method is made when it is first used, most are never, and
constructors of classes with fields of the same kinds share their code.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vyre.initializers import CODES

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
        contents["__init__"] = Later(_frozen if frozen else _open)
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
    return _slotted(cls, specs, contents) if slots else _extended(cls, specs, contents)


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
    made = type(cls)(cls.__name__, cls.__bases__, contents)
    settle(made, more)
    return cast("type[T]", made)


def _extended(cls: type[T], specs: dict[str, Any], more: dict[str, Any]) -> type[T]:
    for name, spec in specs.items():
        if isinstance(spec, Field):
            delattr(cls, name)
    for name, value in more.items():
        setattr(cls, name, value)
    settle(cls, more)
    return cls


def settle(owner: type, contents: dict[str, Any]) -> None:
    """Tell what is made later where it belongs.

    Not by `__set_name__`: what a signal handler raises there, Python 3.11 makes a `RuntimeError`.
    """
    for name, value in contents.items():
        if isinstance(value, Later):
            value.belong(owner, name)


class Later:
    """Part of a class that is made when it is first looked up, and then takes this one's place."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, make: Callable[[type], Any]) -> None:
        self._make = make

    def belong(self, owner: type, name: str) -> None:
        """Take this place of a class."""
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
    contents |= {"__annotations__": kinds, "__module__": owner.__module__, "__doc__": "."}
    like = type(owner)(owner.__name__, owner.__bases__, contents)
    return dataclasses.dataclass(init=False, repr=False, eq=False)(like)


# --- constructors ---------------------------------------------------------------------------------


class _Fresh:
    """The default of a field whose value is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FRESH = _Fresh()
_set_always = object.__setattr__


def _frozen(owner: type) -> Any:
    """`__init__` of a frozen class; code for the usual ones is there already."""
    specs = _specs(owner)
    slots = all(type(owner.__dict__.get(name)) is MemberDescriptorType for name in specs)
    plain = all(_is(spec, "init") for spec in specs.values())
    if not slots or not plain or not specs or len(specs) > len(CODES) or _has_more(owner):
        return _constructor(owner, "set_(self, 'f{0}', f{0})")
    space: dict[str, Any] = {}
    defaults: list[object] = []
    for number, (name, spec) in enumerate(specs.items()):
        default, make = _defaults(spec)
        put = owner.__dict__[name].__set__
        fresh = make is not MISSING
        space[f"put{number}"] = _putting_fresh(put, make) if fresh else put
        if fresh or default is not MISSING:
            defaults.append(_FRESH if fresh else default)
    return _finished(owner, CODES[len(specs) - 1], space, defaults)


def _putting_fresh(
    put: Callable[[Any, Any], None], make: Callable[[], Any]
) -> Callable[[Any, Any], None]:
    return lambda self, value: put(self, make() if value is _FRESH else value)


def _open(owner: type) -> Any:
    return _constructor(owner, "self.f{0} = f{0}")


def _has_more(owner: type) -> bool:
    return hasattr(owner, "__post_init__")


def _constructor(owner: type, assign: str) -> Any:
    """`__init__` for one class, straight-line."""
    specs = _specs(owner)
    defaults: list[object] = []
    space: dict[str, Any] = {"set_": _set_always, "FRESH": _FRESH}
    forms: list[tuple[bool, bool]] = []
    for number, spec in enumerate(specs.values()):
        default, make = _defaults(spec)
        taken, fresh = _is(spec, "init"), make is not MISSING
        forms.append((taken, fresh))
        if fresh:
            space[f"make{number}"] = make
        if taken and (fresh or default is not MISSING):
            defaults.append(_FRESH if fresh else default)
    return _finished(owner, _code(tuple(forms), assign, _has_more(owner)), space, defaults)


def _finished(owner: type, code: CodeType, space: dict[str, Any], defaults: list[object]) -> Any:
    """A constructor out of code for fields `f0`, `f1`, ...: with the names that they have here."""
    names = {f"f{number}": name for number, name in enumerate(_specs(owner))}
    code = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(each, each) for each in code.co_consts),
    )
    made = _named(owner, FunctionType(code, space, None, tuple(defaults)), "__init__")
    made.__annotations__ = {**_kinds(owner), "return": None}
    return made


@cache
def _code(forms: tuple[tuple[bool, bool], ...], assign: str, has_more: bool) -> CodeType:
    """What a constructor does whose fields are arguments, or made anew, or both or neither.

    Most classes have fields like those of another one, and compiling is what takes time.
    """
    arguments: list[str] = ["self"]
    lines: list[str] = []
    for number, (taken, fresh) in enumerate(forms):
        if taken:
            arguments.append(f"f{number}")
        if fresh:
            condition = f"if f{number} is FRESH: " if taken else ""
            lines.append(f"{condition}f{number} = make{number}()")
        if taken or fresh:
            lines.append(assign.format(number))
    if has_more:
        lines.append("self.__post_init__()")
    body = "\n    ".join(lines or ["pass"])
    space: dict[str, Any] = {}
    exec(f"def __init__({', '.join(arguments)}):\n    {body}", space)
    return space["__init__"].__code__


def _defaults(spec: Any) -> tuple[Any, Any]:
    """The default of a field, and what makes one; either may be missing."""
    if not isinstance(spec, Field):
        return spec, MISSING
    found = cast("Any", spec)
    return found.default, found.default_factory


def _kinds(owner: type) -> dict[str, Any]:
    """What the arguments of a constructor are."""
    kinds: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        kinds |= inspect.get_annotations(base)
    return {name: kinds[name] for name, spec in _specs(owner).items() if _is(spec, "init")}


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
