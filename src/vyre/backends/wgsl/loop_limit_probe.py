"""Measures after how many iterations a driver ends a loop prematurely.

Versions of Mesa's llvmpipe allow an invocation 65 535 iterations in all its loops together, then
continue after the loop as if it had ended, without an error. A probe kernel counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.wgsl.probe_shader import run_once

if TYPE_CHECKING:
    from vyre.backends.wgsl.device import WgpuDevice

TRIED = 1 << 17
_SHADER = f"""
@group(0) @binding(0) var<storage, read_write> rounds: array<u32>;

@compute @workgroup_size(1)
fn main() {{
    for (var k = rounds[0]; k < {TRIED}u; k++) {{
        rounds[0] = k + 1u;
    }}
}}
"""


def measure_rounds(device: WgpuDevice) -> int | None:
    """How many rounds an invocation makes; None if as many as it wants."""
    (found,) = run_once(device.handle, device.recorder, _SHADER, 1)
    return found if found < TRIED else None
