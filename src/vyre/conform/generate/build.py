"""A random program: its buffers, its statements, its inputs."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from vyre import ir
from vyre.conform.generate import values
from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.exprs import Variable, Visible
from vyre.conform.generate.memory import Memory, Role
from vyre.conform.generate.profile import Profile
from vyre.conform.generate.statements import Place, Statements
from vyre.conform.generate.together import Together
from vyre.ir.types import ARITHMETIC_FLOATS

_COMMUTING = (
    ir.AtomicOp.ADD,
    ir.AtomicOp.AND,
    ir.AtomicOp.OR,
    ir.AtomicOp.XOR,
    ir.AtomicOp.MIN,
    ir.AtomicOp.MAX,
)
_FLOAT_ATOMICS = (ir.AtomicOp.ADD, ir.AtomicOp.MIN, ir.AtomicOp.MAX)
_LINEAR = "invocation"


def _narrowed(dice: Dice, profile: Profile) -> Profile:
    """The profile with a few of its types: values of few types meet more often."""
    always = (ir.DataType.BOOL, ir.DataType.U32)
    others = [dtype for dtype in profile.types if dtype not in always]
    chosen = [dice.pick(others) for _ in range(dice.between(1, 5))]
    types = tuple(t for t in profile.types if t in always or t in chosen)
    return replace(profile, types=types)


class ProgramBuilder:
    """Makes one program."""

    def __init__(self, dice: Dice, profile: Profile) -> None:
        self._dice = dice
        self._profile = profile = _narrowed(dice, profile)
        self._size = dice.pick(profile.workgroups)
        self._grid = dice.pick(profile.grids)
        self._slots = prod(self._size)
        self._total = self._slots * prod(self._grid)
        self._memories: list[Memory] = []
        self._elements = (*profile.types, *profile.types, *profile.storage)

    def case(self, label: str) -> GeneratedCase:
        """The program with its inputs."""
        self._declare()
        body = self._statements()
        buffers = [memory.decl for memory in self._memories]
        program = ir.Program.wrapped(buffers, self._size, body)
        approximate = frozenset(m.name for m in self._memories if m.role is Role.APPROXIMATE)
        return GeneratedCase(program, self._inputs(), self._grid, approximate, label)

    # --- buffers ------------------------------------------------------------------------------

    def _declare(self) -> None:
        dice, profile = self._dice, self._profile
        for _ in range(dice.between(1, 2)):
            self._output()
        for _ in range(dice.between(1, 3)):
            self._input()
        if profile.transcendental:
            self._approximate()
        if profile.atomics:
            self._counters()
            self._own_atomic()
        if profile.barriers or profile.async_copies:
            self._shared()
        if profile.barriers and profile.atomics:
            self._tally()
        if profile.grid_sync:
            self._relay()
        if profile.local_arrays:
            self._local()

    def _bound(self) -> int | None:
        """The next free binding, or None when there are as many buffers as allowed."""
        used = sum(memory.decl.binding is not None for memory in self._memories)
        return used if used < self._profile.max_storage_buffers else None

    def _add(self, role: Role, decl: ir.BufferDecl, **more: object) -> None:
        self._memories.append(Memory(decl, role, **more))  # pyright: ignore[reportArgumentType]

    def _name(self, stem: str) -> str:
        return f"{stem}{len(self._memories)}"

    def _input(self) -> None:
        binding, dice = self._bound(), self._dice
        if binding is None:
            return
        element = dice.pick(self._elements)
        if dice.chance(2) and element.is_scalar:
            decl = ir.BufferDecl.uniform(self._name("constant"), binding, element)
            self._add(Role.INPUT, decl.with_count(dice.pick((4, 8, 16))))
            return
        decl = ir.BufferDecl.read(self._name("in"), binding, element)
        # Without a count, the buffer has the size that the host gives it.
        count = 0 if dice.chance(6) else dice.between(1, 64)
        self._add(Role.INPUT, decl.with_count(count))

    def _output(self) -> None:
        dice = self._dice
        binding = self._bound()
        assert binding is not None
        element = dice.pick(self._elements)
        stride = dice.pick((1, 1, 1, 2, 3))
        owned = self._total * stride
        count = owned if dice.chance(7) else dice.pick((owned + 5, max(owned - 3, 1)))
        name = self._name("out")
        kind = dice.below(5)
        if kind == 0:
            decl = ir.BufferDecl.output(name, binding, element).with_count(count)
        elif kind == 1:
            decl = ir.BufferDecl.write(name, binding, element).with_count(count)
        elif kind == 2:
            decl = ir.BufferDecl.read_write(name, binding, element).with_count(count)
            decl = decl.with_pipeline_live_out().with_initial_value()
        else:
            decl = ir.BufferDecl.read_write(name, binding, element)
            decl = decl if dice.chance(5) else decl.with_count(count)
        backwards = dice.chance(2)
        self._add(Role.OUTPUT, decl, stride=stride, reversed=backwards, total=owned)

    def _approximate(self) -> None:
        floats = [dtype for dtype in self._profile.types if dtype in ARITHMETIC_FLOATS]
        binding = self._bound()
        if floats and binding is not None:
            decl = ir.BufferDecl.output(self._name("soft"), binding, self._dice.pick(floats))
            self._add(Role.APPROXIMATE, decl.with_count(self._total), total=self._total)

    def _atomic_types(self) -> list[ir.DataType]:
        possible = (ir.DataType.U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64)
        return [dtype for dtype in possible if dtype in self._profile.types] or [ir.DataType.U32]

    def _counting(self) -> tuple[ir.DataType, ir.AtomicOp]:
        types, dice, profile = self._atomic_types(), self._dice, self._profile
        if profile.float_atomics and ir.DataType.F32 in profile.types and dice.chance(2):
            return ir.DataType.F32, dice.pick(_FLOAT_ATOMICS)
        return dice.pick(types), dice.pick(_COMMUTING)

    def _counters(self) -> None:
        binding = self._bound()
        if binding is not None:
            element, op = self._counting()
            decl = ir.BufferDecl.output(self._name("count"), binding, element)
            self._add(Role.COUNTERS, decl.with_count(self._dice.pick((1, 4, 16))), op=op)

    def _own_atomic(self) -> None:
        binding, dice = self._bound(), self._dice
        if binding is not None:
            name, element = self._name("own"), dice.pick(self._atomic_types())
            decl = ir.BufferDecl.read_write(name, binding, element).with_count(self._total)
            self._add(Role.OWN_ATOMIC, decl, total=self._total)

    def _shared(self) -> None:
        dice = self._dice
        inputs = [m.decl.element for m in self._memories if m.role is Role.INPUT]
        for _ in range(dice.between(1, 2)):
            element = dice.pick(inputs if inputs and dice.chance(5) else self._elements)
            count = self._slots if dice.chance(7) else self._slots + 3
            decl = ir.BufferDecl.workgroup(self._name("tile"), count, element)
            self._add(Role.SHARED, decl)
        binding = self._bound()
        if self._profile.async_copies and binding is not None:
            element = self._memories[-1].decl.element
            decl = ir.BufferDecl.output(self._name("copied"), binding, element)
            self._add(Role.COPIED, decl.with_count(self._total))

    def _tally(self) -> None:
        element, op = self._counting()
        decl = ir.BufferDecl.workgroup(self._name("tally"), self._slots, element)
        self._add(Role.TALLY, decl, op=op)

    def _relay(self) -> None:
        dice = self._dice
        element = dice.pick(self._profile.types)
        binding = self._bound()
        if binding is None or dice.chance(6):
            decl = ir.BufferDecl.scratch(self._name("relay"), self._total, element)
        else:
            decl = ir.BufferDecl.output(self._name("relay"), binding, element).with_count(
                self._total
            )
        self._add(Role.RELAY, decl, total=self._total)

    def _local(self) -> None:
        dice = self._dice
        for _ in range(dice.between(1, 2)):
            element = dice.pick(self._elements)
            decl = ir.BufferDecl.local(self._name("mine"), dice.pick((1, 3, 8)), element)
            self._add(Role.LOCAL, decl)

    # --- statements ---------------------------------------------------------------------------

    def _statements(self) -> list[ir.Node]:
        dice, profile = self._dice, self._profile
        visible = Visible([], self._memories, ir.Expr.var(_LINEAR), self._slot())
        visible.variables.append(Variable(_LINEAR, ir.DataType.U32, mutable=False))
        count = dice.between(*profile.statements)
        maker = Statements(dice, profile, visible, budget=4 * count)
        Together(maker, self._slots)
        body: list[ir.Node] = [ir.Node.let(_LINEAR, self._linear())]
        # First what is done together; afterwards invocations may come and go as they like.
        body += maker.several(Place(), count * 2 // 3)
        maker.together = False
        maker.may_return = True
        maker.budget = max(maker.budget, count)
        body += maker.several(Place(), count - count * 2 // 3)
        return [*body, *self._show(maker)]

    def _show(self, maker: Statements) -> list[ir.Node]:
        """Stores of what variables hold at the end, so that someone sees it."""
        shown: list[ir.Node] = []
        for memory in maker.memories(Role.OUTPUT):
            dtype = memory.value_type
            fitting = [v for v in maker.visible.variables if v.dtype is dtype]
            index = maker.exprs.own_index(memory)
            if fitting and memory.decl.element is dtype:
                value: ir.AnyExpr = ir.Expr.var(fitting[-1].name)
            else:
                value = maker.exprs.storable(memory)
            shown.append(ir.Node.store(memory.name, index, value))
        return shown

    def _slot(self) -> ir.AnyExpr:
        sx, sy, _ = self._size
        slot: ir.AnyExpr = ir.Expr.local_id(0)
        if self._size[1] > 1:
            slot = slot + ir.Expr.local_id(1) * ir.Expr.u32(sx)
        if self._size[2] > 1:
            slot = slot + ir.Expr.local_id(2) * ir.Expr.u32(sx * sy)
        return slot

    def _linear(self) -> ir.AnyExpr:
        sx, sy, _ = self._size
        _, gy, gz = self._grid
        linear: ir.AnyExpr = ir.Expr.gid(0)
        if gy * self._size[1] > 1:
            linear = linear + ir.Expr.gid(1) * (ir.Expr.num_workgroups(0) * ir.Expr.u32(sx))
        if gz * self._size[2] > 1:
            plane = ir.Expr.num_workgroups(0) * ir.Expr.num_workgroups(1) * ir.Expr.u32(sx * sy)
            linear = linear + ir.Expr.gid(2) * plane
        return linear

    # --- inputs -------------------------------------------------------------------------------

    def _inputs(self) -> dict[str, values.Array]:
        tame = self._profile.tame_floats
        inputs: dict[str, values.Array] = {}
        for memory in self._memories:
            decl = memory.decl
            if decl.is_host_input:
                count = decl.count or memory.total or self._dice.between(1, 2 * self._total)
                inputs[decl.name] = values.array(self._dice, decl.element, count, tame=tame)
        return inputs
