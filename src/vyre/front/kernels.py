"""A kernel as it was written: its function, its parameters, and the programs made of it.

What a call needs of a kernel that was translated before is here; the translator is loaded when
there is something to translate.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import FunctionType

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front import remembered
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
    _known: dict[Specialisation, Program] = field(default_factory=dict[Specialisation, Program])

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
        code = self.source.function.__code__
        count = code.co_argcount
        return frozenset(code.co_varnames[count : count + code.co_kwonlyargcount])

    def program(self, wanted: Specialisation) -> Program:
        """The program for one specialisation, translated once, maybe by an earlier process."""
        found = self._known.get(wanted)
        if found is None:
            made = remembered.find(self, wanted)
            if made is None:
                made = self._translated(wanted)
            found = self._known.setdefault(wanted, made)
        return found

    def _translated(self, wanted: Specialisation) -> Program:
        from vyre.front.lower import translate
        from vyre.front.reads import Reads

        reads = Reads(self.source)
        try:
            made = translate(self, wanted, reads)
        except FrontError as error:
            # The frames of the translator say nothing to whoever wrote the kernel.
            raise error.with_traceback(None) from error.__cause__
        remembered.keep(self, wanted, made, reads)
        return made


def kernel_source(
    function: object,
    workgroup: Sequence[int] | int,
    fast_math: bool = False,
) -> KernelSource:
    """Read a function that is to be a kernel; refuses what can be refused without types."""
    if not isinstance(function, FunctionType):
        raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.kernel", found=repr(function)))
    source = Source(function)
    copies = remembered.copies_whole(source)
    if copies is None:
        assert source.tree is not None  # there must be one
    size = _workgroup(source, workgroup)
    if copies is None:
        copies = _looked_through(source)
    parameters = _parameters(source)
    entry = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
    return KernelSource(source, parameters, _defaults(function), size, fast_math, entry, copies)


def _looked_through(source: Source) -> bool:
    """Refuse Python that no kernel can use; whether the rest copies stretches of memory."""
    from vyre.front.parts import parts
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


def _defaults(function: FunctionType) -> dict[str, object]:
    values = function.__defaults__ or ()
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    found: dict[str, object] = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}


def _parameters(source: Source) -> dict[str, Parameter]:
    code = source.function.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        arguments = source.tree.args
        extra = arguments.vararg or arguments.kwarg
        assert extra is not None
        problem = "takes any number of values"
        raise source.error(extra, codes.PARAMETER, name=extra.arg, problem=problem)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: dict[str, Parameter] = {}
    for position, name in enumerate(names):
        parameter = parameter_of(_annotation(source, position, name))
        if parameter is None:
            has_one = name in source.annotations
            problem = "has a type that kernels lack" if has_one else "has no type"
            where = _argument(source, position)
            raise source.error(where, codes.PARAMETER, name=name, problem=problem)
        found[name] = parameter
    return found


def _annotation(source: Source, position: int, name: str) -> object:
    try:
        return source.annotation(name)
    except (NameError, AttributeError, TypeError) as problem:
        where = _argument(source, position)
        shown = f"has a type that {problem}"
        raise source.error(where, codes.PARAMETER, name=name, problem=shown) from problem


def _argument(source: Source, position: int) -> ast.arg:
    arguments = source.tree.args
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)[position]
