"""Small kernels in LLVM IR that follow the ABI, and a way to load them."""

from __future__ import annotations

from functools import cache

import numpy as np

from vyre.backends.llvm import abi, host, jit, pool
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo, PrintFormat
from vyre.backends.llvm.launch import NativeKernel

HEAD = "define void @vyre_kernel(ptr noalias %launch, i64 %first, i64 %last, ptr noalias %scratch)"

INCREMENT = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %count.p = getelementptr %vyre.buffer, ptr %buffers, i64 0, i32 1
  %count = load i64, ptr %count.p
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %step ]
  %inside = icmp ult i64 %i, %count
  br i1 %inside, label %body, label %step
body:
  %p = getelementptr i32, ptr %data, i64 %i
  %old = atomicrmw add ptr %p, i32 1 monotonic
  br label %step
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""Adds one to element i in workgroup i."""

SPIN = f"""{HEAD} {{
entry:
  %control.p = getelementptr %vyre.launch, ptr %launch, i64 0, i32 1
  %control = load ptr, ptr %control.p
  br label %loop
loop:
  %stop = load atomic i32, ptr %control monotonic, align 4
  %go = icmp eq i32 %stop, 0
  br i1 %go, label %loop, label %done
done:
  ret void
}}
"""
"""Never ends by itself."""

WAITS_FOR_OTHERS = f"""{HEAD} {{
entry:
  %control.p = getelementptr %vyre.launch, ptr %launch, i64 0, i32 1
  %control = load ptr, ptr %control.p
  %buffers = load ptr, ptr %launch
  %done.p = load ptr, ptr %buffers
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %step ]
  %waits = icmp eq i64 %i, 0
  br i1 %waits, label %wait, label %count
wait:
  %stop = load atomic i32, ptr %control monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  %done = load atomic i32, ptr %done.p monotonic, align 4
  %enough = icmp sge i32 %done, 750
  %over = or i1 %stopped, %enough
  br i1 %over, label %step, label %wait
count:
  %old = atomicrmw add ptr %done.p, i32 1 monotonic
  br label %step
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
"""Workgroup 0 ends when 750 others have; element 0 counts them."""

SLOW = f"""{HEAD} {{
entry:
  %place = alloca i64
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %after ]
  br label %inner
inner:
  %k = phi i64 [ 0, %loop ], [ %k.next, %inner ]
  store volatile i64 %k, ptr %place
  %k.next = add i64 %k, 1
  %again = icmp ult i64 %k.next, 5000
  br i1 %again, label %inner, label %after
after:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""A few microseconds for every workgroup, without a look at the stop flag."""

TRAP = f"""{HEAD} {{
entry:
  %control.p = getelementptr %vyre.launch, ptr %launch, i64 0, i32 1
  %control = load ptr, ptr %control.p
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %step ]
  %bad = icmp eq i64 %i, 5
  br i1 %bad, label %trap, label %step
trap:
  call void @vyre_trap(ptr %control, i32 1, i32 5, i32 6, i32 7)
  ret void
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""Workgroup 5 traps with tag 1 as invocation (5, 6, 7)."""

PRINT = f"""{HEAD} {{
entry:
  %control.p = getelementptr %vyre.launch, ptr %launch, i64 0, i32 1
  %control = load ptr, ptr %control.p
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %step ]
  %i32 = trunc i64 %i to i32
  %slots = call ptr @vyre_print(ptr %control, i32 0, i32 2, i32 %i32, i32 0, i32 0)
  %full = icmp eq ptr %slots, null
  br i1 %full, label %step, label %write
write:
  store i64 %i, ptr %slots
  %second = getelementptr i64, ptr %slots, i64 1
  store i64 4609434218613702656, ptr %second
  br label %step
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""Every workgroup prints its index and 1.5."""

SCRATCH = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %end = getelementptr i8, ptr %scratch, i64 65532
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %i32 = trunc i64 %i to i32
  store volatile i32 %i32, ptr %scratch
  store volatile i32 %i32, ptr %end
  %a = load volatile i32, ptr %scratch
  %b = load volatile i32, ptr %end
  %s = add i32 %a, %b
  %p = getelementptr i32, ptr %data, i64 %i
  store i32 %s, ptr %p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""Writes 2 i through 64 KiB of scratch memory."""

GRID = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %nx.p = getelementptr %vyre.launch, ptr %launch, i64 0, i32 2
  %grid = load <4 x i32>, ptr %nx.p, align 4
  store <4 x i32> %grid, ptr %data, align 4
  ret void
}}
"""
"""Stores the numbers of workgroups."""

COUNTERS = (BufferSlot("counters", "i32", 4, True),)


@cache
def compiled(source: str) -> bytes:
    return jit.compile_text(abi.PRELUDE + source, host.native()).object


def kernel(source: str, **facts: object) -> NativeKernel:
    facts.setdefault("buffers", COUNTERS)
    info = KernelInfo(
        workgroup_size=(1, 1, 1),
        trap_tags=("first", "second"),
        **facts,  # pyright: ignore[reportArgumentType]
    )
    return NativeKernel(compiled(source), info, pool.process_pool())


def address(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.size


HELLO = (PrintFormat("group {} says {}", ("u32", "f64")),)

PASS_ON = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %source = load ptr, ptr %buffers
  %count.p = getelementptr %vyre.buffer, ptr %buffers, i64 0, i32 1
  %count = load i64, ptr %count.p
  %target.p = getelementptr %vyre.buffer, ptr %buffers, i64 1
  %target = load ptr, ptr %target.p
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %scaled = mul i64 %i, 7919
  %moved = add i64 %scaled, 13
  %from = urem i64 %moved, %count
  %from.p = getelementptr i32, ptr %source, i64 %from
  %value = load i32, ptr %from.p
  %more.value = add i32 %value, 1
  %to.p = getelementptr i32, ptr %target, i64 %i
  store i32 %more.value, ptr %to.p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
"""Workgroup i stores to element i one more than a distant element of the other buffer has."""

PAIR = (BufferSlot("source", "i32", 4, False), BufferSlot("target", "i32", 4, True))

COUNT_DOWN = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %old = load i32, ptr %data
  %new = sub i32 %old, 1
  store i32 %new, ptr %data
  ret void
}}
"""
"""Takes one from element 0."""

KEEPS = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %kept = load i32, ptr %scratch
  %ends = icmp eq i64 %first, %last
  br i1 %ends, label %hand, label %work
hand:
  %old = atomicrmw add ptr %data, i32 %kept monotonic
  ret void
work:
  %many = sub i64 %last, %first
  %many32 = trunc i64 %many to i32
  %sum = add i32 %kept, %many32
  store i32 %sum, ptr %scratch
  ret void
}}
"""
"""Counts workgroups in the memory of each thread, which adds its count to element 0 at the end."""
