"""Predicated programs: their effects happen only if a word of the device says so.

    body   ->   if going[0] != 0 { body }

Legal when the program has no barrier over the grid, which all workgroups have to reach, and does
not write the word. The condition is one for the whole grid, so barriers in the body stay legal.
What the host does around a program is not predicated: an output, which the host fills with zeros
before, becomes memory that the program changes, and is cleared by a predicated program.
Profitable when the host would have to wait for the device to know whether the program runs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from vyre import ir
from vyre.ir.walk import walk_stmts
from vyre.plan.epochs import syncs


def can_predicate(program: ir.Program) -> bool:
    """True if a program can be under a condition."""
    return not any(
        syncs(statement) or isinstance(statement, (ir.Opaque, ir.IndirectDispatch))
        for statement in walk_stmts(program.entry)
    )


def predicated(program: ir.Program, going: str, outputs: Collection[str]) -> ir.Program:
    """The program under the condition that the buffer `going`, which is new, is not zero."""
    buffers = [
        replace(decl, is_output=False, is_pipeline_live_out=False) if decl.name in outputs else decl
        for decl in program.buffers
    ]
    binding = sum(decl.binding is not None for decl in buffers)
    buffers.append(ir.BufferDecl.read(going, binding, ir.DataType.U32))
    condition = ir.Expr.load(going, 0).ne(ir.Expr.u32(0))
    entry = (ir.Node.if_(condition, list(program.entry)),)
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)
