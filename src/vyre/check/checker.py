"""The checker: everything that is wrong with a program, in one run."""

from __future__ import annotations

from vyre.check.convergence import check_convergence
from vyre.check.declarations import check_declarations
from vyre.check.device import check_target
from vyre.check.findings import PROGRAM, Findings
from vyre.check.grid_memory import check_grid_memory
from vyre.check.notes import Notes
from vyre.check.statements import StatementChecker
from vyre.diagnostics import CheckError, Diagnostic, Severity
from vyre.diagnostics.codes import check as codes
from vyre.ir import Program
from vyre.target import Target

MAX_STATEMENTS = 100_000
SUSPICIOUS = frozenset({codes.UNREACHABLE.code, codes.INDEX_RANGE.code, codes.ZERO_DIVISOR.code})
"""What a person hardly means, though it has a meaning: folding constants may bring it to light."""


def check(
    program: Program, target: Target | None = None, *, derived: bool = False
) -> list[Diagnostic]:
    """Every problem of `program`, in the order of its text; for a target if one is given.

    Errors mean that the program cannot run; warnings do not. A program that was derived from
    another one, and not written by a person, is not blamed for constant indices out of range,
    literal zero divisors and unreachable statements: all of them have a meaning.
    """
    findings, notes = Findings(), Notes()
    check_declarations(program, findings)
    buffers = {decl.name: decl for decl in program.buffers}
    StatementChecker(buffers, findings, notes).run(program.entry)
    if notes.statements > MAX_STATEMENTS:
        too_long = codes.STATEMENTS.at(count=notes.statements, limit=MAX_STATEMENTS)
        findings.add(PROGRAM, too_long)
    if not notes.oversized:
        check_convergence(program, notes, findings)
        check_grid_memory(program, notes, findings)
    _check_tags(notes, findings)
    if target is not None:
        check_target(program, target, notes, findings)
    else:
        for position, statement in notes.opaques:
            findings.add(position, codes.OPAQUE.at(kind=statement.kind))
    if derived:
        findings.drop(SUSPICIOUS)
    return findings.located(program, unprintable=notes.oversized)


def validate(program: Program, target: Target | None = None, *, derived: bool = False) -> None:
    """Raise a `CheckError` with all errors of `program`, if there is any; warnings do not count."""
    found = check(program, target, derived=derived)
    errors = [diagnostic for diagnostic in found if diagnostic.severity is Severity.ERROR]
    if errors:
        raise CheckError(errors)


def _check_tags(notes: Notes, findings: Findings) -> None:
    """Report waits, copies and resumes whose counterpart is missing."""
    started: dict[str, int] = {}
    for position, copy in reversed(notes.copies):
        started[copy.tag] = position
    awaited: dict[str, int] = {}
    for position, wait in notes.waits:
        awaited[wait.tag] = position
        if started.get(wait.tag, position) >= position:
            findings.add(position, codes.ASYNC_NOT_STARTED.at(tag=wait.tag))
    for position, copy in notes.copies:
        if awaited.get(copy.tag, position) <= position:
            findings.add(position, codes.ASYNC_NOT_AWAITED.at(tag=copy.tag))
    for position, resume in notes.resumes:
        if resume.tag not in notes.trap_tags:
            findings.add(position, codes.RESUME_TAG.at(tag=resume.tag))
