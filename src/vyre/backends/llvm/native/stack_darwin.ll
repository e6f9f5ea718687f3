; How much stack a thread has left.

; True if this number of bytes fits below the frame of the caller, with room for signals.
define internal i1 @os_has_stack(i64 %bytes) nounwind {
  %here.p = alloca i8
  %here = ptrtoint ptr %here.p to i64
  %self = call i64 @os_thread()
  %top = call i64 @pthread_get_stackaddr_np(i64 %self)
  %size = call i64 @pthread_get_stacksize_np(i64 %self)
  %end = sub i64 %top, %size
  %left = sub i64 %here, %end
  %wanted = add i64 %bytes, 32768
  %fits = icmp sge i64 %left, %wanted
  ret i1 %fits
}

declare i64 @pthread_get_stackaddr_np(i64)
declare i64 @pthread_get_stacksize_np(i64)
