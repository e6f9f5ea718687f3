"""Exceptions of signal handlers are told from all others, whatever kind of object a handler is."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from functools import partial
from types import TracebackType

import pytest

from vyre.signals import is_from_handler, tolerate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")


def plain(number: int, frame: object) -> None:
    raise ValueError("of the handler")


def deeper(number: int, frame: object) -> None:
    int("of the handler")


def any_arguments(*_: object) -> None:
    raise ValueError("of the handler")


def with_more(more: object, number: int, frame: object) -> None:
    raise ValueError("of the handler")


class Object:
    def method(self, number: int, frame: object) -> None:
        raise ValueError("of the handler")

    def __call__(self, number: int, frame: object) -> None:
        raise ValueError("of the handler")


HANDLERS: dict[str, Callable[..., None]] = {
    "function": plain,
    "deeper": deeper,
    "any arguments": any_arguments,
    "partial": partial(with_more, "more"),
    "method": Object().method,
    "object": Object(),
}


@pytest.fixture
def handler(request: pytest.FixtureRequest):
    before = signal.signal(signal.SIGUSR2, HANDLERS[request.param])
    yield
    signal.signal(signal.SIGUSR2, before)


@pytest.mark.parametrize("handler", HANDLERS, indirect=True)
def test_what_a_handler_raises_is_recognised(handler: None) -> None:
    with pytest.raises(ValueError) as caught:
        signal.raise_signal(signal.SIGUSR2)
    assert is_from_handler(caught.value)


@pytest.mark.parametrize("handler", ["function"], indirect=True)
def test_what_is_raised_elsewhere_is_not(handler: None) -> None:
    with pytest.raises(ValueError) as caught:
        int("x")
    assert not is_from_handler(caught.value)
    with pytest.raises(RuntimeError) as chained:
        raise RuntimeError from caught.value
    assert not is_from_handler(chained.value)


@pytest.mark.parametrize("handler", HANDLERS, indirect=True)
def test_who_asks_right_where_it_is_caught_is_told_the_same(handler: None) -> None:
    answers: list[bool] = []
    for raised in (True, False):
        try:
            signal.raise_signal(signal.SIGUSR2) if raised else int("x")
        except ValueError as problem:
            answers.append(is_from_handler(problem))
            alone = problem.with_traceback(_last(problem.__traceback__))
            answers.append(is_from_handler(alone))
    assert answers == [True, True, False, False]


def _last(trace: TracebackType | None) -> TracebackType | None:
    """The place where an exception was raised, without the ways to it."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


@pytest.mark.parametrize("handler", ["function"], indirect=True)
def test_what_is_raised_while_a_class_is_made_is_recognised(handler: None) -> None:
    """Python 3.11 wraps it, where a part of the class is told its name."""

    class Part:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGUSR2)

    with pytest.raises((ValueError, RuntimeError)) as caught:
        type("Made", (), {"part": Part()})
    assert is_from_handler(caught.value)


@pytest.mark.parametrize("handler", ["function"], indirect=True)
def test_only_what_is_not_from_a_handler_is_tolerated(handler: None) -> None:
    with tolerate(ValueError):
        int("x")
    with pytest.raises(ValueError), tolerate(ValueError):
        signal.raise_signal(signal.SIGUSR2)
    with pytest.raises(KeyError), tolerate(ValueError):
        raise KeyError
