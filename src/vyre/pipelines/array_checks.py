"""What is checked of arrays when a call comes to a statement: names may have been swapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from vyre.diagnostics import Location, PlanError, Span
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.parameters import ArrayParameter, Parameter
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.counts import CountedScratch
from vyre.pipelines.evaluate import Frame
from vyre.pipelines.stages import PipelineSource, is_written, read_only, same_array

TypeOf = Callable[[Any], DataType]


def refuse_same(
    stage: tree.Stage,
    parameters: Mapping[str, Parameter],
    bound: Mapping[str, Any],
    given: Mapping[str, Any],
) -> None:
    """Refuse an array that a stage writes and has under two names."""
    arrays = [name for name, one in parameters.items() if isinstance(one, ArrayParameter)]
    for position, one in enumerate(arrays):
        for two in arrays[position + 1 :]:
            if given[one] is given[two] and (
                is_written(parameters[one]) or is_written(parameters[two])
            ):
                raise same_array(stage, bound[one].name, one, two)


def refuse_write(
    frame: Frame, name: tree.ArrayName, who: str, written: PipelineSource, span: Span
) -> None:
    """Refuse a write to an input of a pipeline, by whatever name."""
    array = frame.array(name)
    if any(array is each for each in frame.read_only):
        raise read_only(who, name.name, written.name, span)


def checked_flag(frame: Frame, name: tree.ArrayName, type_of: TypeOf, who: str) -> Any:
    """The array of a flag, which is one `u32`."""
    flag = frame.array(name)
    if isinstance(flag, CountedScratch):
        raise _counted(name, who, "one u32 that is not counted: vy.flag()")
    dtype, shape = type_of(flag), tuple(flag.shape)
    if dtype is DataType.U32 and prod(shape) == 1:
        return flag
    problem = f"gets {name.name!r}, which is {dtype}{list(shape)}; a flag is one u32"
    fix = f"make it with {name.name} = vy.flag()"
    location = Location(span=name.span)
    raise PlanError(codes.ARGUMENT.at(location, (), stage=who, problem=problem, fix=fix))


def _counted(name: tree.ArrayName, who: str, fix: str) -> PlanError:
    problem = f"gets {name.name!r}, whose length is a count"
    location = Location(span=name.span)
    return PlanError(codes.ARGUMENT.at(location, (), stage=who, problem=problem, fix=f"use {fix}"))


def check_copy(source: Any, target: Any, type_of: TypeOf, statement: tree.Copy) -> None:
    """Refuse a copy between arrays of different types or shapes."""
    for array, name in ((source, statement.source), (target, statement.target)):
        if isinstance(array, CountedScratch):
            raise _counted(name, "vy.copy", "a kernel that copies its elements")
    types, shapes = (type_of(source), type_of(target)), (tuple(source.shape), tuple(target.shape))
    if types[0] is types[1] and shapes[0] == shapes[1]:
        return
    one, two = statement.source.name, statement.target.name
    problem = (
        f"gets {one!r}, which is {types[0]}{list(shapes[0])}, and "
        f"{two!r}, which is {types[1]}{list(shapes[1])}"
    )
    fix = f"make both alike, with vy.scratch_like({two})"
    location = Location(span=statement.span)
    raise PlanError(codes.ARGUMENT.at(location, (), stage="vy.copy", problem=problem, fix=fix))
