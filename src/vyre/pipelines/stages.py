"""What can be a stage of a pipeline, and the arguments that a call of it binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from vyre.diagnostics import Location, PlanError, Span, VyreError
from vyre.diagnostics.codes import pipeline as codes
from vyre.diagnostics.render import render_all
from vyre.front.kernels import keyword_only_of
from vyre.front.parameters import ArrayParameter, Mode, Parameter
from vyre.front.source import MISSING, Source
from vyre.pipelines import tree
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel


class PipelineSource:
    """A pipeline as it was written: its function, its parameters and its tree."""

    def __init__(
        self,
        source: Source,
        parameters: Mapping[str, Parameter],
        defaults: Mapping[str, object],
        body: tree.Body,
    ) -> None:
        self.source = source
        self.parameters = parameters
        self.defaults = defaults
        self.body = body

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.source.name

    @property
    def keyword_only(self) -> frozenset[str]:
        """The parameters that are given by name only."""
        return keyword_only_of(self.source.function)

    @property
    def returned(self) -> tree.Return | None:
        """Its last statement, if that is a return of arrays."""
        last = self.body[-1] if self.body else None
        return last if isinstance(last, tree.Return) and last.arrays else None


@dataclass(frozen=True, slots=True)
class Site:
    """A stage of one call: where it stands, and in which iterations of which loops."""

    stage: tree.Stage
    iterations: tuple[tuple[str, int], ...] = ()
    is_hidden: bool = False
    """True for a launch that a plan has added: nothing is wrong with it."""

    @property
    def name(self) -> str:
        """What the stage calls."""
        return str(self.stage.callee)

    @property
    def line(self) -> int:
        """Its line in the file."""
        return self.stage.span.line

    def at(self, depth: int, count: int) -> Site:
        """The same stage in another iteration of the loop at a depth."""
        own = list(self.iterations)
        if depth < len(own):
            own[depth] = (own[depth][0], count)
        return Site(self.stage, tuple(own), self.is_hidden)


def decision_site(name: str, span: Span, iterations: tuple[tuple[str, int], ...] = ()) -> Site:
    """Where a flag is looked at, or a launch stands that a statement needs."""
    stage = tree.Stage(tree.Captured((name,), span), (), (), None, None, (), span)
    return Site(stage, iterations, is_hidden=True)


def placed(error: VyreError, sites: Sequence[Site]) -> VyreError:
    """The same error, with the stage and the iterations in which it happened."""
    first, *rest = error.diagnostics
    if first.message.startswith("in the stage"):
        return error
    sites = [each for each in sites if not each.is_hidden] or sites
    site, last = sites[0], sites[-1]
    stages = list(dict.fromkeys((each.name, str(each.line)) for each in sites))
    names, lines = (" and ".join(each) for each in zip(*stages, strict=True))
    where = "".join(
        f", iteration{f' {one}' if one == two else f's {one} to {two}'} of {loop}"
        for (loop, one), (_, two) in zip(site.iterations, last.iterations, strict=False)
    )
    many = "s" if len(stages) > 1 else ""
    message = f"in the stage{many} {names}, line{many} {lines}{where}: {first.message}"
    here = Location(span=site.stage.span)
    has_place = first.location.span is not None
    changed = replace(
        first,
        message=message,
        location=first.location if has_place else here,
        related=(*first.related, here) if has_place and first.location != here else first.related,
    )
    error.diagnostics = (changed, *rest)
    error.args = (render_all(error.diagnostics),)
    return error


def without_room(error: VyreError, names: Sequence[str]) -> VyreError:
    """The error for memory that there is not, with the scratch that it was for."""
    first, *rest = error.diagnostics
    shown = " and ".join(map(repr, names))
    changed = replace(first, message=f"for the scratch {shown}: {first.message}")
    error.diagnostics = (changed, *rest)
    error.args = (render_all(error.diagnostics),)
    return error


class Staged:
    """Base of what has a pipeline's source: `vyre.Pipeline`."""

    written: PipelineSource


def is_stage(value: object) -> bool:
    """True if a pipeline may call a value."""
    return isinstance(value, (Kernel, Staged))


def resolve(source: Source, captured: tree.Captured) -> object:
    """What a name from outside stands for now; `MISSING` if it stands for nothing."""
    first, *rest = captured.path
    found = source.lookup(first)
    for attribute in rest:
        found = MISSING if found is MISSING else getattr(found, attribute, MISSING)
    return found


def parameters_of(callee: Kernel[...] | Staged) -> Mapping[str, Parameter]:
    """The parameters of a stage."""
    return callee.source.parameters if isinstance(callee, Kernel) else callee.written.parameters


def defaults_of(callee: Kernel[...] | Staged) -> Mapping[str, object]:
    """The values of parameters that a call may leave out."""
    return callee.source.defaults if isinstance(callee, Kernel) else callee.written.defaults


def bind(stage: tree.Stage, callee: Kernel[...] | Staged) -> dict[str, tree.Argument | Any]:
    """The arguments of a stage by parameter; an error names what does not fit."""
    parameters = parameters_of(callee)
    names, by_name = list(parameters), keyword_only_of_callee(callee)
    by_place = [name for name in names if name not in by_name]
    given = len(stage.positional)
    if given > len(names):
        raise _wrong(stage, f"takes {len(names)} arguments, not {given}", callee)
    if given > len(by_place):
        problem = f"takes {len(by_place)} arguments by position, not {given}"
        raise _wrong(stage, problem, callee)
    found: dict[str, Any] = dict(zip(by_place, stage.positional, strict=False))
    for name, value in stage.named:
        if name not in parameters:
            raise _wrong(stage, f"has no parameter {name!r}", callee)
        if name in found:
            raise _wrong(stage, f"gets the parameter {name!r} twice", callee)
        found[name] = value
    for name in names:
        if name not in found:
            if name not in defaults_of(callee):
                raise _wrong(stage, f"gets no value for {name!r}", callee)
            found[name] = defaults_of(callee)[name]
    for name, value in found.items():
        _check_kind(stage, name, parameters[name], value)
    _refuse_same(stage, parameters, found)
    return found


def _wrong(stage: tree.Stage, problem: str, callee: Kernel[...] | Staged) -> PlanError:
    form = call_form(str(stage.callee), parameters_of(callee), keyword_only_of_callee(callee))
    return _error(stage, problem, f"call it as {form}")


def keyword_only_of_callee(callee: Kernel[...] | Staged) -> frozenset[str]:
    """The parameters of a stage that are given by name only."""
    return callee.source.keyword_only if isinstance(callee, Kernel) else callee.written.keyword_only


def call_form(callee: str, names: Iterable[str], by_name: AbstractSet[str]) -> str:
    """A call of a stage as one writes it."""
    return f"{callee}({', '.join(f'{each}={each}' if each in by_name else each for each in names)})"


def _error(stage: tree.Stage, problem: str, fix: str) -> PlanError:
    location = Location(span=stage.span)
    return PlanError(
        codes.ARGUMENT.at(location, (), stage=str(stage.callee), problem=problem, fix=fix)
    )


def _check_kind(stage: tree.Stage, name: str, parameter: Parameter, value: object) -> None:
    wants_array = isinstance(parameter, ArrayParameter)
    if wants_array and not isinstance(value, tree.ArrayName):
        fix = "pass a parameter of the pipeline or scratch: t = vy.scratch(vy.f32, n)"
        raise _error(stage, f"gets a number for {name!r}, which is an array", fix)
    if not wants_array and isinstance(value, tree.ArrayName):
        fix = "make the parameter an array: vy.In[vy.u32], and load its element in the kernel"
        raise _error(stage, f"gets the array {value.name!r} for the number {name!r}", fix)


def _refuse_same(
    stage: tree.Stage, parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> None:
    first: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(value, tree.ArrayName):
            continue
        other = first.setdefault(value.name, name)
        if other != name and (is_written(parameters[other]) or is_written(parameters[name])):
            raise same_array(stage, value.name, other, name)


def refuse_extents(stage: tree.Stage) -> None:
    """Refuse a grid for a pipeline: its stages have their own."""
    given = {"grid": stage.grid, "elements": stage.elements}
    for name, extents in given.items():
        if extents is not None:
            problem = f"gets {name}=, and is a pipeline, whose stages have grids of their own"
            raise _error(stage, problem, "leave it out, or give it to its stages")


def same_array(stage: tree.Stage, array: str, one: str, two: str) -> PlanError:
    """The error for a stage that writes an array which it has under two names."""
    location = Location(span=stage.span)
    return PlanError(
        codes.SAME_ARRAY.at(location, (), stage=str(stage.callee), array=array, one=one, two=two)
    )


def read_only(stage: str, array: str, pipeline: str, span: Span) -> PlanError:
    """The error for a write to an array that a pipeline declares as an input."""
    location = Location(span=span)
    return PlanError(codes.READ_ONLY.at(location, (), stage=stage, array=array, pipeline=pipeline))


def is_written(parameter: Parameter) -> bool:
    """True if a stage may write the array of a parameter."""
    return isinstance(parameter, ArrayParameter) and parameter.mode is not Mode.IN


def callee_of(found: object, stage: tree.Stage) -> Kernel[...] | Staged:
    """The kernel or pipeline that a stage calls; `found` is what its name stands for now."""
    if isinstance(found, (Kernel, Staged)):
        return found
    kind = "not defined" if found is MISSING else f"a {type(found).__name__}"
    raise PlanError(
        codes.NOT_A_STAGE.at(
            Location(span=stage.span),
            (),
            name=str(stage.callee),
            found=kind,
            instead="define a kernel of that name before the call",
        )
    )


def check_branches(written: PipelineSource) -> None:
    """Refuse names that would depend on the device: assigned again in a branch of `vy.when`."""
    bound = set(written.parameters)
    for statement in tree.statements(written.body):
        if isinstance(statement, tree.When):
            for inner in tree.statements((*statement.then, *statement.otherwise)):
                for name in tree.bound_names(inner):
                    if name in bound:
                        raise PlanError(
                            codes.BRANCHES_DIFFER.at(
                                Location(span=statement.span),
                                (),
                                flag=statement.flag.name,
                                name=name,
                            )
                        )
        bound.update(tree.bound_names(statement))


def check_stages(written: PipelineSource) -> None:
    """Check what is known of the stages when a pipeline is defined."""
    read: dict[str, Span] = {}
    known = set[str]()
    _check_inputs(written)
    made: dict[str, Span] = {}
    everything = tree.statements(written.body)
    is_whole = True
    for statement in everything:
        match statement:
            case tree.Scratch(name) | tree.Flag(name):
                made.setdefault(name, statement.span)
            case tree.Assign(targets):
                # Another name may write it.
                known.update(targets)
                known.update(v.name for v in statement.values if isinstance(v, tree.ArrayName))
            case tree.Copy():
                known.add(statement.target.name)
            case tree.Stage():
                is_whole = _check_stage(written, statement, read, known) and is_whole
            case _:
                pass
    for name, span in read.items():
        if is_whole and name in made and name not in known:
            raise PlanError(codes.NEVER_WRITTEN.at(Location(span=span), (), name=name))


def _check_inputs(written: PipelineSource) -> None:
    """Refuse writes to inputs, by names that stand for one array throughout."""
    everything = tree.statements(written.body)
    bound = {name for each in everything for name in tree.bound_names(each)}
    inputs = {
        name
        for name, one in written.parameters.items()
        if isinstance(one, ArrayParameter) and one.mode is Mode.IN and name not in bound
    }
    for statement in everything:
        for who, name, span in _writes(written, statement):
            if name in inputs:
                raise read_only(who, name, written.name, span)


def _writes(written: PipelineSource, statement: tree.Statement) -> Iterator[tuple[str, str, Span]]:
    """What a statement itself writes: who does, to which name, and where."""
    match statement:
        case tree.Copy(_, target, span):
            yield "vy.copy", target.name, span
        case tree.Again(flag, _, _, span):
            yield "vy.again", flag.name, span
        case tree.Stage():
            callee = resolve(written.source, statement.callee)
            if isinstance(callee, (Kernel, Staged)):
                parameters = parameters_of(callee)
                for name, value in bind(statement, callee).items():
                    if isinstance(value, tree.ArrayName) and is_written(parameters[name]):
                        yield str(statement.callee), value.name, statement.span
        case _:
            pass


def _check_stage(
    written: PipelineSource, stage: tree.Stage, read: dict[str, Span], known: set[str]
) -> bool:
    """Record what a stage reads and writes; False if it is not defined yet."""
    known.update(stage.results)
    callee = resolve(written.source, stage.callee)
    if not isinstance(callee, (Kernel, Staged)):
        return False
    parameters = parameters_of(callee)
    if isinstance(callee, Staged):
        refuse_extents(stage)
    for name, value in bind(stage, callee).items():
        if isinstance(value, tree.ArrayName):
            if is_written(parameters[name]):
                known.add(value.name)
            else:
                read.setdefault(value.name, stage.span)
    return True
