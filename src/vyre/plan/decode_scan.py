"""A decoder and a scanner as one program: what one hands to the other stays on the chip.

    decoder: t[gid.x] = decode(x, gid.x)        own = decode(x, gid.x)
    scanner: y[gid.x] = scan(t[gid.x])     ->   y[gid.x] = scan(own)

Legal when the decoder writes the handoff and the scanner reads it, both on one grid of one row, and
each invocation (a register) or each workgroup (workgroup memory, at most 16 384 bytes) reads only
what it has written itself. What fails is named by its condition: L2, L7 or L10.
Profitable when the handoff is larger than what the caches hold.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import graph as codes
from vyre.opt.passes import decode_scan_fuse
from vyre.plan.fuse import fuse
from vyre.plan.graph_fuse import refuse_grid_syncs, without_handoffs


def fuse_decode_scan(decoder: ir.Program, scanner: ir.Program, handoff: str) -> ir.Program:
    """Join a decoder and a scanner; a `PlanError` names the condition that fails.

    `handoff` names a buffer of both, whose count one of them declares. The program has the other
    buffers of both, by name, and runs on the grid of one row that both would run on.
    """
    for program, role in ((decoder, "the decoder"), (scanner, "the scanner")):
        if not isinstance(program, ir.Program):
            problem = f"{role} is a {type(program).__name__}, not a program"
            raise PlanError(codes.NO_HANDOFF.at(name=handoff, problem=problem))
        if program.buffer(handoff) is None:
            problem = f"{role} has no buffer of that name"
            raise PlanError(codes.NO_HANDOFF.at(name=handoff, problem=problem))
    if handoff not in ProgramFacts.of(decoder).written_buffers:
        raise PlanError(codes.NO_HANDOFF.at(name=handoff, problem="the decoder does not write it"))
    if handoff not in ProgramFacts.of(scanner).read_buffers:
        raise PlanError(codes.NO_HANDOFF.at(name=handoff, problem="the scanner does not read it"))
    return _on_chip(decoder, scanner, handoff)


def _on_chip(decoder: ir.Program, scanner: ir.Program, handoff: str) -> ir.Program:
    """The one place where it is decided how the handoff stays on the chip."""
    fusion = fuse([decoder, scanner], ["decode", "scan"], [handoff], flat_grid=True)
    refuse_grid_syncs(f"decode, scan by {handoff}", fusion)
    in_registers = without_handoffs(fusion.program, [handoff])
    if in_registers.buffer(handoff) is None:
        return in_registers
    tiled = decode_scan_fuse.run(fusion.program)
    kept = tiled.buffer(handoff)
    if kept is None or kept.is_on_chip:
        return tiled
    condition = f"L4: {handoff} does not fit workgroup memory, or is not read where it was written"
    raise PlanError(
        codes.NOT_ONE_PROGRAM.at(name=f"decode, scan by {handoff}", condition=condition)
    )
