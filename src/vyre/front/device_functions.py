"""`@vy.func`: a function that kernels call; its code is put in their place (see `functions`)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front import translation_cache
from vyre.front.parameters import Parameter, parameter_of
from vyre.front.source import Source
from vyre.locks import cached_property

if TYPE_CHECKING:
    from vyre.front.functions import Inlinable

P = ParamSpec("P")
R = TypeVar("R")


class DeviceFunction(Generic[P, R]):
    """A function that kernels call. Made by `vyre.func`."""

    def __init__(self, function: Callable[P, R]) -> None:
        if not isinstance(function, FunctionType):
            raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.func", found=repr(function)))
        if iscoroutinefunction(function):
            found = f"the async function {function.__name__}"
            raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.func", found=found))
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.source = Source(function)
        self._parameters: dict[str, Parameter | None] = {}
        if not translation_cache.is_sound(self.source):
            _look_through(self.source)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Refused: only kernels call it."""
        raise FrontError(codes.OUTSIDE.at(name=self.__name__))

    def __repr__(self) -> str:
        return f"<vyre function {self.__name__}>"

    def parameter(self, name: str) -> Parameter | None:
        """What a parameter is said to be, if that can be told; it is looked at once."""
        if name not in self._parameters:
            try:
                self._parameters[name] = parameter_of(self.source.annotation(name))
            except (NameError, AttributeError, TypeError):
                self._parameters[name] = None
        return self._parameters[name]

    @cached_property
    def inlinable(self) -> Inlinable:
        """Its statements, ready to be put elsewhere."""
        from vyre.front.functions import Inlinable

        return Inlinable(self.source)


def _look_through(source: Source) -> None:
    """Refuse Python that no kernel can use."""
    from vyre.front.syntax import check_syntax

    check_syntax(source)
    arguments = source.tree.args
    extra = arguments.vararg or arguments.kwarg
    if extra is not None:
        problem = "takes any number of values"
        fix = "write the parameters one by one, or pass a tuple"
        raise source.error(extra, codes.PARAMETER, name=extra.arg, problem=problem, fix=fix)


def func(function: Callable[P, R]) -> DeviceFunction[P, R]:
    """Mark a function that kernels and other such functions call; it is inlined there.

    Parameters need no types: each call has those of its arguments. An annotated one takes values
    of its type only. It cannot call itself.
    """
    return DeviceFunction(function)


AnyFunction = DeviceFunction[Any, Any]
