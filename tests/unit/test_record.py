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


def test_a_constructor_is_written_for_a_class_of_many_instances():
    @dataclass(frozen=True, slots=True)
    class Fresh:
        value: int
        tags: list[str] = dataclasses.field(default_factory=list)

    assert not inspect.isfunction(Fresh.__dict__["__init__"])
    made = [Fresh(number) for number in range(100)]
    assert inspect.isfunction(Fresh.__dict__["__init__"])
    assert [one.value for one in made] == [*range(100)]
    assert len({id(one.tags) for one in made}) == 100


@pytest.mark.parametrize(
    ("args", "given"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})]
)
def test_the_first_instances_refuse_the_same(args: tuple[int, ...], given: dict[str, int]):
    @dataclass(frozen=True, slots=True)
    class Fresh:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)

    assert not inspect.isfunction(Fresh.__dict__["__init__"])
    with pytest.raises(TypeError) as first:
        Fresh(*args, **given)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError) as later:
        Fresh(*args, **given)  # pyright: ignore[reportArgumentType]
    assert str(first.value) == str(later.value)


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
