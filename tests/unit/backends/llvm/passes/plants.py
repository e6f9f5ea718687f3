"""Wrong passes, each with one mistake in its source: the differential test must show every one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from vyre.backends.llvm.pass_context import CpuPass


@dataclass(frozen=True)
class Plant:
    """One mistake: in which pass, and what stands there in place of what."""

    what: str
    name: str
    right: str
    wrong: str

    def planted(self) -> CpuPass:
        """The pass with the mistake; the module that is in use stays as it is."""
        module = import_module(f"vyre.backends.llvm.passes.{self.name}")
        assert module.__file__ is not None
        source = Path(module.__file__).read_text()
        assert source.count(self.right) == 1, f"{self.what}: {self.right!r} is not there once"
        copy = ModuleType(module.__name__)
        copy.__file__ = module.__file__
        usual = sys.modules[module.__name__]
        sys.modules[module.__name__] = copy
        try:
            exec(compile(source.replace(self.right, self.wrong), self.name, "exec"), copy.__dict__)
        finally:
            sys.modules[module.__name__] = usual
        made = getattr(copy, "".join(part.title() for part in self.name.split("_")))()
        assert isinstance(made, CpuPass)
        return made


PLANTS = (
    Plant(
        "results are those of the first subgroup",
        "lower_subgroups",
        "self._own = _binary(ir.BinOp.DIV, self._lane, _u32(lanes))",
        "self._own = _u32(0)",
    ),
    Plant(
        "lanes that are not there are joined",
        "lower_subgroups",
        "ir.Loop(k, _u32(int(identity is None)), stop, (joined,))",
        "ir.Loop(k, _u32(0), stop, (joined,))",
    ),
    Plant(
        "a lane of another subgroup answers",
        "lower_subgroups",
        "exists = _binary(ir.BinOp.LT, wide,",
        "exists = _binary(ir.BinOp.GE, wide,",
    ),
    Plant(
        "memory is read after an exchange instead of before it",
        "lower_subgroups",
        "if early and (reads_memory(new) or not is_movable(new)):",
        "if early and not is_movable(new):",
    ),
    Plant(
        "lanes beyond the last one vote",
        "lower_subgroups",
        "if self._invocations % packed:",
        "if packed == 0:",
    ),
    Plant(
        "a load is repeated after a store",
        "compact_leaders",
        "written.add(inner.buffer)",
        "pass",
    ),
    Plant(
        "lanes that have left do the work of leaders",
        "compact_leaders",
        "leaves = (ir.Return, ir.Break, ir.Continue)",
        "leaves = ()",
    ),
    Plant(
        "leaders have the ids of the first lanes",
        "compact_leaders",
        "return ids.of(node) if found is None else rewrite_expr(found, ids.of)",
        "return node if found is None else found",
    ),
    Plant(
        "invocations go on after their return",
        "structure_returns",
        "return (*before, branch)",
        'return (*before, rebuilt(branch, {"otherwise": ()}), *other)',
    ),
    Plant(
        "the work before a return is lost",
        "structure_returns",
        '"then": structured(tuple(then))',
        '"then": ()',
    ),
    Plant(
        "a return in a loop ends the kernel for all",
        "structure_returns",
        "case ir.Return():",
        "case ir.Return() | ir.Loop():",
    ),
    Plant(
        "ids change places one way only",
        "interchange_axes",
        "places = {0: axis, axis: 0}",
        "places = {0: axis}",
    ),
    Plant(
        "the workgroup keeps its shape",
        "interchange_axes",
        "size[0], size[axis] = size[axis], size[0]",
        "size = list(program.workgroup_size)",
    ),
    Plant(
        "invocations that are ordered are reordered",
        "interchange_axes",
        "not may_reorder_invocations(program)",
        "program is None",
    ),
    Plant(
        "a row is lost",
        "retile_workgroups",
        "(1, tiling.rows, 1)",
        "(1, max(tiling.rows - 1, 1), 1)",
    ),
    Plant(
        "elements that were not exchanged are lost",
        "if_convert_exchanges",
        "ir.Select(statement.cond, store.value, ir.Var(before))",
        "store.value",
    ),
    Plant(
        "exchanged where they should not be",
        "if_convert_exchanges",
        "ir.Select(statement.cond, store.value, ir.Var(before))",
        "ir.Select(statement.cond, ir.Var(before), store.value)",
    ),
    Plant(
        "steps are taken whatever the condition",
        "canonicalise_reductions",
        "value if when is None else ir.Select(when, value, own)",
        "value",
    ),
    Plant(
        "the least number in place of the greatest",
        "canonicalise_reductions",
        "ir.BinOp.GT: ir.BinOp.MAX",
        "ir.BinOp.GT: ir.BinOp.MIN",
    ),
    Plant(
        "the counter of a while loop stays where it began",
        "canonicalise_reductions",
        "        return [found, end]",
        "        return [found]",
    ),
    Plant(
        "the last iteration is lost",
        "grid_stride_loops",
        "count = ir.Binary(ir.BinOp.ADD, ir.Binary(ir.BinOp.DIV, left, found.step), _ONE)",
        "count = ir.Binary(ir.BinOp.DIV, left, found.step)",
    ),
    Plant(
        "a step downwards is one upwards",
        "grid_stride_loops",
        "conditions.append(found.is_up)",
        "pass",
    ),
    Plant(
        "an end below zero is beyond the first id",
        "grid_stride_loops",
        "least = ir.Binary(ir.BinOp.MAX, stop, ir.Expr.i32(0))",
        "least = ir.Binary(ir.BinOp.MAX, stop, ir.Expr.i32(1))",
    ),
    Plant(
        "a lane too many in the last iteration",
        "grid_stride_loops",
        "return ir.Binary(ir.BinOp.LT, found.start, ir.Binary(ir.BinOp.SUB, found.stop, gone))",
        "return ir.Binary(ir.BinOp.LE, found.start, ir.Binary(ir.BinOp.SUB, found.stop, gone))",
    ),
    Plant(
        "lanes forget where they begin",
        "grid_stride_loops",
        "ir.Binary(ir.BinOp.ADD, found.start, ir.Binary(ir.BinOp.MUL, ir.Var(counter), step))",
        "ir.Binary(ir.BinOp.MUL, ir.Var(counter), step)",
    ),
    Plant(
        "full iterations without room for all lanes",
        "unroll_grid_stride",
        "row = ir.Expr.u32(self._size * heuristics.MAX_WORKGROUPS_PER_ROW)",
        "row = _ONE",
    ),
    Plant(
        "the remainder begins too early",
        "unroll_grid_stride",
        'rebuilt(loop, {"start": done})',
        'rebuilt(loop, {"start": ir.Var(whole)})',
    ),
    Plant(
        "an iteration is done twice",
        "unroll_grid_stride",
        "ir.Binary(ir.BinOp.ADD, begin, ir.Expr.u32(n))",
        "ir.Binary(ir.BinOp.ADD, begin, ir.Expr.u32(n // 2))",
    ),
    Plant(
        "only the trip count is tested, not the strides",
        "specialise_trip_counts",
        "for size in self._plan.sizes:",
        "for size in self._plan.sizes[:1]:",
    ),
    Plant(
        "a version runs for one member more",
        "specialise_trip_counts",
        "ir.Lit(ir.DataType.U32, number))",
        "ir.Lit(ir.DataType.U32, number + 1))",
    ),
    Plant(
        "an iteration is missing",
        "specialise_trip_counts",
        "UnrolledBody(body, self._plan, number, self._types)",
        "UnrolledBody(body, self._plan, number - 1, self._types)",
    ),
    Plant(
        "a store passes a load of its array",
        "cluster_stores",
        "not (store.writes & between.reads)",
        "True",
    ),
    Plant(
        "a store passes one to an array that it reads",
        "cluster_stores",
        "not (store.reads & between.writes)",
        "True",
    ),
    Plant(
        "a store passes an assignment",
        "cluster_stores",
        "isinstance(made[end].statement, (ir.Let, ir.Store))",
        "isinstance(made[end].statement, (ir.Let, ir.Store, ir.Assign))",
    ),
    Plant(
        "the first member is lost",
        "cluster_stores",
        "[*made[end:], *stores]",
        "[*made[end:], *stores[1:]]",
    ),
)
