; Sleeping on a word of memory, by one mutex and one condition for all of them.

@mutex = internal global [128 x i8] zeroinitializer, align 64
@condition = internal global [128 x i8] zeroinitializer, align 64

define internal void @os_start() nounwind {
  %r0 = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %r1 = call i32 @pthread_cond_init(ptr @condition, ptr null)
  ret void
}

; Returns on a wake of any word, a changed word, or the timeout (none below 0).
define internal void @os_wait(ptr %word, i32 %value, i64 %ns) nounwind {
entry:
  %until = alloca %timespec
  %r0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %value
  br i1 %same, label %sleep, label %done
sleep:
  %forever = icmp slt i64 %ns, 0
  br i1 %forever, label %wait, label %limited
wait:
  %r1 = call i32 @pthread_cond_wait(ptr @condition, ptr @mutex)
  br label %done
limited:
  %r2 = call i32 @clock_gettime(i32 0, ptr %until)
  %s = load i64, ptr %until
  %part.p = getelementptr inbounds i8, ptr %until, i64 8
  %part = load i64, ptr %part.p
  %sum = add i64 %part, %ns
  %more = udiv i64 %sum, 1000000000
  %rest = urem i64 %sum, 1000000000
  %s.end = add i64 %s, %more
  store i64 %s.end, ptr %until
  store i64 %rest, ptr %part.p
  %r3 = call i32 @pthread_cond_timedwait(ptr @condition, ptr @mutex, ptr %until)
  br label %done
done:
  %r4 = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

define internal void @os_wake(ptr %word, i32 %count) nounwind {
  %r0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %r1 = call i32 @pthread_cond_broadcast(ptr @condition)
  %r2 = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)

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
