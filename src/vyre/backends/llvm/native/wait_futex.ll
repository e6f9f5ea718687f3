; Sleeping on a word of memory, by the Linux futex; and where threads run.

define internal void @os_start() nounwind {
  ret void
}

; FUTEX_WAIT | FUTEX_PRIVATE: returns on a wake, a changed word, the timeout (none below 0) or a signal.
define internal void @os_wait(ptr %word, i32 %value, i64 %ns) nounwind {
  %t = alloca %timespec
  %s = udiv i64 %ns, 1000000000
  %rest = urem i64 %ns, 1000000000
  store i64 %s, ptr %t
  %ns.p = getelementptr inbounds i8, ptr %t, i64 8
  store i64 %rest, ptr %ns.p
  %forever = icmp slt i64 %ns, 0
  %timeout = select i1 %forever, ptr null, ptr %t
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i64 128, i32 %value, ptr %timeout, ptr null, i64 0)
  ret void
}

define internal void @os_wake(ptr %word, i32 %count) nounwind {
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i64 129, i32 %count, ptr null, ptr null, i64 0)
  ret void
}

; Where workers may run, a bit for each CPU; none while nothing is known.
@allowed = internal global [16 x i64] zeroinitializer, align 64
; The first eight workers: their ids, and the CPU (plus one) that each keeps away from.
@worker_threads = internal global [8 x i32] zeroinitializer
@worker_away = internal global [8 x i32] zeroinitializer

; Said by every worker when it begins.
define internal void @os_worker_begins(i32 %id) nounwind {
entry:
  %few = icmp ult i32 %id, 8
  br i1 %few, label %note, label %done
note:
  %r = call i32 @sched_getaffinity(i32 0, i64 128, ptr @allowed)
  %thread64 = call i64 (i64, ...) @syscall(i64 $GETTID)
  %thread = trunc i64 %thread64 to i32
  %index = zext i32 %id to i64
  %thread.p = getelementptr inbounds [8 x i32], ptr @worker_threads, i64 0, i64 %index
  store atomic i32 %thread, ptr %thread.p release, align 4
  br label %done
done:
  ret void
}

; Keep workers that are about to be woken away from the CPU of the thread that launches. The system may
; wake them right there, since that thread shares memory with them; with a few CPUs they would take turns
; for milliseconds while another one is idle.
define internal void @os_make_room() nounwind {
entry:
  %mask = alloca [16 x i64], align 64
  %cpu = call i32 @sched_getcpu()
  %known = icmp ult i32 %cpu, 1024
  br i1 %known, label %look, label %done
look:
  %word32 = lshr i32 %cpu, 6
  %word = zext i32 %word32 to i64
  %bit32 = and i32 %cpu, 63
  %bit = zext i32 %bit32 to i64
  %this = shl i64 1, %bit
  call void @llvm.memcpy.p0.p0.i64(ptr %mask, ptr @allowed, i64 128, i1 false)
  %word.p = getelementptr inbounds [16 x i64], ptr %mask, i64 0, i64 %word
  %before = load i64, ptr %word.p
  %inside = and i64 %before, %this
  %ours = icmp ne i64 %inside, 0
  br i1 %ours, label %clear, label %done
clear:
  %rest = xor i64 %before, %this
  store i64 %rest, ptr %word.p
  %all = load <16 x i64>, ptr %mask, align 64
  %any = call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %all)
  %left = icmp ne i64 %any, 0
  %away = add i32 %cpu, 1
  br i1 %left, label %loop, label %done
loop:
  %i = phi i64 [ 0, %clear ], [ %next, %step ]
  %thread.p = getelementptr inbounds [8 x i32], ptr @worker_threads, i64 0, i64 %i
  %thread = load atomic i32, ptr %thread.p acquire, align 4
  %away.p = getelementptr inbounds [8 x i32], ptr @worker_away, i64 0, i64 %i
  %now = load atomic i32, ptr %away.p monotonic, align 4
  %there = icmp eq i32 %now, %away
  %none = icmp eq i32 %thread, 0
  %skip = or i1 %there, %none
  br i1 %skip, label %step, label %move
move:
  store atomic i32 %away, ptr %away.p monotonic, align 4
  %r = call i32 @sched_setaffinity(i32 %thread, i64 128, ptr %mask)
  br label %step
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 8
  br i1 %more, label %loop, label %done
done:
  ret void
}

; In a forked child: the workers are gone.
define internal void @os_forget_workers() nounwind {
  call void @llvm.memset.p0.i64(ptr @worker_threads, i8 0, i64 32, i1 false)
  call void @llvm.memset.p0.i64(ptr @worker_away, i8 0, i64 32, i1 false)
  ret void
}

declare i64 @syscall(i64, ...)
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)
