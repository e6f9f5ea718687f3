; Sleeping on a word of memory, by the Linux futex.

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

declare i64 @syscall(i64, ...)
