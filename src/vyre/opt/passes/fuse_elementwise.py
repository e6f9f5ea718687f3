"""Stages that hand one element per invocation to the next, without memory in between."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import BufferRef, BufferUse, ProgramFacts, Ranges
from vyre.analysis.affine import AffineForms
from vyre.ir.walk import map_bodies, map_exprs, walk_all_exprs
from vyre.opt.metadata import CostModelFamily, PassBoundaryClass, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.literal_legality import zero
from vyre.rewrite.names import Names

_GLOBAL_ID = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0)
_OTHERS = (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce)


@vyre_pass(
    name="fuse_elementwise",
    phase=PassPhase.FUSION,
    family=CostModelFamily.UNKNOWN,
    invalidates=("facts", "buffer_layout", "fusion"),
    boundary=PassBoundaryClass.INTERNAL_LAYOUT,
)
class FuseElementwise(Pass):
    """Turns a scratch buffer of which every invocation uses only its own element into a variable.
    Legal when every access is a plain load or store at gid.x plus one constant, elements keep
    values exactly, and invocations that differ only in y or z could not tell: the program asks for
    no other axis, no lanes and no results of atomics. Out of bounds a load still gives zero.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a scratch buffer."""
        found = any(decl.is_scratch for decl in program.buffers)
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no scratch buffer")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Find such buffers, and keep their elements in variables."""
        notes: list[str] = []
        cells = _cells(program, notes)
        if not cells:
            return PassResult(program, 0, tuple(notes))
        fuse = _Fuse(program, cells)
        made = fuse.run(program)
        return PassResult(made, len(cells), tuple(notes))


def _cells(program: ir.Program, notes: list[str]) -> dict[str, ir.BufferDecl]:
    scratch = [d for d in program.buffers if d.is_scratch]
    facts = ProgramFacts.of(program)
    reason = _program_refusal(program, facts)
    if reason is not None:
        notes.append(f"no stages are fused: {reason}")
        return {}
    found: dict[str, ir.BufferDecl] = {}
    for decl in scratch:
        why = _refusal(program, decl, facts.refs_by_buffer.get(decl.name, []))
        if why is None:
            found[decl.name] = decl
        else:
            notes.append(f"{decl.name} stays in memory: {why}")
    return found


def _program_refusal(program: ir.Program, facts: ProgramFacts) -> str | None:
    if facts.opaques:
        return "an opaque statement may touch anything"
    if program.workgroup_size[1] * program.workgroup_size[2] != 1:
        return "the workgroup has more than one axis"
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, ir.Builtin) and expr.axis != 0:
            return "the program looks at y or z"
        if isinstance(expr, _OTHERS):
            return "lanes or atomics could tell invocations apart"
    return None


def _refusal(program: ir.Program, decl: ir.BufferDecl, refs: list[BufferRef]) -> str | None:
    if decl.element.kind is ir.TypeKind.PACKED:
        return "its elements do not keep values exactly"
    if decl.count >= 1 << 31:
        return "it is too large"
    if not any(ref.use is BufferUse.READ for ref in refs):
        return "it is never read"
    forms, facts = AffineForms.of(program), ProgramFacts.of(program)
    constants: set[int] = set()
    for ref in refs:
        if ref.use is not BufferUse.READ and ref.use is not BufferUse.WRITE:
            return f"it is used by {ref.use.value.replace('_', ' ')}"
        form = forms.of_expr(_index(facts, ref), ref.position)
        if form is None or form.bits != 32 or not _is_global_id(form.terms, program):
            return f"the access at {facts.path(ref.position)} is not at gid.x"
        constants.add(form.constant)
    return None if len(constants) == 1 else "accesses are at different distances from gid.x"


def _is_global_id(terms: object, program: ir.Program) -> bool:
    width = program.workgroup_size[0]
    split = {
        ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0): width,
        ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0): 1,
    }
    return terms in ({_GLOBAL_ID: 1}, split)


def _distance(program: ir.Program, name: str) -> int:
    facts = ProgramFacts.of(program)
    ref = facts.refs_by_buffer[name][0]
    form = AffineForms.of(program).of_expr(_index(facts, ref), ref.position)
    assert form is not None
    return form.constant


def _index(facts: ProgramFacts, ref: BufferRef) -> ir.AnyExpr:
    if isinstance(ref.expr, ir.Load):
        return ref.expr.index
    store = facts.statements[ref.position]
    assert isinstance(store, ir.Store)
    return store.index


class _Fuse:
    def __init__(self, program: ir.Program, cells: dict[str, ir.BufferDecl]) -> None:
        names = Names(program)
        self.cells = cells
        self.variables = {name: names.fresh(name) for name in cells}
        self.ranges = Ranges.of(program)
        self.distance = {name: _distance(program, name) for name in cells}
        """By buffer: the constant that every index has besides gid.x."""
        self.position = -1

    def run(self, program: ir.Program) -> ir.Program:
        body = self.body(program.entry)
        lets: list[ir.AnyStmt] = [
            ir.Let(self.variables[name], zero(decl.value_type)) for name, decl in self.cells.items()
        ]
        first = 1 if body and type(body[0]) is ir.IndirectDispatch else 0
        made = program.with_rewritten_entry((*body[:first], *lets, *body[first:]))
        kept = [decl for decl in program.buffers if decl.name not in self.cells]
        return made.with_rewritten_buffers(kept)

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        self.position += 1
        new = map_exprs(statement, self.expr)
        if type(new) is ir.Store and new.buffer in self.cells:
            assert not has_effects(new.index)
            return ir.Assign(self.variables[new.buffer], new.value).at(new.span)
        return map_bodies(new, self.body) if new.body_fields else new

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if expr.depth == 1:
            return expr
        inside = type(expr) is ir.Load and self.ranges.is_in_bounds(expr, self.position)
        new = map_exprs(expr, self.expr)
        if type(new) is not ir.Load or new.buffer not in self.cells:
            return new
        decl = self.cells[new.buffer]
        cell = ir.Var(self.variables[new.buffer])
        if inside:
            return cell
        index = ir.Binary(
            ir.BinOp.ADD, _GLOBAL_ID, ir.Lit(ir.DataType.U32, self.distance[new.buffer])
        )
        exists = ir.Binary(ir.BinOp.LT, index, ir.Lit(ir.DataType.U32, decl.count))
        return ir.Select(exists, cell, zero(decl.value_type))
