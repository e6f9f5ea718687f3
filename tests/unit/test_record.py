"""Cheap data classes mean what the standard library's mean."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest

from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A value."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)


@dataclass(slots=True)
class Counter:
    """A thing that changes."""

    name: str
    count: int = 0
    doubled: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.doubled = 2 * self.count


def test_arguments_defaults_and_fresh_values():
    assert (Point(1).y, Point(1, y=5).y, Point(1).tags) == (2, 5, [])
    assert Point(1).tags is not Point(1).tags
    assert Counter("a", 4).doubled == 8
    with pytest.raises(TypeError):
        Point()  # pyright: ignore[reportCallIssue]


def test_equality_hash_and_text():
    assert Point(1) == Point(1, 2, ["other"])
    assert hash(Point(1)) == hash(Point(1, 2, ["other"]))
    assert Point(1) != Point(2)
    assert Point(1) != (1, 2)
    assert repr(Point(1)) == "Point(x=1, y=2, tags=[])"
    assert Counter.__hash__ is None


def test_frozen_values_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Point(1).x = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Point(1).x  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(Point(1), "__dict__")


def test_tools_for_data_classes_work():
    point = Point(1, 3)
    assert dataclasses.replace(point, y=4) == Point(1, 4)
    assert dataclasses.asdict(point) == {"x": 1, "y": 3, "tags": []}
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301
    match point:
        case Point(x, y):
            assert (x, y) == (1, 3)
    assert str(inspect.signature(Point)).startswith("(x: 'int', y: 'int' = 2, tags:")
    assert "<factory>" in str(inspect.signature(Point))


def test_a_method_is_written_when_it_is_first_used():
    @dataclass(frozen=True, slots=True)
    class Fresh:
        value: int

    assert not inspect.isfunction(Fresh.__dict__["__init__"])
    Fresh(1)
    assert inspect.isfunction(Fresh.__dict__["__init__"])
