; Threads, memory, time and signals of POSIX systems. Numbers and layouts that differ between them are
; filled in where a name stands after a dollar sign.

%timespec = type { i64, i64 }
%sigaction = type $SIGACTION

; The handler that was there before ours, and whether the watchdog sent the signal that is under way.
@previous_handler = internal global ptr null
@poked = internal global i32 0

define internal i64 @os_now() nounwind {
  %t = alloca %timespec
  %r = call i32 @clock_gettime(i32 $CLOCK_MONOTONIC, ptr %t)
  %s = load i64, ptr %t
  %ns.p = getelementptr inbounds i8, ptr %t, i64 8
  %ns = load i64, ptr %ns.p
  %s.ns = mul i64 %s, 1000000000
  %now = add i64 %s.ns, %ns
  ret i64 %now
}

; A detached thread with as much stack as a kernel may take, and more. It receives no signals but those of its
; own faults.
define internal i32 @os_spawn(ptr %function) nounwind {
  %attributes = alloca [128 x i8], align 16
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %thread = alloca i64
  %r0 = call i32 @pthread_attr_init(ptr %attributes)
  %r1 = call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 $DETACHED)
  %r2 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 $STACK)
  %r3 = call i32 @sigfillset(ptr %all)
  %d0 = call i32 @sigdelset(ptr %all, i32 4)
  %d1 = call i32 @sigdelset(ptr %all, i32 5)
  %d2 = call i32 @sigdelset(ptr %all, i32 6)
  %d3 = call i32 @sigdelset(ptr %all, i32 8)
  %d4 = call i32 @sigdelset(ptr %all, i32 11)
  %d5 = call i32 @sigdelset(ptr %all, i32 $SIGBUS)
  %r4 = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %all, ptr %old)
  %error = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr %function, ptr null)
  %r5 = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %old, ptr null)
  %r6 = call i32 @pthread_attr_destroy(ptr %attributes)
  ret i32 %error
}

define internal void @os_yield() nounwind {
  %r = call i32 @sched_yield()
  ret void
}

define internal ptr @os_alloc(i64 %bytes) nounwind {
  %up = add i64 %bytes, 63
  %size = and i64 %up, -64
  %p = call ptr @aligned_alloc(i64 64, i64 %size)
  ret ptr %p
}

define internal void @os_free(ptr %p) nounwind {
  call void @free(ptr %p)
  ret void
}

; SIGURG tells the main thread to look for signals: what it is meant for is rare, and it is ignored by default.
define internal void @on_poke(i32 %signal, ptr %info, ptr %context) nounwind {
entry:
  %sent = atomicrmw xchg ptr @poked, i32 0 seq_cst
  %ours = icmp ne i32 %sent, 0
  br i1 %ours, label %look, label %other
look:
  call void @look_for_signals()
  br label %done
other:
  %previous = load atomic ptr, ptr @previous_handler acquire, align 8
  %number = ptrtoint ptr %previous to i64
  %special = icmp ult i64 %number, 2
  br i1 %special, label %done, label %pass
pass:
  call void %previous(i32 %signal, ptr %info, ptr %context)
  br label %done
done:
  ret void
}

; Put our handler in front of the one that is there; once, for another may do the same later.
define internal void @os_hear_signals() nounwind {
entry:
  %action = alloca %sigaction, align 16
  %r0 = call i32 @sigaction(i32 $SIGURG, ptr null, ptr %action)
  %handler = load ptr, ptr %action
  %ours = icmp eq ptr %handler, @on_poke
  br i1 %ours, label %done, label %install
install:
  store atomic ptr %handler, ptr @previous_handler release, align 8
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 $SIGACTION_BYTES, i1 false)
  store ptr @on_poke, ptr %action
  ; What is interrupted goes on; and a handler of Python that launches something can be interrupted in turn.
  %flags.p = getelementptr inbounds %sigaction, ptr %action, i64 0, i32 2
  store i32 $SA_FLAGS, ptr %flags.p
  %r1 = call i32 @sigaction(i32 $SIGURG, ptr %action, ptr null)
  br label %done
done:
  ret void
}

; Have the main thread look for signals, unless its handler of ours has been replaced.
define internal void @os_poke() nounwind {
entry:
  %action = alloca %sigaction, align 16
  %r0 = call i32 @sigaction(i32 $SIGURG, ptr null, ptr %action)
  %handler = load ptr, ptr %action
  %ours = icmp eq ptr %handler, @on_poke
  br i1 %ours, label %send, label %done
send:
  store atomic i32 1, ptr @poked seq_cst, align 4
  %main = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 9)
  %r1 = call i32 @pthread_kill(i64 %main, i32 $SIGURG)
  br label %done
done:
  ret void
}

define internal void @os_hear_interrupts() nounwind {
  ret void
}

declare i32 @pthread_kill(i64, i32)
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setdetachstate(ptr, i32)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare i32 @sched_yield()
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i32 @sigaction(i32, ptr, ptr)
declare i64 @PyThread_get_thread_ident()

define internal i64 @os_thread() nounwind {
  %t = call i64 @PyThread_get_thread_ident()
  ret i64 %t
}
