"""Cheap data classes mean what the standard library's mean."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

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


def test_a_method_is_made_when_it_is_first_used():
    @dataclass(frozen=True, slots=True)
    class Fresh:
        value: int

    assert not inspect.isfunction(Fresh.__dict__["__init__"])
    assert Fresh(1).value == 1
    assert inspect.isfunction(Fresh.__dict__["__init__"])


@pytest.mark.parametrize(
    ("args", "given"),
    [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((1,), {"own": 2})],
)
def test_the_first_instances_refuse_what_later_ones_refuse(args: tuple[Any], given: dict[str, Any]):
    @dataclass(frozen=True, slots=True)
    class Fresh:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)
        own: list[str] = dataclasses.field(default_factory=list, init=False)

    found: list[str] = []
    for _ in range(2):
        with pytest.raises(TypeError) as refused:
            Fresh(*args, **given)
        found.append(str(refused.value))
    assert inspect.isfunction(Fresh.__dict__["__init__"])
    assert found[0] == found[1]


@pytest.mark.parametrize("given", [{}, {"y": 5}, {"tags": ["a"]}, {"tags": ["a"], "y": 5}])
def test_the_first_instances_are_like_later_ones(given: dict[str, Any]):
    @dataclass(slots=True)
    class Fresh:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)
        own: list[str] = dataclasses.field(default_factory=list, init=False)
        late: int = dataclasses.field(init=False, compare=False, repr=False)

    made = [Fresh(1, **given) for _ in range(20)]
    assert all(one == made[-1] for one in made)
    assert repr(made[0]) == repr(made[-1])
    assert len({id(one.own) for one in made}) == 20
    assert not any(hasattr(one, "late") for one in made)


def test_classes_with_fields_alike_share_code_and_nothing_else():
    @dataclass(frozen=True, slots=True)
    class One:
        f1: int
        f0: str = "one"

    @dataclass(frozen=True, slots=True)
    class Other:
        set_: int
        other: str = "other"

    assert (One(1).f1, One(1).f0) == (1, "one")
    assert (Other(2).set_, Other(set_=2, other="x").other) == (2, "x")
    assert One.__init__.__code__.co_code == Other.__init__.__code__.co_code
    with pytest.raises(TypeError, match=r"Other\.__init__\(\) .* 'set_'"):
        Other()  # pyright: ignore[reportCallIssue]


def test_without_slots_defaults_are_attributes_of_the_class():
    @dataclass
    class Open:
        name: str
        count: int = 3
        tags: list[str] = dataclasses.field(default_factory=list)

    assert Open.count == 3
    assert not hasattr(Open, "tags")
    one = Open("a", tags=["b"])
    one.count = 4
    assert one == Open("a", 4, ["b"])
    assert [each.name for each in dataclasses.fields(Open)] == ["name", "count", "tags"]
