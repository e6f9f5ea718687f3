"""Passes of others are not trusted: what fails in one is named, and what it gives is looked at."""

from __future__ import annotations

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.extensions import how_to_leave_out, in_a_line
from vyre.ir import Program
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult
from vyre.signals import is_from_handler


def is_own(each: Pass) -> bool:
    """Whether a pass is one of vyre's."""
    return type(each).__module__.startswith("vyre.")


def guarded(
    each: Pass, program: Program, context: PassContext
) -> tuple[PassAnalysis, PassResult | None]:
    """What a pass makes of a program; nothing if it has nothing to do there."""
    try:
        analysis = each.analyze(program, context)
        if not analysis.runs:
            return analysis, None
        result = each.transform(program, context)
    except (Exception, SystemExit) as problem:  # leaving Python is no way out for a pass
        if is_from_handler(problem):
            raise
        if is_own(each):
            problem.add_note(f"in the pass {each.metadata.name!r}")
            raise
        raise _failure(each, in_a_line(problem)) from problem
    if not (isinstance(result, PassResult) and isinstance(result.program, Program)):
        raise _failure(each, f"its transform gives {result!r}, which is no PassResult")
    return analysis, result


def advice_about(each: Pass) -> str:
    """What to do about a pass that is in the way."""
    from vyre.opt.registry import origin_of

    if is_own(each):
        return "please report it with the program's text"
    extension = origin_of(each)
    return "do not schedule it" if extension is None else how_to_leave_out(extension)


def _failure(each: Pass, problem: str) -> OptimizerError:
    from vyre.opt.registry import origin_of

    extension = origin_of(each)
    origin = f"the module {type(each).__module__}"
    if extension is not None:
        origin = f"the package {extension.package} {extension.version}".rstrip()
    return OptimizerError(
        codes.FAILED_PASS.at(
            name=each.metadata.name, origin=origin, problem=problem, advice=advice_about(each)
        )
    )
