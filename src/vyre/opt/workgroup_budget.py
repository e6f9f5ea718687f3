"""How much workgroup memory a program may still be given."""

from __future__ import annotations

from vyre.ir import Program
from vyre.target import WEBGPU_DEFAULT_LIMITS, Target

MOST_PROMOTED_BYTES = 16_384
"""No buffer larger than this is moved into workgroup memory."""


def room_left(program: Program, target: Target | None) -> int:
    """Bytes of workgroup memory that the target, or any target, has beyond what is declared."""
    limits = WEBGPU_DEFAULT_LIMITS if target is None else target.limits
    used = sum(decl.size_bytes or 0 for decl in program.buffers if decl.is_workgroup)
    return min(max(limits.max_workgroup_bytes - used, 0), MOST_PROMOTED_BYTES)
