"""Bytes that are written four at a time, held as words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from vyre import ir
from vyre.analysis import BufferUse, ProgramFacts, expr_effects, is_movable, reads_memory
from vyre.analysis.affine import AffineForms
from vyre.analysis.types import VariableTypes
from vyre.ir.walk import map_bodies, map_exprs
from vyre.opt.metadata import CostModelFamily, PassBoundaryClass, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.target import Feature

_BYTES = (ir.DataType.U8, ir.DataType.BYTES)


@vyre_pass(
    name="pack_bytes",
    phase=PassPhase.MEMORY,
    family=CostModelFamily.MEMORY,
    invalidates=("facts", "buffer_layout"),
    boundary=PassBoundaryClass.INTERNAL_LAYOUT,
)
class PackBytes(Pass):
    """Holds bytes in scratch or workgroup memory as words: four neighbouring stores become one, and
    loads take their byte out of a word, which neighbours then share. For devices without accesses
    to bytes, where storing one takes two atomics on its word.
    Legal when the host never sees the buffer, its length is a multiple of four, every store is one
    of four in a row to the bytes of one aligned word, and nothing but plain loads and stores uses
    it.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is such a buffer."""
        if context.target is not None and context.target.has(Feature.SUBWORD):
            return PassAnalysis.skip("this device accesses bytes by themselves")
        if not any(map(_is_candidate, program.buffers)):
            return PassAnalysis.skip("there are no bytes in scratch or workgroup memory")
        return PassAnalysis.RUN

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Find the groups of stores; if they are all there are, change the buffer."""
        notes: list[str] = []
        packed: dict[str, _Groups] = {}
        for decl in filter(_is_candidate, program.buffers):
            groups = _Groups(program, decl.name)
            why = groups.refusal()
            if why is None:
                packed[decl.name] = groups
            else:
                notes.append(f"{decl.name} stays bytes: {why}")
        if not packed:
            return PassResult(program, 0, tuple(notes))
        entry = _Pack(program, packed).body(program.entry)
        made = program.with_rewritten_entry(entry).with_rewritten_buffers(
            replace(decl, element=ir.DataType.U32, count=decl.count // 4)
            if decl.name in packed
            else decl
            for decl in program.buffers
        )
        return PassResult(made, sum(len(g.starts) for g in packed.values()), tuple(notes))


def _is_candidate(decl: ir.BufferDecl) -> bool:
    # Bytes of one invocation's own are words anyway where there are no bytes.
    shared = decl.is_scratch or decl.is_workgroup
    return shared and decl.element in _BYTES and decl.count > 0 and decl.count % 4 == 0


class _Numbered(NamedTuple):
    position: int
    statement: ir.AnyStmt


class _Groups:
    """The groups of four stores to one buffer."""

    def __init__(self, program: ir.Program, buffer: str) -> None:
        self.facts = ProgramFacts.of(program)
        self.forms = AffineForms.of(program)
        self.buffer = buffer
        self.starts: set[int] = set()
        """Positions of the first stores of the groups."""
        for body in self._bodies():
            self._find(body)

    def refusal(self) -> str | None:
        """Why the buffer cannot be held as words."""
        refs = self.facts.refs_by_buffer.get(self.buffer, [])
        if self.facts.opaques:
            return "an opaque statement may touch it"
        writes = [ref.position for ref in refs if ref.use is BufferUse.WRITE]
        for ref in refs:
            if ref.use not in (BufferUse.READ, BufferUse.WRITE):
                return f"it is used by {ref.use.value.replace('_', ' ')}"
            if isinstance(ref.expr, ir.Load):
                index = ref.expr.index
                if not is_movable(index) or reads_memory(index):
                    return "an index is not simple enough to be used twice"
        if not self.starts or len(writes) != 4 * len(self.starts):
            return "not every store is one of four to a word"
        return None

    def _bodies(self) -> Iterator[list[_Numbered]]:
        table: dict[tuple[int, str], list[_Numbered]] = {}
        facts = self.facts
        for position, statement in enumerate(facts.statements):
            key = (facts.parents[position], facts.fields[position])
            table.setdefault(key, []).append(_Numbered(position, statement))
        yield from table.values()

    def _find(self, body: list[_Numbered]) -> None:
        index = 0
        while index + 4 <= len(body):
            if self._is_group(body[index : index + 4]):
                self.starts.add(body[index].position)
                index += 4
            else:
                index += 1

    def _is_group(self, four: list[_Numbered]) -> bool:
        first = four[0]
        for distance, (position, statement) in enumerate(four):
            if not (isinstance(statement, ir.Store) and statement.buffer == self.buffer):
                return False
            if self.buffer in expr_effects(statement.value).reads:
                return False
            if not (is_movable(statement.value) and is_movable(statement.index)):
                return False
            assert isinstance(first.statement, ir.Store)
            apart = self.forms.difference(
                statement.index, position, first.statement.index, first.position
            )
            if apart != distance:
                return False
        assert isinstance(first.statement, ir.Store)
        return _begins_word(self.forms, first.statement.index, first.position)


def _begins_word(forms: AffineForms, index: ir.AnyExpr, position: int) -> bool:
    """Whether an index is a multiple of four."""
    form = forms.of_expr(index, position)
    if form is None:
        return False
    return form.constant % 4 == 0 and all(value % 4 == 0 for value in form.terms.values())


class _Pack:
    def __init__(self, program: ir.Program, packed: dict[str, _Groups]) -> None:
        self.packed = packed
        self.forms = AffineForms.of(program)
        self.type_of = VariableTypes.of(program).of_expr
        self.starts = frozenset(start for g in packed.values() for start in g.starts)
        self.position = -1

    def body(self, body: ir.Body) -> ir.Body:
        out: list[ir.AnyStmt] = []
        index = 0
        while index < len(body):
            statement = body[index]
            self.position += 1
            if self.position in self.starts:
                out.append(self._word([s for s in body[index : index + 4] if type(s) is ir.Store]))
                self.position += 3
                index += 4
                continue
            new = map_exprs(statement, self.expr)
            out.append(map_bodies(new, self.body) if new.body_fields else new)
            index += 1
        same = len(out) == len(body) and all(a is b for a, b in zip(out, body, strict=True))
        return body if same else tuple(out)

    def _word(self, stores: list[ir.Store]) -> ir.AnyStmt:
        first = stores[0]
        dtype = self.type_of(first.index, self.position)
        word: ir.AnyExpr | None = None
        for byte, store in enumerate(stores):
            part: ir.AnyExpr = ir.Cast(self.expr(store.value), ir.DataType.U32)
            if byte:
                part = ir.Binary(ir.BinOp.SHL, part, ir.Lit(ir.DataType.U32, 8 * byte))
            word = part if word is None else ir.Binary(ir.BinOp.OR, word, part)
        assert word is not None
        index = ir.Binary(ir.BinOp.SHR, self.expr(first.index), ir.Lit(dtype, 2))
        return ir.Store(first.buffer, index, word).at(first.span)

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if expr.depth == 1:
            return expr
        if type(expr) is not ir.Load or expr.buffer not in self.packed:
            return map_exprs(expr, self.expr)
        dtype = self.type_of(expr.index, self.position)
        known = self._known_byte(expr.index)
        if known is not None:
            # Bytes of one word load it by the same index, so that it is loaded once.
            index, byte = known
            word = ir.Load(expr.buffer, ir.Binary(ir.BinOp.SHR, index, ir.Lit(dtype, 2)))
            if byte == 0:
                return ir.Cast(word, ir.DataType.U8)
            return ir.Cast(
                ir.Binary(ir.BinOp.SHR, word, ir.Lit(ir.DataType.U32, 8 * byte)), ir.DataType.U8
            )
        index = expr.index
        word = ir.Load(expr.buffer, ir.Binary(ir.BinOp.SHR, index, ir.Lit(dtype, 2)))
        place = ir.Cast(ir.Binary(ir.BinOp.AND, index, ir.Lit(dtype, 3)), ir.DataType.U32)
        shift = ir.Binary(ir.BinOp.SHL, place, ir.Lit(ir.DataType.U32, 3))
        return ir.Cast(ir.Binary(ir.BinOp.SHR, word, shift), ir.DataType.U8)

    def _known_byte(self, index: ir.AnyExpr) -> tuple[ir.AnyExpr, int] | None:
        """Where the word of a byte begins, and which byte of it is meant."""
        match index:
            case ir.Lit(dtype, bits):
                return ir.Lit(dtype, bits & ~3), bits & 3
            case ir.Binary(ir.BinOp.ADD, start, ir.Lit(dtype, bits)) if bits & 3:
                if not _begins_word(self.forms, start, self.position):
                    return None
                above = bits & ~3
                return (
                    ir.Binary(ir.BinOp.ADD, start, ir.Lit(dtype, above)) if above else start
                ), bits & 3
            case _:
                return (index, 0) if _begins_word(self.forms, index, self.position) else None
