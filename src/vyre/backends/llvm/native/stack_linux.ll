; How much stack a thread has left.

@main_stack = internal global i64 0

; True if this number of bytes fits below the frame of the caller, with room for signals. For the main thread the answer is
; in a file that takes long to read, and its end never moves.
define internal i1 @os_has_stack(i64 %bytes) nounwind {
entry:
  %here.p = alloca i8
  %here = ptrtoint ptr %here.p to i64
  %self = call i64 @os_thread()
  %main = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 9)
  %is.main = icmp eq i64 %self, %main
  %known = load atomic i64, ptr @main_stack monotonic, align 8
  %is.known = icmp ne i64 %known, 0
  %kept = and i1 %is.main, %is.known
  br i1 %kept, label %compare, label %ask
ask:
  %asked = call i64 @stack_end(i64 %self)
  br i1 %is.main, label %keep, label %compare
keep:
  store atomic i64 %asked, ptr @main_stack monotonic, align 8
  br label %compare
compare:
  %end = phi i64 [ %known, %entry ], [ %asked, %ask ], [ %asked, %keep ]
  %left = sub i64 %here, %end
  %wanted = add i64 %bytes, 32768
  %fits = icmp sge i64 %left, %wanted
  ret i1 %fits
}

; The lowest address of a thread's stack; the highest of all if it is not to be had.
define internal i64 @stack_end(i64 %thread) nounwind {
entry:
  %attributes = alloca [128 x i8], align 16
  %address.p = alloca i64
  %size.p = alloca i64
  %error = call i32 @pthread_getattr_np(i64 %thread, ptr %attributes)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %no, label %yes
yes:
  %r0 = call i32 @pthread_attr_getstack(ptr %attributes, ptr %address.p, ptr %size.p)
  %r1 = call i32 @pthread_attr_destroy(ptr %attributes)
  %address = load i64, ptr %address.p
  ret i64 %address
no:
  ret i64 9223372036854775807
}

declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
