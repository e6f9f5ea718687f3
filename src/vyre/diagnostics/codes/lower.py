"""L###: a program cannot be brought to a target."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

NO_STATEMENT = Code(
    "L001",
    "statement that the target lacks",
    "{what} does not work on {target}",
    "run the program on another device, such as cpu, or leave the statement out",
)
NO_TYPE = Code(
    "L002",
    "type that the target lacks",
    "{what} has the type {dtype}, which {target} cannot compute with",
    "{fix}",
)
TOO_MANY_BUFFERS = Code(
    "L003",
    "too many buffers",
    "the program uses {found} buffers in device memory{own}, and {target} binds at most {limit}",
    "put several arrays into one buffer, or split the program",
)
WORKGROUP_SIZE = Code(
    "L004",
    "workgroup too large",
    "a workgroup of {found} invocations is too large for {target}, which allows {limit}",
    "choose a smaller workgroup size",
)
WORKGROUP_MEMORY = Code(
    "L005",
    "too much workgroup memory",
    "the workgroup's buffers take {found} bytes{own}, and {target} has {limit}",
    "use smaller workgroup buffers, or narrower elements",
)
PRIVATE_MEMORY = Code(
    "L006",
    "too much private memory",
    "the arrays of one invocation take {found} bytes, and {target} has {limit}",
    "use smaller private arrays, or a buffer; the buffers of a Python kernel are its parameters, "
    "such as kept: vy.InOut[vy.f32]",
)
NEEDS_SPLIT = Code(
    "L007",
    "barrier over the whole grid",
    "a grid-wide barrier cannot stand inside one launch on {target}",
    "dispatch the program through vyre, which splits it into several launches there",
)
SUBGROUP_PLACE = Code(
    "L008",
    "subgroup operation where invocations part",
    "{target} has no subgroups, and this operation stands where not all invocations arrive",
    "move it out of the divergent branch or loop, or run on a device with subgroups",
)

CODES = (
    NO_STATEMENT,
    NO_TYPE,
    TOO_MANY_BUFFERS,
    WORKGROUP_SIZE,
    WORKGROUP_MEMORY,
    PRIVATE_MEMORY,
    NEEDS_SPLIT,
    SUBGROUP_PLACE,
)
