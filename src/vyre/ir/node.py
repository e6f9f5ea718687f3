"""What makes a class a node: frozen, slotted, hashed once, equal by structure, aware of children.

Fields say by their annotation what they hold (`AnyExpr`, `Body`, plain data), and walking,
rebuilding, hashing and depth follow from that. Trees are built by the hundred thousand, so each
class gets a constructor written for it, and a hash is computed when it is first asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes
from vyre.record import Later, settle

MAX_EXPR_DEPTH = 200
"""No expression deeper than this can be built, so code over expressions may recurse."""
MAX_STMT_DEPTH = 100
"""No statement nested deeper than this can be built, so code over statements may recurse."""

T = TypeVar("T", bound="Tree")


class Tree:
    """Base of expressions and statements."""

    __slots__ = ("_hash", "depth")

    _hash: int
    depth: int
    """Levels of this tree, itself included; expressions do not count for statements."""

    expr_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that hold one expression, or None."""
    expr_tuple_fields: ClassVar[tuple[str, ...]] = ()
    body_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that hold statements."""
    compared_fields: ClassVar[tuple[str, ...]] = ()
    """All fields, in order."""
    max_depth: ClassVar[int] = 0
    has_span: ClassVar[bool] = False
    children: ClassVar[staticmethod[[Any], tuple[Any, ...]]]
    """The expressions directly under a node of this class, in the order of evaluation."""
    _values: ClassVar[Callable[[Any], Any]]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            cls = type(self)
            found = hash((cls, cls._values(self)))
            object.__setattr__(self, "_hash", found)
            return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        values = type(self)._values
        return bool(values(self) == values(other))

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.compared_fields)
        return f"{type(self).__name__}({shown})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, name) for name in self.compared_fields))


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make `cls` a node: the annotated names become its fields."""
    kinds: dict[str, str] = inspect.get_annotations(cls)
    names = tuple(kinds)
    contents = {key: value for key, value in cls.__dict__.items() if key not in _MADE_ANEW}
    contents["__slots__"] = names
    contents["__match_args__"] = names
    contents["compared_fields"] = names
    single = tuple(n for n, k in kinds.items() if k in ("AnyExpr", "AnyExpr | None"))
    many = tuple(n for n, k in kinds.items() if k == "tuple[AnyExpr, ...]")
    contents["expr_fields"] = single
    contents["expr_tuple_fields"] = many
    contents["body_fields"] = tuple(n for n, k in kinds.items() if k == "Body")
    contents["_values"] = staticmethod(attrgetter(*names) if names else _nothing)
    some_missing = "AnyExpr | None" in kinds.values()
    contents["children"] = staticmethod(_children(single, many, some_missing=some_missing))
    # Programs use a few kinds of nodes, and writing a constructor takes longer than all of this.
    contents["__init__"] = Later(_constructor)
    made = type(cls)(cls.__name__, cls.__bases__, contents)
    settle(made, contents)
    return cast("type[T]", made)


_MADE_ANEW = frozenset({"__dict__", "__weakref__"})


def _children(
    single: tuple[str, ...], many: tuple[str, ...], *, some_missing: bool
) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the expressions of a class, as quickly as its fields allow."""
    if not single and not many:
        return _nothing
    if some_missing or len(many) > 1 or (single and many):
        return lambda tree: (
            *(child for name in single if (child := getattr(tree, name)) is not None),
            *(child for name in many for child in getattr(tree, name)),
        )
    read = attrgetter(*single, *many)
    return (lambda tree: (read(tree),)) if len(single) == 1 else read


def _constructor(made: type[Tree]) -> Any:
    """`__init__` for one class, straight-line: set the slots, find the depth, refuse too much."""
    kinds: dict[str, str] = inspect.get_annotations(made)
    names = list(kinds)
    setters: dict[str, Any] = {f"set_{name}": getattr(made, name).__set__ for name in names}
    setters |= {"set_depth": cast("Any", Tree).depth.__set__, "refuse": _refuse, "cls": made}
    lines = [f"def __init__(self, {', '.join(names)}):", "    depth = 0"]
    lines += [f"    set_{name}(self, {name})" for name in names]
    if made.has_span:
        setters["set_span"] = cast("Any", made).span.__set__
        lines.append("    set_span(self, None)")
    for name, kind in kinds.items():
        if not made.has_span and kind in ("AnyExpr", "AnyExpr | None"):
            there = f"{name} is not None and " if kind.endswith("None") else ""
            lines.append(f"    if {there}{name}.depth > depth: depth = {name}.depth")
        elif kind == ("Body" if made.has_span else "tuple[AnyExpr, ...]"):
            lines.append(f"    for child in {name}:")
            lines.append("        if child.depth > depth: depth = child.depth")
    lines.append(f"    if depth >= {made.max_depth}: refuse(cls, depth)")
    lines.append("    set_depth(self, depth + 1)")
    space: dict[str, Any] = {}
    exec("\n".join(lines), setters, space)
    return space["__init__"]


def _refuse(cls: type[Tree], depth: int) -> None:
    raise BuildError(codes.TOO_DEEP.at(depth=depth + 1, limit=cls.max_depth))


def _nothing(_: object) -> tuple[()]:
    return ()
