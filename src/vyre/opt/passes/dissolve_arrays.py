"""Private arrays whose elements are known by number become variables."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import BufferRef, BufferUse, ProgramFacts
from vyre.analysis.scalarisable_arrays import MOST_ELEMENTS
from vyre.ir.walk import expr_children, map_bodies, map_exprs, walk_expr, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.folding import value_of
from vyre.rewrite.names import Names
from vyre.rewrite.splitting import Splitting

_ONCE = (ir.If, ir.Block, ir.Region)
"""What runs its bodies once at most, so that a variable bound in there is always a new one."""


@vyre_pass(name="dissolve_arrays", phase=PassPhase.DATAFLOW, invalidates=("facts",))
class DissolveArrays(Pass):
    """Puts a variable in the place of each element of an invocation's own array.
    Legal when every index of the array is a literal inside of it, and nothing but loads and stores
    touches it: the elements begin as zeros, and no other invocation can see them.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is such an array."""
        if _arrays(program):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no private array is indexed by literals alone")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Bind the elements where the array is first used, and again where they are stored."""
        names = Names(program)
        walk = _Walk(_arrays(program), names, program.entry)
        entry = Splitting(names).body(walk.body(program.entry))
        return PassResult(program.with_rewritten_entry(entry), walk.rewrites)


def _arrays(program: ir.Program) -> list[ir.BufferDecl]:
    """The arrays whose elements can be variables; found out once."""
    return program.memo(DissolveArrays, _find_arrays)


def _find_arrays(program: ir.Program) -> list[ir.BufferDecl]:
    private = [decl for decl in program.buffers if decl.is_local and _can_be_variables(decl)]
    if not private:
        return []
    facts = ProgramFacts.of(program)
    if any(type(statement) is ir.Opaque for statement in facts.statements):
        return []
    return [
        decl
        for decl in private
        if (refs := facts.refs_by_buffer.get(decl.name))
        and all(_is_known(facts.statements[ref.position], ref, decl) for ref in refs)
    ]


def _can_be_variables(decl: ir.BufferDecl) -> bool:
    element = decl.element
    few = 0 < decl.count <= MOST_ELEMENTS
    return few and decl.value_type is element and not element.is_vector


def _is_known(statement: ir.AnyStmt, ref: BufferRef, decl: ir.BufferDecl) -> bool:
    """Whether a reference is a load or a store of an element known by number."""
    if ref.use is BufferUse.READ:
        index = ref.expr.index if type(ref.expr) is ir.Load else None
    else:
        index = (
            statement.index if ref.use is BufferUse.WRITE and type(statement) is ir.Store else None
        )
    number = None if index is None else _number(index)
    return number is not None and 0 <= number < decl.count


def _number(index: ir.AnyExpr) -> int | None:
    """Which element an index means, if it consists of literals."""
    literal = index if type(index) is ir.Lit else value_of(index)
    return None if literal is None else int(literal.value)


class _Walk:
    """Replaces loads and stores of arrays."""

    def __init__(self, arrays: list[ir.BufferDecl], names: Names, entry: ir.Body) -> None:
        self.elements: dict[str, list[str]] = {}
        """The variables of an array."""
        self.begins: dict[int, list[ir.BufferDecl]] = {}
        """The arrays that begin with a statement, by its identity."""
        self.rewrites = 0
        for decl in arrays:
            self.elements[decl.name] = [names.fresh(decl.name) for _ in range(decl.count)]
            self.begins.setdefault(id(_first_use(entry, decl.name)), []).append(decl)

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        # The same object may stand in the text again; arrays begin where it stands first.
        begin = self.begins.pop(id(statement), ())
        new = self._changed(statement)
        if not begin:
            return new
        zeros = [
            ir.Let(name, ir.Lit(d.element, 0)) for d in begin for name in self.elements[d.name]
        ]
        return [*zeros, new]

    def _changed(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        new = map_exprs(statement, self.expr)
        if type(new) is ir.Store and new.buffer in self.elements:
            self.rewrites += 1
            return ir.Assign(self._element(new.buffer, new.index), new.value).at(statement.span)
        return map_bodies(new, self.body) if new.body_fields else new

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if type(expr) is ir.Load and expr.buffer in self.elements:
            self.rewrites += 1
            return ir.Var(self._element(expr.buffer, expr.index))
        return expr if expr.depth == 1 else map_exprs(expr, self.expr)

    def _element(self, buffer: str, index: ir.AnyExpr) -> str:
        number = _number(index)
        assert number is not None
        return self.elements[buffer][number]


def _first_use(body: ir.Body, name: str) -> ir.AnyStmt:
    """The first statement that uses an array, in the innermost body that has all its uses."""
    users = [statement for statement in body if _uses(statement, name)]
    only = users[0]
    if len(users) == 1 and isinstance(only, _ONCE) and not _uses_itself(only, name):
        arms = [getattr(only, field) for field in only.body_fields]
        arms = [arm for arm in arms if any(_uses(statement, name) for statement in arm)]
        if len(arms) == 1:
            return _first_use(arms[0], name)
    return only


def _uses(statement: ir.AnyStmt, name: str) -> bool:
    return any(_uses_itself(each, name) for each in walk_stmts((statement,)))


def _uses_itself(statement: ir.AnyStmt, name: str) -> bool:
    if type(statement) is ir.Store and statement.buffer == name:
        return True
    return any(
        type(node) is ir.Load and node.buffer == name
        for operand in expr_children(statement)
        for node in walk_expr(operand)
    )
