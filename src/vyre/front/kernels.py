"""A kernel as it was written: its function, its parameters, and the programs made of it.

What a call needs of a kernel that was translated before is here; the translator is loaded when
there is something to translate.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import copysign
from types import FunctionType

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front import translation_cache
from vyre.front.capture_guards import Outside
from vyre.front.parameters import (
    GenericType,
    Layout,
    Parameter,
    StaticParameter,
    parameter_of,
)
from vyre.front.source import Source
from vyre.ir import DataType, Program
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Specialisation:
    """What a call decides about a kernel."""

    types: tuple[tuple[str, DataType], ...] = ()
    """Generic types by name."""
    statics: tuple[tuple[str, int | float | bool], ...] = ()
    layouts: tuple[tuple[str, Layout], ...] = ()
    """Arrays that are views with strides."""

    @property
    def key(self) -> tuple[object, ...]:
        """Tells it from all others: 0.0 and -0.0, which are equal, are two values."""
        floats = (value for _, value in self.statics if isinstance(value, float))
        return self.types, self.statics, tuple(copysign(1.0, one) for one in floats), self.layouts


@dataclass(frozen=True, slots=True)
class Translated:
    """The program for one specialisation, and what outside of the kernel it was made from."""

    program: Program
    outside: Outside


def keyword_only_of(function: FunctionType) -> frozenset[str]:
    """The parameters of a function that are given by name only."""
    code = function.__code__
    count = code.co_argcount
    return frozenset(code.co_varnames[count : count + code.co_kwonlyargcount])


@dataclass(frozen=True, slots=True, eq=False)
class KernelSource:
    """A kernel: its function and what its parameters are."""

    source: Source
    parameters: Mapping[str, Parameter]
    defaults: Mapping[str, object]
    workgroup: tuple[int, int, int]
    fast_math: bool = False
    entry_op_id: str | None = None
    copies_whole: bool = False
    """Whether it starts copies of whole stretches of memory, which views with strides lack."""
    _known: dict[object, Translated] = field(default_factory=dict[object, Translated])

    @property
    def is_open(self) -> bool:
        """Whether a call decides about types or compile-time values."""
        return any(
            isinstance(one, StaticParameter) or isinstance(one.dtype, GenericType)
            for one in self.parameters.values()
        )

    @property
    def keyword_only(self) -> frozenset[str]:
        """The parameters that are given by name only."""
        return keyword_only_of(self.source.function)

    def program(self, wanted: Specialisation) -> Program:
        """The program for one specialisation."""
        return self.translated(wanted).program

    def translated(self, wanted: Specialisation) -> Translated:
        """The program for one specialisation, translated once, maybe by an earlier process.

        It is translated again where something that it was made from has changed since.
        """
        key = wanted.key
        found = self._known.get(key)
        if found is None or not found.outside.means_the_same():
            found = self._known[key] = self._found(wanted) or self._made(wanted)
        return found

    def as_written(self, wanted: Specialisation) -> Program:
        """The program for one specialisation with its guards as they are in the source."""
        from vyre.front.captured_state import Reads
        from vyre.front.lower import as_written

        return as_written(self, wanted, Reads(self.source))

    def _found(self, wanted: Specialisation) -> Translated | None:
        found = translation_cache.find(self, wanted)
        return None if found is None else Translated(found[0], Outside(found[1]))

    def _made(self, wanted: Specialisation) -> Translated:
        from vyre.front.captured_state import Reads
        from vyre.front.lower import translate

        reads = Reads(self.source)
        try:
            made = translate(self, wanted, reads)
        except FrontError as error:
            # The frames of the translator say nothing to the author of the kernel.
            raise error.with_traceback(None) from error.__cause__
        translation_cache.keep(self, wanted, made, reads)
        return Translated(made, Outside(reads.every))


def kernel_source(
    function: object,
    workgroup: Sequence[int] | int,
    fast_math: bool = False,
) -> KernelSource:
    """Read a function that is to be a kernel; refuses what can be refused without types."""
    if not isinstance(function, FunctionType):
        raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.kernel", found=repr(function)))
    if inspect.iscoroutinefunction(function):
        found = f"the async function {function.__name__}"
        raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.kernel", found=found))
    source = Source(function)
    copies = translation_cache.copies_whole(source)
    if copies is None:
        assert source.tree is not None  # there must be one
    size = _workgroup(source, workgroup)
    if copies is None:
        copies = _looked_through(source)
    parameters = parameters_of_function(source)
    entry = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
    defaults = defaults_of_function(function)
    return KernelSource(source, parameters, defaults, size, fast_math, entry, copies)


def _looked_through(source: Source) -> bool:
    """Refuse Python that no kernel can use; whether the rest copies stretches of memory."""
    from vyre.front.ast_nodes import parts
    from vyre.front.syntax import check_syntax

    check_syntax(source)
    names = {getattr(node, "attr", getattr(node, "id", None)) for node in parts(source.tree)}
    return not names.isdisjoint(("async_load", "async_store"))


def _workgroup(source: Source, wanted: Sequence[int] | int) -> tuple[int, int, int]:
    extents = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in extents)
    if not 1 <= len(extents) <= 3 or not whole:
        raise source.error(source.tree, codes.WORKGROUP, found=wanted)
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def defaults_of_function(function: FunctionType) -> dict[str, object]:
    """The values of parameters that a call may leave out."""
    values = function.__defaults__ or ()
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    found: dict[str, object] = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}


def parameters_of_function(source: Source) -> dict[str, Parameter]:
    """What the annotations of a function say that its parameters are."""
    code = source.function.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        arguments = source.tree.args
        extra = arguments.vararg or arguments.kwarg
        assert extra is not None
        problem = "takes any number of values"
        raise source.error(extra, codes.PARAMETER, name=extra.arg, problem=problem, fix=_ONE_BY_ONE)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: dict[str, Parameter] = {}
    for position, name in enumerate(names):
        parameter = parameter_of(_annotation(source, position, name))
        if parameter is None:
            has_one = name in source.annotations
            problem = "has a type that kernels lack" if has_one else "has no type"
            where = _argument(source, position)
            fix = _fix_type(name)
            raise source.error(where, codes.PARAMETER, name=name, problem=problem, fix=fix)
        found[name] = parameter
    return found


_ONE_BY_ONE = "write the parameters one by one, or pass an array"


def _fix_type(name: str) -> str:
    return f"annotate it: {name}: vy.f32, {name}: vy.In[vy.f32], vy.Out, vy.InOut or vy.static[int]"


def _annotation(source: Source, position: int, name: str) -> object:
    try:
        return source.annotation(name)
    except (NameError, AttributeError, TypeError) as problem:
        where = _argument(source, position)
        shown = f"has a type that {problem}"
        fix = _fix_type(name)
        raise source.error(where, codes.PARAMETER, name=name, problem=shown, fix=fix) from problem


def _argument(source: Source, position: int) -> ast.arg:
    arguments = source.tree.args
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)[position]
