"""The contract between generated kernels and the runtime that launches them.

The entry point
---------------
Every object file exports exactly one function, named `KERNEL_SYMBOL`:

    define void @vyre_kernel(ptr noalias %launch, i64 %first, i64 %last, ptr noalias %scratch)

It executes the workgroups with linear index `first <= i < last`, in any order it likes, and
returns. A linear index decodes as x = i % nx, y = (i / nx) % ny, z = i / (nx * ny). The runtime
calls it from several threads at once with disjoint ranges of one launch; `first < last` holds,
but for one call: a kernel with `KernelInfo.keeps` is called with `first == last` by every thread
that has worked on a launch, after its last range, to hand over what it keeps in its scratch memory.

- `%launch` points to a `%vyre.launch`, read-only and the same for all threads of a launch.
- `%scratch` points to `KernelInfo.scratch_bytes` bytes owned by the calling thread, aligned to
  `SCRATCH_ALIGN` (null if that is 0). Its first two words are 0 when a thread begins to work on a
  launch, the rest is undefined: the kernel zeroes workgroup memory. What a call leaves there, the
  next call of the same thread for the same launch finds. It is the place for workgroup memory, for
  values that live per lane across barriers, for large private arrays, and for totals.

    %vyre.buffer  = { ptr data, i64 count }
    %vyre.launch  = { ptr buffers, ptr control, i32 nx, i32 ny, i32 nz, i32 flags, ptr shared }
    %vyre.control = { i32 stop, i32 trapped, i32 trap_tag, i32 x, i32 y, i32 z,
                      ptr ring, i64 ring_words, <to 64>, i64 ring_cursor, <to 128> }

`buffers` is an array of `%vyre.buffer` in the order of `KernelInfo.buffers`; `count` is in
elements. `data` is aligned at least to the element; it may be null when `count` is 0. Two
buffers may share memory only if neither is written (the dispatch refuses the rest), so generated
code takes read-only buffers to be constant for the length of a launch. A file that is mapped twice
escapes that comparison: where `flags` has `LAUNCH_UNSURE`, no access may leave its buffer because a
read-only one changes. That concerns the buffers in `KernelInfo.proving`.

`shared` is the scratch memory of the launching thread, which all threads of the launch may reach. A
kernel puts there what its calls tell each other, at places that no call uses as its own scratch.

The stack
---------
A call takes at most `STACK_BYTES` of stack, spilled registers and the functions that it calls
included; `KernelInfo.stack_bytes` says how much, and a kernel that needs more is refused when it is
compiled. Frames are probed page by page. Workers have that much; a launching thread that does not
leaves the work to them.

Stopping
--------
`stop` is the first word of `%vyre.control`. It turns non-zero when the launch
must end early (deadline, Ctrl-C, a trap). Every loop whose trip count is not small and bounded
polls it on its back edge:

    %s = load atomic i32, ptr %control monotonic, align 4      ; not zero: branch to the exit

The runtime itself looks between chunks, so straight-line kernels need no poll. A kernel with such
loops says `KernelInfo.polls = True`; without it the runtime takes every workgroup to be short.

Traps and prints
----------------
`PRELUDE` defines the types above and two internal functions. The
code generator puts it on top of its module; the optimiser drops what is not used.

    void @vyre_trap(ptr %control, i32 %tag, i32 %x, i32 %y, i32 %z)
        records the first trap (index into `KernelInfo.trap_tags`, global id of the invocation) and
        sets `stop`. The kernel then leaves as it does for `stop`.
    ptr @vyre_print(ptr %control, i32 %format, i32 %words, i32 %x, i32 %y, i32 %z)
        reserves a record with `%words` 8-byte slots for arguments, or returns null when the ring is
        full (noted for the host). Each argument is stored as the i64 whose low bits are the value's
        bits. `%format` is an index into `KernelInfo.prints`.

External symbols
----------------
Generated code may call `memcpy`, `memmove`, `memset` and the
functions of the C maths library; nothing else is resolved. Objects are position independent, for
the small code model, without thread-local data.
"""

from __future__ import annotations

from typing import Final

KERNEL_SYMBOL: Final = "vyre_kernel"
"""The one exported function of an artifact."""

ABI_VERSION: Final = 4
"""Raised when a layout or the meaning of a field changes; part of every cache key."""

SCRATCH_ALIGN: Final = 64
SUBGROUP_LANES: Final = 32
"""Lanes of a subgroup: as on most GPUs, so that a ballot fills one word."""
STACK_BYTES: Final = 1 << 20
"""The most stack that a call of a kernel takes. Code that is made quickly keeps every value in a
slot of its own: that is some 5 000 statements under conditions."""
WORKER_STACK_BYTES: Final = STACK_BYTES + (256 << 10)
"""What workers have: room for the functions around a kernel, and for a signal."""

MEMORY_BLOCK_BYTES: Final = 1 << 16
"""What a workgroup of the runtime's own kernels clears or copies: native/sequence.ll."""

BUFFER_BYTES: Final = 16
LAUNCH_BYTES: Final = 40
CONTROL_BYTES: Final = 128

LAUNCH_BUFFERS: Final = 0
LAUNCH_CONTROL: Final = 8
LAUNCH_GROUPS: Final = 16
LAUNCH_UNSURE: Final = 32
"""The flag of launches whose read-only memory may be mapped twice."""

CONTROL_STOP: Final = 0
CONTROL_TRAPPED: Final = 4
CONTROL_TRAP_TAG: Final = 8
CONTROL_TRAP_ID: Final = 12
CONTROL_RING: Final = 24
CONTROL_RING_WORDS: Final = 32
CONTROL_RING_CURSOR: Final = 64

STOP_NONE: Final = 0
STOP_DEADLINE: Final = 1
STOP_INTERRUPT: Final = 2
STOP_TRAP: Final = 3
STOP_NO_MEMORY: Final = 4
STOP_NO_STACK: Final = 5
STOP_FORKED: Final = 6
STOP_NO_WATCHDOG: Final = 7
STOP_STEP: Final = 8
"""A step of a sequence ended it."""

PRINT_HEADER_WORDS: Final = 3
"""Words before the arguments of a record: {format + 1, words}, {x, y}, {z, 0} as i32 pairs."""

TYPES: Final = """\
%vyre.buffer = type { ptr, i64 }
%vyre.launch = type { ptr, ptr, i32, i32, i32, i32, ptr }
%vyre.control = type { i32, i32, i32, i32, i32, i32, ptr, i64, [3 x i64], i64, [7 x i64] }
"""

_TRAP: Final = """
define internal void @vyre_trap(ptr %control, i32 %tag, i32 %x, i32 %y, i32 %z)
    cold nounwind noinline {
  %claim = getelementptr inbounds i8, ptr %control, i64 4
  %old = cmpxchg ptr %claim, i32 0, i32 1 monotonic monotonic
  %won = extractvalue { i32, i1 } %old, 1
  br i1 %won, label %record, label %stop
record:
  %p.tag = getelementptr inbounds i8, ptr %control, i64 8
  store i32 %tag, ptr %p.tag, align 4
  %p.x = getelementptr inbounds i8, ptr %control, i64 12
  store i32 %x, ptr %p.x, align 4
  %p.y = getelementptr inbounds i8, ptr %control, i64 16
  store i32 %y, ptr %p.y, align 4
  %p.z = getelementptr inbounds i8, ptr %control, i64 20
  store i32 %z, ptr %p.z, align 4
  br label %stop
stop:
  store atomic i32 3, ptr %control release, align 4
  ret void
}
"""

_PRINT: Final = """
define internal ptr @vyre_print(
    ptr %control, i32 %format, i32 %words, i32 %x, i32 %y, i32 %z) cold nounwind noinline {
  %p.cursor = getelementptr inbounds i8, ptr %control, i64 64
  %args = zext i32 %words to i64
  %size = add i64 %args, 3
  %start = atomicrmw add ptr %p.cursor, i64 %size monotonic
  %end = add i64 %start, %size
  %p.capacity = getelementptr inbounds i8, ptr %control, i64 32
  %capacity = load i64, ptr %p.capacity, align 8
  %fits = icmp ule i64 %end, %capacity
  br i1 %fits, label %write, label %full
write:
  %p.ring = getelementptr inbounds i8, ptr %control, i64 24
  %ring = load ptr, ptr %p.ring, align 8
  %record = getelementptr i64, ptr %ring, i64 %start
  %tag = add i32 %format, 1
  store i32 %tag, ptr %record, align 8
  %p.words = getelementptr i8, ptr %record, i64 4
  store i32 %words, ptr %p.words, align 4
  %p.x = getelementptr i8, ptr %record, i64 8
  store i32 %x, ptr %p.x, align 8
  %p.y = getelementptr i8, ptr %record, i64 12
  store i32 %y, ptr %p.y, align 4
  %p.z = getelementptr i8, ptr %record, i64 16
  store i32 %z, ptr %p.z, align 8
  %p.args = getelementptr i8, ptr %record, i64 24
  ret ptr %p.args
full:
  ret ptr null
}
"""

PRELUDE: Final = TYPES + _TRAP + _PRINT
"""LLVM IR text that every generated module starts with."""
