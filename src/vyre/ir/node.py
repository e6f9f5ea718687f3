"""What makes a class a node: frozen, slotted, hashed once, equal by structure, aware of children.

Fields say by their annotation what they hold (`AnyExpr`, `tuple[AnyStmt, ...]`, plain data), and
walking, rebuilding, hashing and depth follow from that. Equal trees are found by comparing hashes
first and fields after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes

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
    max_depth: ClassVar[int] = 0
    _values: ClassVar[Callable[[Any], Any]]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self._hash != hash(other):
            return False
        values = type(self)._values
        return bool(values(self) == values(other))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self), [getattr(self, f.name) for f in _fields(type(self))]))

    def __post_init__(self) -> None:
        cls = type(self)
        set_slot = object.__setattr__
        set_slot(self, "_hash", hash((cls, cls._values(self))))
        depth = 0
        for name in cls.expr_fields:
            child = getattr(self, name)
            if child is not None and child.depth > depth:
                depth = child.depth
        for name in cls.expr_tuple_fields:
            for child in getattr(self, name):
                if child.depth > depth:
                    depth = child.depth
        if depth >= cls.max_depth:
            raise BuildError(codes.TOO_DEEP.at(depth=depth + 1, limit=cls.max_depth))
        set_slot(self, "depth", depth + 1)


def _restore(cls: type[Tree], values: list[Any]) -> Tree:
    return cls(**{f.name: value for f, value in zip(_fields(cls), values, strict=True)})


def _fields(cls: type[Tree]) -> tuple[Field[Any], ...]:
    return fields(cast("Any", cls))


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make `cls` a node."""
    made = dataclass(frozen=True, slots=True, eq=False)(cls)
    kinds = {f.name: str(f.type) for f in _fields(made)}
    compared = tuple(f.name for f in _fields(made))
    made.compared_fields = compared
    made.expr_fields = tuple(
        name for name, kind in kinds.items() if kind in ("AnyExpr", "AnyExpr | None")
    )
    made.expr_tuple_fields = tuple(n for n, kind in kinds.items() if kind == "tuple[AnyExpr, ...]")
    made.body_fields = tuple(n for n, kind in kinds.items() if kind == "Body")
    read = attrgetter(*compared) if compared else _nothing
    made._values = staticmethod(read)  # pyright: ignore[reportPrivateUsage]
    return made


def _nothing(_: object) -> tuple[()]:
    return ()
