"""Arms: programs made ready to stand beside each other in one.

What an arm has for itself (workgroup memory, scratch, private arrays, variables) gets names that
nothing else in the fused program has. Buffers that the host sees keep theirs: by those they are
joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from vyre import ir
from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import plan as codes
from vyre.ir.names import unused_name
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr, walk_stmts
from vyre.record import dataclass
from vyre.rewrite.names import rename_body

_BUFFER_FIELDS = ("buffer", "source", "destination", "count_buffer")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.]")
_LONGEST_GENERATOR = 4096
_LONGEST = 240
"""Characters of a name; what makes it unique comes behind."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A program under the name that its region gets."""

    name: str
    program: ir.Program


class FreshNames:
    """Names of buffers and variables that none of some programs has."""

    def __init__(self, programs: Iterable[ir.Program]) -> None:
        self._taken: set[str] = set()
        for program in programs:
            self._taken.update(decl.name for decl in program.buffers)
            self._taken.update(_variables(program))

    def like(self, wanted: str) -> str:
        """A new name, the one that is wanted if that can be."""
        base = _NOT_IN_NAMES.sub("_", wanted)[:_LONGEST]
        if not base or not (base[0].isalpha() or base[0] == "_"):
            base = f"_{base}"
        name = unused_name(base, self._taken, ".", first=2)
        self._taken.add(name)
        return name


def named(programs: Sequence[ir.Program], names: Sequence[str] | None) -> list[Arm]:
    """The programs under the names given, or under their own, told apart by a number."""
    if names is None:
        found: list[str] = []
        for number, program in enumerate(programs):
            own = program.entry_op_id or f"arm{number}"
            again = sum(other.entry_op_id == program.entry_op_id for other in programs[:number])
            found.append(f"{own}.{again + 1}" if program.entry_op_id and again else own)
        names = found
    if len(names) != len(programs):
        raise PlanError(codes.NAMES.at(names=len(names), programs=len(programs)))
    for name in names:
        # What can be the generator of a region, as `Node.region` has it.
        if not (isinstance(name, str) and name.isprintable() and len(name) <= _LONGEST_GENERATOR):
            raise PlanError(codes.BAD_NAME.at(name=name))
    return [Arm(name, program) for name, program in zip(names, programs, strict=True)]


def apart(arms: Sequence[Arm], fresh: FreshNames) -> list[Arm]:
    """The arms with everything that is an arm's own under names of its own."""
    shared = frozenset(
        decl.name
        for arm in arms
        for decl in arm.program.buffers
        if not (decl.is_on_chip or decl.is_scratch)
    )
    return [Arm(arm.name, _apart(arm, shared, fresh)) for arm in arms]


def _apart(arm: Arm, shared: frozenset[str], fresh: FreshNames) -> ir.Program:
    program = arm.program
    own = [decl.name for decl in program.buffers if decl.is_on_chip or decl.is_scratch]
    if own:
        names = {name: fresh.like(f"{arm.name}.{name}") for name in own}
        program = with_buffer_names(program, names)
    hidden = sorted(shared.intersection(_variables(program)))
    if hidden:
        changes = {name: fresh.like(f"{arm.name}.{name}") for name in hidden}
        program = program.with_rewritten_entry(rename_body(program.entry, changes))
    return program


def with_buffer_names(program: ir.Program, names: Mapping[str, str]) -> ir.Program:
    """The program with other names for buffers."""
    buffers = [decl.with_name(names.get(decl.name, decl.name)) for decl in program.buffers]
    entry = _with_buffers(program.entry, lambda name: names.get(name, name))
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)


def _variables(program: ir.Program) -> set[str]:
    found: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, ir.Let):
            found.add(statement.name)
        elif isinstance(statement, ir.Loop):
            found.add(statement.var)
    return found


def _with_buffers(body: ir.Body, rename: Callable[[str], str]) -> ir.Body:
    def expr(node: ir.AnyExpr) -> ir.AnyExpr:
        name = getattr(node, "buffer", None)
        if name is None or rename(name) == name:
            return node
        return rebuilt(node, {"buffer": rename(name)})

    def statement(one: ir.AnyStmt) -> ir.AnyStmt:
        one = map_exprs(one, lambda child: rewrite_expr(child, expr))
        changed: dict[str, object] = {}
        for field in _BUFFER_FIELDS:
            name = getattr(one, field, None)
            if isinstance(name, str) and rename(name) != name:
                changed[field] = rename(name)
        if changed:
            one = rebuilt(one, changed)
        return map_bodies(one, lambda inner: tuple(statement(s) for s in inner))

    return tuple(statement(s) for s in body)
