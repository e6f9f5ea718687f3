"""Loads of workgroup memory on which a barrier depends.

    barrier; let n = tile[0]; barrier; if n > 3 { …; barrier }

Compilers of WGSL in browsers refuse the last barrier, unless the value comes from
`workgroupUniformLoad`, which contains two barriers. So only programs in which some barrier depends
on more than what the grid agrees on have such loads.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Level, ProgramFacts, Uniformity
from vyre.backends.wgsl.context import Context
from vyre.backends.wgsl.memory import Buffer, Cells
from vyre.backends.wgsl.types import held
from vyre.backends.wgsl.value import Value
from vyre.emit import Writer
from vyre.ir.walk import walk_expr

NO_LOADS: frozenset[ir.AnyExpr] = frozenset()


class AgreedLoads:
    """Which loads of a program have to be written as loads that a workgroup agrees on."""

    def __init__(self, program: ir.Program) -> None:
        self._uniformity = Uniformity.of(program)
        self._wanted = any(
            isinstance(statement, ir.Barrier)
            and self._uniformity.control(position) is Level.WORKGROUP
            for position, statement in enumerate(ProgramFacts.of(program).statements)
        )

    def of(self, value: ir.AnyExpr, position: int) -> frozenset[ir.AnyExpr]:
        """The loads in the value of a variable that the workgroup must agree on."""
        settled = self._uniformity.settled(position) if self._wanted else frozenset[str]()
        # A load that all agree on has two barriers, so all invocations must come to it.
        if not settled or self._uniformity.convergence(position) > Level.WORKGROUP:
            return NO_LOADS
        return frozenset(
            node
            for node in walk_expr(value)
            if isinstance(node, ir.Load)
            and node.buffer in settled
            and self._uniformity.level_of(node, position) <= Level.WORKGROUP
        )


def emit_agreed(ctx: Context, out: Writer, loaded: Value, buffer: Buffer, *, is_cell: bool) -> str:
    """The name of a loaded value that the compiler of WGSL takes for the same in the workgroup.

    Where the memory is not an array of such values, the first invocation shows its own to all.
    """
    place = loaded.text
    if not is_cell or buffer.cells is not Cells.PLAIN:
        place = ctx.names.fresh("shown")
        ctx.workgroup_variables[place] = (held(loaded.dtype), 8 * loaded.dtype.lanes)
        ctx.builtins.add("local_index")
        with out.block("if (local_index == 0u)"):
            out.line(f"{place} = {loaded.text};")
    name = ctx.names.fresh("agreed")
    out.line(f"let {name} = workgroupUniformLoad(&{place});")
    return name
