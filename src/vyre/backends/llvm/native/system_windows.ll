; Threads, memory, time, waiting and Ctrl-C of Windows.

@hears = internal global i32 0

define internal void @os_start() nounwind {
  ret void
}

define internal i64 @os_now() nounwind {
  %count.p = alloca i64
  %frequency.p = alloca i64
  %r0 = call i32 @QueryPerformanceCounter(ptr %count.p)
  %r1 = call i32 @QueryPerformanceFrequency(ptr %frequency.p)
  %count = load i64, ptr %count.p
  %frequency = load i64, ptr %frequency.p
  %s = udiv i64 %count, %frequency
  %rest = urem i64 %count, %frequency
  %rest.ns = mul i64 %rest, 1000000000
  %part = udiv i64 %rest.ns, %frequency
  %whole = mul i64 %s, 1000000000
  %now = add i64 %whole, %part
  ret i64 %now
}

define internal void @os_wait(ptr %word, i32 %value, i64 %ns) nounwind {
  %compare = alloca i32
  store i32 %value, ptr %compare
  %up = add i64 %ns, 999999
  %ms64 = udiv i64 %up, 1000000
  %ms = trunc i64 %ms64 to i32
  %forever = icmp slt i64 %ns, 0
  %limit = select i1 %forever, i32 -1, i32 %ms
  %r = call i32 @WaitOnAddress(ptr %word, ptr %compare, i64 4, i32 %limit)
  ret void
}

define internal void @os_wake(ptr %word, i32 %count) nounwind {
entry:
  %one = icmp eq i32 %count, 1
  br i1 %one, label %single, label %all
single:
  call void @WakeByAddressSingle(ptr %word)
  ret void
all:
  call void @WakeByAddressAll(ptr %word)
  ret void
}

define internal i32 @os_spawn(ptr %function) nounwind {
entry:
  %thread = call ptr @CreateThread(ptr null, i64 $STACK, ptr %function, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %thread, null
  br i1 %failed, label %no, label %yes
yes:
  %r = call i32 @CloseHandle(ptr %thread)
  ret i32 0
no:
  ret i32 1
}

define internal void @os_yield() nounwind {
  %r = call i32 @SwitchToThread()
  ret void
}

define internal ptr @os_alloc(i64 %bytes) nounwind {
  %p = call ptr @VirtualAlloc(ptr null, i64 %bytes, i32 12288, i32 4)
  ret ptr %p
}

define internal void @os_free(ptr %p) nounwind {
entry:
  %none = icmp eq ptr %p, null
  br i1 %none, label %done, label %free
free:
  %r = call i32 @VirtualFree(ptr %p, i64 0, i32 32768)
  br label %done
done:
  ret void
}

define internal i64 @os_thread() nounwind {
  %id = call i32 @GetCurrentThreadId()
  %wide = zext i32 %id to i64
  ret i64 %wide
}

; Counts Ctrl-C and lets the interpreter's own handler run.
define internal i32 @on_interrupt(i32 %event) nounwind {
entry:
  %ctrl.c = icmp eq i32 %event, 0
  br i1 %ctrl.c, label %count, label %done
count:
  %n = atomicrmw add ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 6), i32 1 seq_cst
  br label %done
done:
  ret i32 0
}

define internal void @os_hear_interrupts() nounwind {
entry:
  %claim = cmpxchg ptr @hears, i32 0, i32 1 seq_cst seq_cst
  %first = extractvalue { i32, i1 } %claim, 1
  br i1 %first, label %install, label %done
install:
  %r = call i32 @SetConsoleCtrlHandler(ptr @on_interrupt, i32 1)
  br label %done
done:
  ret void
}

; Ctrl-C is counted above; there are no other signals.
define internal void @os_poke() nounwind {
  ret void
}

define internal void @os_hear_signals() nounwind {
  ret void
}

; True if this number of bytes fits below the frame of the caller.
define internal i1 @os_has_stack(i64 %bytes) nounwind {
  %here.p = alloca i8
  %here = ptrtoint ptr %here.p to i64
  %low.p = alloca i64
  %high.p = alloca i64
  call void @GetCurrentThreadStackLimits(ptr %low.p, ptr %high.p)
  %end = load i64, ptr %low.p
  %left = sub i64 %here, %end
  %wanted = add i64 %bytes, 32768
  %fits = icmp sge i64 %left, %wanted
  ret i1 %fits
}

declare void @GetCurrentThreadStackLimits(ptr, ptr)
declare i32 @QueryPerformanceCounter(ptr)
declare i32 @QueryPerformanceFrequency(ptr)
declare i32 @WaitOnAddress(ptr, ptr, i64, i32)
declare void @WakeByAddressSingle(ptr)
declare void @WakeByAddressAll(ptr)
declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @CloseHandle(ptr)
declare i32 @SwitchToThread()
declare ptr @VirtualAlloc(ptr, i64, i32, i32)
declare i32 @VirtualFree(ptr, i64, i32)
declare i32 @GetCurrentThreadId()
declare i32 @SetConsoleCtrlHandler(ptr, i32)

; Where threads run is left to the system.
define internal void @os_worker_begins(i32 %id) nounwind {
  ret void
}

define internal void @os_make_room() nounwind {
  ret void
}

define internal void @os_forget_workers() nounwind {
  ret void
}
