; Threads, memory, time and signals of POSIX systems. Numbers and layouts that differ between them are
; filled in where a name stands after a dollar sign.

%timespec = type { i64, i64 }
%sigaction = type $SIGACTION

@previous_handler = internal global ptr null

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

; A detached thread with a stack of 1 MiB. It receives no signals but those of its own faults.
define internal i32 @os_spawn(ptr %function) nounwind {
  %attributes = alloca [128 x i8], align 16
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %thread = alloca i64
  %r0 = call i32 @pthread_attr_init(ptr %attributes)
  %r1 = call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 $DETACHED)
  %r2 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 1048576)
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

define internal void @on_interrupt(i32 %signal, ptr %info, ptr %context) nounwind {
  %n = atomicrmw add ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 6), i32 1 seq_cst
  %previous = load atomic ptr, ptr @previous_handler acquire, align 8
  call void %previous(i32 %signal, ptr %info, ptr %context)
  ret void
}

; Put our handler in front of the one that is there, unless that is the default or to ignore.
define internal void @os_hear_interrupts() nounwind {
entry:
  %action = alloca %sigaction, align 16
  %r0 = call i32 @sigaction(i32 2, ptr null, ptr %action)
  %handler = load ptr, ptr %action
  %ours = icmp eq ptr %handler, @on_interrupt
  %number = ptrtoint ptr %handler to i64
  %special = icmp ult i64 %number, 2
  %leave = or i1 %ours, %special
  br i1 %leave, label %done, label %install
install:
  store atomic ptr %handler, ptr @previous_handler release, align 8
  store ptr @on_interrupt, ptr %action
  %r1 = call i32 @sigaction(i32 2, ptr %action, ptr null)
  br label %done
done:
  ret void
}

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
