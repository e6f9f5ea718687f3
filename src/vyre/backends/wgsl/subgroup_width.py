"""How wide the subgroups of a device are: WebGPU tells a range at most, so a kernel counts.

The width counts as known when subgroups of consecutive invocations are filled in order, by several
workgroup sizes alike. Where it is not, subgroups are made of workgroup memory instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.backends.wgsl.probe_shader import run_once

if TYPE_CHECKING:
    from vyre.backends.wgsl.device import WgpuDevice

_SIZES = (64, 256)
_SHADER = """
@group(0) @binding(0) var<storage, read_write> found: array<vec2<u32>>;

@compute @workgroup_size({size})
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {{
    let first = subgroupBroadcastFirst(index);
    found[index] = vec2<u32>(subgroupAdd(1u), select(0u, 1u, first + lane == index));
}}
"""


def measure_width(device: WgpuDevice) -> int:
    """The width of all subgroups, or 0."""
    widths = {_measure(device.handle, device.recorder, size) for size in _SIZES}
    return widths.pop() if len(widths) == 1 else 0


def _measure(handle: Any, recorder: Any, size: int) -> int:
    numbers = run_once(handle, recorder, _SHADER.format(size=size), 2 * size)
    widths, in_order = set(numbers[0::2]), set(numbers[1::2])
    return widths.pop() if len(widths) == 1 and in_order == {1} else 0
