"""B2##: a WebGPU device failed, or was asked for more than it has."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

DEVICE_LOST = Code(
    "B201",
    "device lost",
    "the device {device} was lost while {doing}",
    "start again with a new process; if it repeats, look for an endless loop in the kernel",
)
DEVICE_FAILED = Code(
    "B202",
    "device failed",
    "the device {device} failed while {doing}: {problem}",
    "if the driver is up to date, report it together with the program's text",
)
BUFFER_TOO_LARGE = Code(
    "B203",
    "buffer too large",
    "{what} of {found:,} bytes is too large: {device} takes at most {limit:,} bytes at once",
    "launch it in parts, or choose a device with larger buffers: `vyre devices` lists them",
)
NOT_OURS = Code(
    "B205",
    "memory of another device",
    "a buffer is bound to memory that is not of {device}",
    "allocate it on {device}",
)
TOO_MANY_WORKGROUPS = Code(
    "B206",
    "too many workgroups",
    "a grid of {found} workgroups is too large: {device} numbers at most {limit}",
    "use a larger workgroup size, or more work per invocation",
)
LOOP_ENDED = Code(
    "B207",
    "loop ended by the driver",
    "the driver of {device} left a loop before its end, in invocation {at}",
    "make fewer rounds in one invocation, or run on the CPU or another driver",
)

CODES = (
    DEVICE_LOST,
    DEVICE_FAILED,
    BUFFER_TOO_LARGE,
    NOT_OURS,
    TOO_MANY_WORKGROUPS,
    LOOP_ENDED,
)
