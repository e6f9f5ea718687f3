; A pool of native threads that work on launches together with the threads that ask for them.
;
; A launch takes a job from a fixed array, opens it, and claims chunks of workgroups until none is left.
; Workers look for open jobs and do the same. Each thread has a segment of the workgroups that it begins
; with, the same from launch to launch, since what it worked on last is in the caches of its core; who is
; done with its own goes on in those of others. And every other launch goes through segments from their
; ends: what was touched last is touched first, while a cache that is smaller than all of it still has it.
; The launching thread then closes the job and waits for the
; workers that joined, never for one that did not. A watchdog looks at live jobs every few milliseconds
; and sets their stop flag when the deadline has passed.
;
; Signal handlers of Python run in the main thread, between two of its instructions. While a launch of that
; thread lasts, the watchdog has it look for them every now and then, right where it is: see `attend`.
;
; Jobs are never freed, so a late look at one is harmless: a thread that wants to touch a job first raises its
; `refs` (or `watching`) and then looks whether it is still open (or live); the launching thread first
; lowers `open` (or `live`) and then waits for the counter. All four are sequentially consistent.
;
; The system's part (system_*.ll, stack_*.ll, wait_*.ll) provides os_start, os_now, os_wait, os_wake,
; os_spawn, os_yield, os_relax, os_alloc, os_free, os_thread, os_hear_interrupts, os_hear_signals, os_poke,
; os_has_stack, os_worker_begins, os_make_room and os_forget_workers.

%launch = type { ptr, ptr, i32, i32, i32, i32, ptr }
%control = type { i32, i32, i32, i32, i32, i32, ptr, i64, [3 x i64], i64, [7 x i64] }

%segment = type { i64, i64, i64, [5 x i64] }  ; the next group to claim, the end, the beginning; a cache line of its own

%job = type {
  i32,           ;  0 taken
  i32,           ;  1 open: workers may join
  i32,           ;  2 limit: how many of them
  i32,           ;  3 live: the watchdog looks at it
  ptr,           ;  4 kernel
  i64,           ;  5 groups
  i64,           ;  6 chunk
  i64,           ;  7 scratch bytes
  i64,           ;  8 timeout in ns, 0 for none
  i32,           ;  9 sequence number
  i32,           ; 10 launched by the main thread
  [8 x %segment], ; 11
  { i64, [7 x i64] }, ; 12 how many segments there are (a cache line of its own)
  i32,           ; 13 refs: workers inside
  i32,           ; 14 waiting: the launching thread sleeps on refs
  [7 x i64],     ; 15
  i64,           ; 16 when the watchdog first saw this sequence number
  i32,           ; 17 the sequence number it saw
  i32,           ; 18 watching: the watchdog is inside
  ptr,           ; 19 scratch memory of the launching thread
  i64,           ; 20 its size
  i32,           ; 21 count of interrupts when the launch began
  i32,           ; 22 segments are gone through from their ends
  [3 x i64],     ; 23
  %launch,       ; 24 what the kernel gets
  [3 x i64],     ; 25
  %control,      ; 26
  i64,           ; 27 identity of the launching thread
  ptr,           ; 28 its state as the interpreter knows it, while it has let go of the lock
  i64,           ; 29 when the watchdog last had it look for signals
  i64,           ; 30 gate of the phases of a sequence: see sequence.ll
  ptr,           ; 31 the sequence, null for a single launch
  i32,           ; 32 number of the phase: the launching thread waits for another
  i32,           ; 33 the sequence is over
  i32,           ; 34 the launching thread sleeps on the number of the phase
  i32,           ; 35 a launch of the sequence is under way
  i64            ; 36 since when
}

%pool = type {
  i32,           ; 0 epoch: raised for every opened job; workers sleep on it
  i32,           ; 1 sleepers
  i32,           ; 2 high: jobs below this index have been used
  i32,           ; 3 threads wanted, the launching one included
  i32,           ; 4 workers were started
  i32,           ; 5 watchdog: 0 not started, 1 ticking, 2 asleep
  i32,           ; 6 interrupts seen by the system's part, where it cannot have the main thread look
  i32,           ; 7 workers that run
  i64,           ; 8 how long to spin before sleeping, in ns
  i64,           ; 9 identity of the main thread
  [2 x i64],     ; 10 the last launch that woke no worker: its end; and the time of a row of them
  [64 x %job]    ; 11
}

@vyre_pool = global %pool zeroinitializer, align 64
@worker_ids = internal global i32 0
; The job in whose kernel the main thread is, for it is only there that a signal may run Python.
@main_job = internal global ptr null

; ---- claiming -------------------------------------------------------------------------------------

; Divide the workgroups of a job among a number of segments, 8 at most.
define internal void @divide(ptr %job, i64 %groups, i64 %wanted, i32 %backwards) nounwind alwaysinline {
entry:
  %backwards.p = getelementptr inbounds %job, ptr %job, i64 0, i32 22
  store i32 %backwards, ptr %backwards.p
  %count = call i64 @llvm.umin.i64(i64 %wanted, i64 8)
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 12
  store atomic i64 %count, ptr %count.p monotonic, align 8
  %share = udiv i64 %groups, %count
  %rest = urem i64 %groups, %count
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %first = phi i64 [ 0, %entry ], [ %end, %loop ]
  %longer = icmp ult i64 %i, %rest
  %one = zext i1 %longer to i64
  %length = add i64 %share, %one
  %end = add i64 %first, %length
  %next.p = getelementptr inbounds %job, ptr %job, i64 0, i32 11, i64 %i
  store atomic i64 %first, ptr %next.p monotonic, align 8
  %end.p = getelementptr inbounds %segment, ptr %next.p, i64 0, i32 1
  store atomic i64 %end, ptr %end.p monotonic, align 8
  %begin.p = getelementptr inbounds %segment, ptr %next.p, i64 0, i32 2
  store i64 %first, ptr %begin.p
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Run groups of a segment that were claimed: these, or as many as far from its end.
define internal void @run_claimed(ptr %job, ptr %segment, i64 %first, i64 %last, ptr %scratch, i1 %attends) nounwind alwaysinline {
  %kernel.p = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  %kernel = load ptr, ptr %kernel.p
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  %backwards.p = getelementptr inbounds %job, ptr %job, i64 0, i32 22
  %backwards = load i32, ptr %backwards.p
  %is.backwards = icmp ne i32 %backwards, 0
  %end.p = getelementptr inbounds %segment, ptr %segment, i64 0, i32 1
  %end = load atomic i64, ptr %end.p monotonic, align 8
  %begin.p = getelementptr inbounds %segment, ptr %segment, i64 0, i32 2
  %begin = load i64, ptr %begin.p
  %both = add i64 %begin, %end
  %first.back = sub i64 %both, %last
  %last.back = sub i64 %both, %first
  %from = select i1 %is.backwards, i64 %first.back, i64 %first
  %to = select i1 %is.backwards, i64 %last.back, i64 %last
  br i1 %attends, label %main, label %any
any:
  call void %kernel(ptr %launch, i64 %from, i64 %to, ptr %scratch)
  br label %done
main:
  store atomic ptr %job, ptr @main_job seq_cst, align 8
  call void %kernel(ptr %launch, i64 %from, i64 %to, ptr %scratch)
  store atomic ptr null, ptr @main_job seq_cst, align 8
  br label %done
done:
  ret void
}

; Chunks shrink towards the end of a segment, so that the threads get done together: half of what is left
; is for all whose segment it is once more. Who works alone takes whole chunks.
define internal void @claim(ptr %job, ptr %scratch, i64 %own, i1 %attends) nounwind {
entry:
  %kernel.p = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  %kernel = load ptr, ptr %kernel.p
  %chunk.p = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  %chunk = load i64, ptr %chunk.p
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 12
  %count = load atomic i64, ptr %count.p monotonic, align 8
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %others.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %others = load i32, ptr %others.p
  %alone = icmp eq i32 %others, 0
  %others.w = zext i32 %others to i64
  %owners.less = udiv i64 %others.w, %count
  %owners = add i64 %owners.less, 1
  %parts = shl i64 %owners, 1
  %sixteenth = lshr i64 %chunk, 4
  %fewest.shared = call i64 @llvm.umax.i64(i64 %sixteenth, i64 1)
  %fewest = select i1 %alone, i64 %chunk, i64 %fewest.shared
  br label %segment
segment:
  %visited = phi i64 [ 0, %entry ], [ %visited.next, %following ]
  %sum = add i64 %own, %visited
  %number = urem i64 %sum, %count
  %next.p = getelementptr inbounds %job, ptr %job, i64 0, i32 11, i64 %number
  %end.p = getelementptr inbounds %segment, ptr %next.p, i64 0, i32 1
  %end = load atomic i64, ptr %end.p monotonic, align 8
  br label %loop
loop:
  %stop = load atomic i32, ptr %stop.p monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %done, label %look
look:
  %seen = load atomic i64, ptr %next.p monotonic, align 8
  %left = call i64 @llvm.usub.sat.i64(i64 %end, i64 %seen)
  %empty = icmp eq i64 %left, 0
  br i1 %empty, label %following, label %take
take:
  %share = udiv i64 %left, %parts
  %most = call i64 @llvm.umin.i64(i64 %share, i64 %chunk)
  %size = call i64 @llvm.umax.i64(i64 %most, i64 %fewest)
  %first = atomicrmw add ptr %next.p, i64 %size monotonic
  %none = icmp uge i64 %first, %end
  br i1 %none, label %following, label %run
run:
  %reach = add i64 %first, %size
  %last = call i64 @llvm.umin.i64(i64 %reach, i64 %end)
  call void @run_claimed(ptr %job, ptr %next.p, i64 %first, i64 %last, ptr %scratch, i1 %attends)
  br label %loop
following:
  %visited.next = add i64 %visited, 1
  %more = icmp ult i64 %visited.next, %count
  br i1 %more, label %segment, label %done
done:
  call void @hand_over(ptr %kernel, ptr %launch, ptr %scratch)
  ret void
}

; A thread is done: a kernel that keeps totals in the thread's memory joins them into its buffers.
define internal void @hand_over(ptr %kernel, ptr %launch, ptr %scratch) nounwind alwaysinline {
  %flags.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 5
  %flags = load i32, ptr %flags.p
  %keeps.bit = and i32 %flags, 8
  %keeps = icmp ne i32 %keeps.bit, 0
  br i1 %keeps, label %call, label %done
call:
  call void %kernel(ptr %launch, i64 0, i64 0, ptr %scratch)
  br label %done
done:
  ret void
}

; The first 20 us of a launch whose workers sleep: claim ever more workgroups at a time, and wake the
; workers only if there is work left. A short launch is over before a sleeping worker would have begun.
define internal void @claim_before_waking(ptr %job, ptr %scratch, i32 %wanted, i1 %attends) nounwind {
entry:
  %chunk.p = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  %chunk = load i64, ptr %chunk.p
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 12
  %count = load atomic i64, ptr %count.p monotonic, align 8
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %begin = call i64 @os_now()
  br label %segment
segment:
  %number = phi i64 [ 0, %entry ], [ %number.next, %following ]
  %n.first = phi i64 [ 1, %entry ], [ %n, %following ]
  %next.p = getelementptr inbounds %job, ptr %job, i64 0, i32 11, i64 %number
  %end.p = getelementptr inbounds %segment, ptr %next.p, i64 0, i32 1
  %end = load atomic i64, ptr %end.p monotonic, align 8
  br label %loop
loop:
  %n = phi i64 [ %n.first, %segment ], [ %n.next, %look ]
  %stop = load atomic i32, ptr %stop.p monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %done, label %take
take:
  %first = atomicrmw add ptr %next.p, i64 %n monotonic
  %none = icmp uge i64 %first, %end
  br i1 %none, label %following, label %run
run:
  %reach = add i64 %first, %n
  %last = call i64 @llvm.umin.i64(i64 %reach, i64 %end)
  call void @run_claimed(ptr %job, ptr %next.p, i64 %first, i64 %last, ptr %scratch, i1 %attends)
  %twice = shl i64 %n, 1
  %n.next = call i64 @llvm.umin.i64(i64 %twice, i64 %chunk)
  br label %look
look:
  %now = call i64 @os_now()
  %age = sub i64 %now, %begin
  %long = icmp sgt i64 %age, 20000
  br i1 %long, label %wake, label %loop
following:
  %number.next = add i64 %number, 1
  %more = icmp ult i64 %number.next, %count
  br i1 %more, label %segment, label %over
wake:
  call void @wake(i32 %wanted)
  br label %done
over:
  call void @note_lone_work(i64 %begin)
  br label %done
done:
  ret void
}

define internal void @wake(i32 %wanted) nounwind {
  store atomic i64 0, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 10, i64 1) monotonic, align 8
  call void @os_make_room()
  call void @os_wake(ptr @vyre_pool, i32 %wanted)
  ret void
}

; Launches that are too short to wake a worker for may be worth it together: when they follow one another so
; closely that workers would not sleep in between. Several threads may write here at once; what they lose
; is only a sum.
define internal void @note_lone_work(i64 %begin) nounwind {
  %end.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 10, i64 0
  %sum.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 10, i64 1
  %spin = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 8)
  %before = load atomic i64, ptr %end.p monotonic, align 8
  %gap = sub i64 %begin, %before
  %close = icmp slt i64 %gap, %spin
  %sum = load atomic i64, ptr %sum.p monotonic, align 8
  %kept = select i1 %close, i64 %sum, i64 0
  %now = call i64 @os_now()
  %own = sub i64 %now, %begin
  %sum.new = add i64 %kept, %own
  store atomic i64 %now, ptr %end.p monotonic, align 8
  store atomic i64 %sum.new, ptr %sum.p monotonic, align 8
  ret void
}

; Whether a launch that begins now follows closely on others, which took 50 us in all.
define internal i1 @is_one_of_many() nounwind {
  %now = call i64 @os_now()
  %spin = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 8)
  %before = load atomic i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 10, i64 0) monotonic, align 8
  %gap = sub i64 %now, %before
  %close = icmp slt i64 %gap, %spin
  %sum = load atomic i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 10, i64 1) monotonic, align 8
  %much = icmp sgt i64 %sum, 50000
  %r = and i1 %close, %much
  ret i1 %r
}

; Whether workers run and none of them sleeps: they see a launch at once.
define internal i1 @are_awake() nounwind {
  %running = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7) monotonic, align 4
  %sleepers = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 1) monotonic, align 4
  %some = icmp ne i32 %running, 0
  %up = icmp eq i32 %sleepers, 0
  %r = and i1 %some, %up
  ret i1 %r
}

; At least %bytes of memory in the slot { ptr, i64 }, or null when there is none to be had. Its first two
; words are zero: nothing is kept there yet, and no block is done.
define internal ptr @scratch(ptr %slot, i64 %bytes) nounwind {
entry:
  %size.p = getelementptr inbounds i8, ptr %slot, i64 8
  %size = load i64, ptr %size.p
  %old = load ptr, ptr %slot
  %enough = icmp uge i64 %size, %bytes
  br i1 %enough, label %have, label %grow
have:
  %none = icmp eq ptr %old, null
  br i1 %none, label %as.it.is, label %begin
grow:
  call void @os_free(ptr %old)
  %new = call ptr @os_alloc(i64 %bytes)
  store ptr %new, ptr %slot
  %failed = icmp eq ptr %new, null
  %got = select i1 %failed, i64 0, i64 %bytes
  store i64 %got, ptr %size.p
  br i1 %failed, label %as.it.is, label %begin
begin:
  %memory = phi ptr [ %old, %have ], [ %new, %grow ]
  store i64 0, ptr %memory
  ret ptr %memory
as.it.is:
  ret ptr null
}

; Whether a job has work that no thread has claimed.
define internal i1 @has_work(ptr %job) nounwind {
entry:
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 12
  %count = load atomic i64, ptr %count.p monotonic, align 8
  br label %segment
segment:
  %number = phi i64 [ 0, %entry ], [ %number.next, %following ]
  %more = icmp ult i64 %number, %count
  br i1 %more, label %remains, label %no
remains:
  %next.p = getelementptr inbounds %job, ptr %job, i64 0, i32 11, i64 %number
  %next = load atomic i64, ptr %next.p monotonic, align 8
  %end.p = getelementptr inbounds %segment, ptr %next.p, i64 0, i32 1
  %end = load atomic i64, ptr %end.p monotonic, align 8
  %left = icmp ult i64 %next, %end
  br i1 %left, label %yes, label %following
following:
  %number.next = add i64 %number, 1
  br label %segment
yes:
  ret i1 true
no:
  ret i1 false
}

; ---- workers --------------------------------------------------------------------------------------

; Join one job if it has work left; says whether it did.
define internal i1 @visit(ptr %job, ptr %scratch.slot, i32 %worker) nounwind {
entry:
  %open.p = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  %open = load atomic i32, ptr %open.p acquire, align 4
  %is.open = icmp ne i32 %open, 0
  br i1 %is.open, label %look, label %no
look:
  %left = call i1 @has_work(ptr %job)
  %joinable = call i1 @is_joinable(ptr %job)
  %both = and i1 %left, %joinable
  br i1 %both, label %enter, label %no
enter:
  %refs.p = getelementptr inbounds %job, ptr %job, i64 0, i32 13
  %before = atomicrmw add ptr %refs.p, i32 1 seq_cst
  %still = load atomic i32, ptr %open.p seq_cst, align 4
  %still.open = icmp ne i32 %still, 0
  br i1 %still.open, label %admitted, label %leave.no
admitted:
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %limit = load i32, ptr %limit.p
  %room = icmp slt i32 %before, %limit
  br i1 %room, label %prepare, label %leave.no
prepare:
  %bytes.p = getelementptr inbounds %job, ptr %job, i64 0, i32 7
  %bytes = load i64, ptr %bytes.p
  %memory = call ptr @scratch(ptr %scratch.slot, i64 %bytes)
  %no.memory = icmp eq ptr %memory, null
  %needed = icmp ne i64 %bytes, 0
  %cannot = and i1 %no.memory, %needed
  br i1 %cannot, label %leave.no, label %work
work:
  ; The launching thread begins with the first segment.
  %own32 = add i32 %worker, 1
  %own = zext i32 %own32 to i64
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 31
  %sequence = load atomic ptr, ptr %sequence.p monotonic, align 8
  %single = icmp eq ptr %sequence, null
  br i1 %single, label %launch, label %phases
launch:
  call void @claim(ptr %job, ptr %memory, i64 %own, i1 false)
  br label %left.it
phases:
  call void @work_on_phases(ptr %job, ptr %memory, i64 %own, i1 false, i1 false)
  br label %left.it
left.it:
  call void @leave(ptr %job)
  ret i1 true
leave.no:
  call void @leave(ptr %job)
  ret i1 false
no:
  ret i1 false
}

define internal void @leave(ptr %job) nounwind alwaysinline {
  %refs.p = getelementptr inbounds %job, ptr %job, i64 0, i32 13
  %before = atomicrmw sub ptr %refs.p, i32 1 seq_cst
  %was.last = icmp eq i32 %before, 1
  %waiting.p = getelementptr inbounds %job, ptr %job, i64 0, i32 14
  %waiting = load atomic i32, ptr %waiting.p seq_cst, align 4
  %waits = icmp ne i32 %waiting, 0
  %wake = and i1 %was.last, %waits
  br i1 %wake, label %do, label %done
do:
  call void @os_wake(ptr %refs.p, i32 1)
  br label %done
done:
  ret void
}

; Look at all jobs once, beginning at another one for each worker so that concurrent launches share them.
define internal i1 @visit_all(i32 %start, ptr %scratch.slot) nounwind {
entry:
  %high = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 2) acquire, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %step ]
  %any = phi i1 [ false, %entry ], [ %any.next, %step ]
  %more = icmp ult i32 %i, %high
  br i1 %more, label %step, label %done
step:
  %sum = add i32 %i, %start
  %index = urem i32 %sum, %high
  %index.w = zext i32 %index to i64
  %job = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 11, i64 %index.w
  %did = call i1 @visit(ptr %job, ptr %scratch.slot, i32 %start)
  %any.next = or i1 %any, %did
  %i.next = add i32 %i, 1
  br label %loop
done:
  ret i1 %any
}

define internal ptr @worker(ptr %unused) nounwind {
entry:
  %slot = alloca { ptr, i64 }, align 8
  store { ptr, i64 } zeroinitializer, ptr %slot
  %id = atomicrmw add ptr @worker_ids, i32 1 monotonic
  %start = and i32 %id, 65535
  call void @os_worker_begins(i32 %id)
  br label %top
top:
  %epoch = load atomic i32, ptr @vyre_pool seq_cst, align 64
  %did = call i1 @visit_all(i32 %start, ptr %slot)
  br i1 %did, label %top, label %idle
idle:
  %spin = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 8)
  %changed = call i1 @spin_until_not(ptr @vyre_pool, i32 %epoch, i64 %spin)
  br i1 %changed, label %top, label %sleep
sleep:
  %sleepers.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 1
  %s0 = atomicrmw add ptr %sleepers.p, i32 1 seq_cst
  call void @os_wait(ptr @vyre_pool, i32 %epoch, i64 -1)
  %s1 = atomicrmw sub ptr %sleepers.p, i32 1 seq_cst
  br label %top
}

; True as soon as the word differs from %value, false after %ns.
define internal i1 @spin_until_not(ptr %word, i32 %value, i64 %ns) nounwind {
entry:
  %begin = call i64 @os_now()
  br label %burst
burst:
  br label %poll
poll:
  %i = phi i32 [ 0, %burst ], [ %i.next, %again ]
  %now = load atomic i32, ptr %word acquire, align 4
  %differs = icmp ne i32 %now, %value
  br i1 %differs, label %yes, label %again
again:
  call void @os_relax()
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, 32
  br i1 %more, label %poll, label %clock
clock:
  %time = call i64 @os_now()
  %passed = sub i64 %time, %begin
  %over = icmp sgt i64 %passed, %ns
  br i1 %over, label %no, label %burst
yes:
  ret i1 true
no:
  ret i1 false
}

; ---- the watchdog ---------------------------------------------------------------------------------

; Sets the stop flag of one job if its time is up; says whether the job is live.
define internal i1 @watch(ptr %job, i64 %now) nounwind {
entry:
  %watching.p = getelementptr inbounds %job, ptr %job, i64 0, i32 18
  store atomic i32 1, ptr %watching.p seq_cst, align 4
  %live.p = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  %live = load atomic i32, ptr %live.p seq_cst, align 4
  %is.live = icmp ne i32 %live, 0
  br i1 %is.live, label %look, label %done
look:
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 9
  %sequence = load i32, ptr %sequence.p
  %seen.p = getelementptr inbounds %job, ptr %job, i64 0, i32 17
  %seen = load i32, ptr %seen.p
  %since.p = getelementptr inbounds %job, ptr %job, i64 0, i32 16
  %known = icmp eq i32 %sequence, %seen
  br i1 %known, label %deadline, label %meet
meet:
  store i32 %sequence, ptr %seen.p
  store i64 %now, ptr %since.p
  %first.p = getelementptr inbounds %job, ptr %job, i64 0, i32 29
  store i64 %now, ptr %first.p
  br label %interrupt
deadline:
  %timeout.p = getelementptr inbounds %job, ptr %job, i64 0, i32 8
  %timeout = load i64, ptr %timeout.p
  %since = load i64, ptr %since.p
  %age = sub i64 %now, %since
  %limited = icmp ne i64 %timeout, 0
  %passed = icmp uge i64 %age, %timeout
  %late = and i1 %limited, %passed
  br i1 %late, label %stop.late, label %interrupt
stop.late:
  call void @stop(ptr %job, i32 1)
  br label %done
interrupt:
  %main.p = getelementptr inbounds %job, ptr %job, i64 0, i32 10
  %main = load i32, ptr %main.p
  %before.p = getelementptr inbounds %job, ptr %job, i64 0, i32 21
  %before = load i32, ptr %before.p
  %count = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 6) acquire, align 4
  %new = icmp ne i32 %count, %before
  %is.main = icmp ne i32 %main, 0
  %interrupted = and i1 %new, %is.main
  br i1 %interrupted, label %stop.interrupt, label %signals
stop.interrupt:
  call void @stop(ptr %job, i32 2)
  br label %done
signals:
  ; Often enough to be prompt, seldom enough not to be felt: the main thread waits for the interpreter.
  %poked.p = getelementptr inbounds %job, ptr %job, i64 0, i32 29
  %poked = load i64, ptr %poked.p
  %quiet = sub i64 %now, %poked
  %long = icmp sgt i64 %quiet, 40000000
  %due = and i1 %long, %is.main
  br i1 %due, label %poke, label %done
poke:
  store i64 %now, ptr %poked.p
  call void @os_poke()
  br label %done
done:
  store atomic i32 0, ptr %watching.p seq_cst, align 4
  ret i1 %is.live
}

; Let handlers of Python run, in the main thread, which has let go of the interpreter lock. If one raises, the
; launch ends, and the exception stays with the thread.
define internal void @attend(ptr %job) nounwind {
entry:
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %raised.before = icmp eq i32 %stop, 2
  br i1 %raised.before, label %done, label %look
look:
  %state.p = getelementptr inbounds %job, ptr %job, i64 0, i32 28
  %state = load ptr, ptr %state.p
  call void @PyEval_RestoreThread(ptr %state)
  %signal = call i32 @PyErr_CheckSignals()
  %again = call ptr @PyEval_SaveThread()
  %raised = icmp ne i32 %signal, 0
  br i1 %raised, label %end, label %done
end:
  store atomic i32 2, ptr %stop.p seq_cst, align 4
  br label %done
done:
  ret void
}

; What the main thread does when it is told to look, wherever it is. Python can run here as in any other place
; of the thread: kernels hold no lock and call nothing that does.
define internal void @look_for_signals() nounwind {
entry:
  %job = atomicrmw xchg ptr @main_job, ptr null seq_cst
  %elsewhere = icmp eq ptr %job, null
  br i1 %elsewhere, label %done, label %here
here:
  call void @attend(ptr %job)
  store atomic ptr %job, ptr @main_job seq_cst, align 8
  br label %done
done:
  ret void
}

define internal void @stop(ptr %job, i32 %reason) nounwind {
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %r = cmpxchg ptr %stop.p, i32 0, i32 %reason monotonic monotonic
  ret void
}

define internal i1 @watch_all() nounwind {
entry:
  %now = call i64 @os_now()
  %high = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 2) acquire, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %step ]
  %any = phi i1 [ false, %entry ], [ %any.next, %step ]
  %more = icmp ult i32 %i, %high
  br i1 %more, label %step, label %done
step:
  %index = zext i32 %i to i64
  %job = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 11, i64 %index
  %live = call i1 @watch(ptr %job, i64 %now)
  %any.next = or i1 %any, %live
  %i.next = add i32 %i, 1
  br label %loop
done:
  ret i1 %any
}

; Ticks every 5 ms while there are launches and for a second after the last one, then sleeps.
define internal ptr @watchdog(ptr %unused) nounwind {
entry:
  %state.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 5
  br label %tick
tick:
  %idle = phi i32 [ 0, %entry ], [ %idle.next, %rest ], [ 0, %sleep ], [ 0, %stay ]
  %live = call i1 @watch_all()
  %idle.more = add i32 %idle, 1
  %idle.next = select i1 %live, i32 0, i32 %idle.more
  %tired = icmp ugt i32 %idle.next, 200
  br i1 %tired, label %doze, label %rest
rest:
  call void @os_wait(ptr %state.p, i32 1, i64 5000000)
  br label %tick
doze:
  store atomic i32 2, ptr %state.p seq_cst, align 4
  %live.now = call i1 @watch_all()
  br i1 %live.now, label %stay, label %sleep
sleep:
  call void @os_wait(ptr %state.p, i32 2, i64 -1)
  br label %tick
stay:
  store atomic i32 1, ptr %state.p seq_cst, align 4
  br label %tick
}

; ---- starting -------------------------------------------------------------------------------------

define internal void @start_workers() nounwind cold noinline {
entry:
  %started.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 4
  %claim = cmpxchg ptr %started.p, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %claim, 1
  br i1 %mine, label %begin, label %done
begin:
  %threads = load i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 3)
  br label %loop
loop:
  %i = phi i32 [ 1, %begin ], [ %next, %spawned ]
  %more = icmp slt i32 %i, %threads
  br i1 %more, label %spawn, label %done
spawn:
  %error = call i32 @os_spawn(ptr @worker)
  %ok = icmp eq i32 %error, 0
  br i1 %ok, label %spawned, label %done
spawned:
  %n = atomicrmw add ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7), i32 1 monotonic
  %next = add i32 %i, 1
  br label %loop
done:
  ret void
}

define internal void @rouse_watchdog(i32 %state) nounwind cold noinline {
entry:
  %state.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 5
  %claim = cmpxchg ptr %state.p, i32 %state, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %claim, 1
  br i1 %mine, label %act, label %done
act:
  %fresh = icmp eq i32 %state, 0
  br i1 %fresh, label %spawn, label %wake
spawn:
  %error = call i32 @os_spawn(ptr @watchdog)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %undo, label %done
undo:
  store atomic i32 0, ptr %state.p seq_cst, align 4
  br label %done
wake:
  call void @os_wake(ptr %state.p, i32 1)
  br label %done
done:
  ret void
}

; ---- a launch, seen from the launching thread ------------------------------------------------------

; A free job, marked as taken; null if there is none.
define internal ptr @take_job() nounwind alwaysinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %job = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 11, i64 %i
  %taken = load atomic i32, ptr %job monotonic, align 4
  %busy = icmp ne i32 %taken, 0
  br i1 %busy, label %step, label %try
try:
  %claim = cmpxchg ptr %job, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %claim, 1
  br i1 %mine, label %done, label %step
step:
  %next = add i64 %i, 1
  %end = icmp eq i64 %next, 64
  br i1 %end, label %full, label %loop
full:
  ret ptr null
done:
  %high.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 2
  %high = load atomic i32, ptr %high.p monotonic, align 4
  %count64 = add i64 %i, 1
  %count = trunc i64 %count64 to i32
  %raise = icmp ult i32 %high, %count
  br i1 %raise, label %raise.it, label %out
raise.it:
  %h = atomicrmw umax ptr %high.p, i32 %count seq_cst
  br label %out
out:
  ret ptr %job
}

define internal void @release_job(ptr %job) nounwind alwaysinline {
  store atomic i32 0, ptr %job release, align 4
  ret void
}

; Show the job to the watchdog.
define internal void @enliven(ptr %job) nounwind alwaysinline {
entry:
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 9
  %sequence = load i32, ptr %sequence.p
  %sequence.next = add i32 %sequence, 1
  store i32 %sequence.next, ptr %sequence.p
  %live.p = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  store atomic i32 1, ptr %live.p seq_cst, align 4
  %state = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 5) seq_cst, align 4
  %ticking = icmp eq i32 %state, 1
  br i1 %ticking, label %done, label %rouse
rouse:
  call void @rouse_watchdog(i32 %state)
  br label %done
done:
  ret void
}

define internal void @bury(ptr %job) nounwind alwaysinline {
entry:
  %live.p = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  store atomic i32 0, ptr %live.p seq_cst, align 4
  %watching.p = getelementptr inbounds %job, ptr %job, i64 0, i32 18
  br label %loop
loop:
  %watching = load atomic i32, ptr %watching.p seq_cst, align 4
  %busy = icmp ne i32 %watching, 0
  br i1 %busy, label %again, label %done
again:
  call void @os_yield()
  br label %loop
done:
  ret void
}

; Let up to %wanted workers in; says whether some of them sleep.
define internal i1 @open_job(ptr %job, i32 %wanted) nounwind alwaysinline {
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  store i32 %wanted, ptr %limit.p
  %open.p = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  store atomic i32 1, ptr %open.p seq_cst, align 4
  %e = atomicrmw add ptr @vyre_pool, i32 1 seq_cst
  %sleepers = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 1) seq_cst, align 4
  %any = icmp ne i32 %sleepers, 0
  ret i1 %any
}

; Close a job to new threads, and wait for those inside.
define internal void @close_job(ptr %job) nounwind {
entry:
  %open.p = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  store atomic i32 0, ptr %open.p seq_cst, align 4
  %refs.p = getelementptr inbounds %job, ptr %job, i64 0, i32 13
  %begin = load atomic i32, ptr %refs.p seq_cst, align 4
  %alone = icmp eq i32 %begin, 0
  br i1 %alone, label %done, label %spin
spin:
  %spin.p = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 8
  %ns = load i64, ptr %spin.p
  %start = call i64 @os_now()
  br label %look
look:
  %r = load atomic i32, ptr %refs.p seq_cst, align 4
  %none = icmp eq i32 %r, 0
  br i1 %none, label %done, label %again
again:
  call void @os_relax()
  %now = call i64 @os_now()
  %age = sub i64 %now, %start
  %over = icmp sgt i64 %age, %ns
  br i1 %over, label %settle, label %look
settle:
  %waiting.p = getelementptr inbounds %job, ptr %job, i64 0, i32 14
  store atomic i32 1, ptr %waiting.p seq_cst, align 4
  br label %sleep
sleep:
  %left = load atomic i32, ptr %refs.p seq_cst, align 4
  %gone = icmp eq i32 %left, 0
  br i1 %gone, label %wake, label %nap
nap:
  call void @wait_attending(ptr %job, ptr %refs.p, i32 %left, i64 -1)
  br label %sleep
wake:
  store atomic i32 0, ptr %waiting.p seq_cst, align 4
  br label %done
done:
  ret void
}

; Sleep on a word as the launching thread of a job. The main thread looks for signals when it wakes, and wakes
; for that, if a signal that came just before has not woken it.
define internal void @wait_attending(ptr %job, ptr %word, i32 %value, i64 %ns) nounwind {
entry:
  %main.p = getelementptr inbounds %job, ptr %job, i64 0, i32 10
  %main = load i32, ptr %main.p
  %is.main = icmp ne i32 %main, 0
  %forever = icmp slt i64 %ns, 0
  %often = and i1 %is.main, %forever
  %limit = select i1 %often, i64 40000000, i64 %ns
  call void @os_wait(ptr %word, i32 %value, i64 %limit)
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %value
  %look = and i1 %is.main, %same
  br i1 %look, label %attend, label %done
attend:
  call void @attend(ptr %job)
  br label %done
done:
  ret void
}

; Wait until others have taken all of a job's work: the launching thread has too little stack for it. False if
; there are no others.
define internal i1 @stand_by(ptr %job) nounwind {
entry:
  %running = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7) seq_cst, align 4
  %none = icmp eq i32 %running, 0
  br i1 %none, label %start, label %look
start:
  %error = call i32 @os_spawn(ptr @worker)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %no, label %started
started:
  %n = atomicrmw add ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7), i32 1 seq_cst
  br label %look
look:
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %yes, label %open
open:
  %left = call i1 @has_work(ptr %job)
  br i1 %left, label %wait, label %yes
wait:
  %refs.p = getelementptr inbounds %job, ptr %job, i64 0, i32 13
  %refs = load atomic i32, ptr %refs.p seq_cst, align 4
  call void @wait_attending(ptr %job, ptr %refs.p, i32 %refs, i64 1000000)
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}

; ---- settings and fork ----------------------------------------------------------------------------

define void @vyre_pool_configure(i32 %threads, i64 %spin, i64 %main) nounwind {
  call void @os_start()
  call void @os_hear_signals()
  store i32 %threads, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 3)
  store i64 %spin, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 8)
  store i64 %main, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 9)
  ret void
}

; In a forked child no worker exists, and no launch is under way but those of the thread that forked, if it did
; so in a signal handler: these cannot be completed. Begin again.
define void @vyre_pool_reset() nounwind {
entry:
  call void @llvm.memset.p0.i64(ptr @vyre_pool, i8 0, i64 12, i1 false)
  store i32 0, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 4)
  store i32 0, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 5)
  store i32 0, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7)
  store i32 0, ptr @worker_ids
  store atomic ptr null, ptr @main_job seq_cst, align 8
  call void @os_forget_workers()
  %self = call i64 @os_thread()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %job = getelementptr inbounds %pool, ptr @vyre_pool, i64 0, i32 11, i64 %i
  %taken = load i32, ptr %job
  %is.taken = icmp ne i32 %taken, 0
  %thread.p = getelementptr inbounds %job, ptr %job, i64 0, i32 27
  %thread = load i64, ptr %thread.p
  %is.own = icmp eq i64 %thread, %self
  %is.under.way = and i1 %is.taken, %is.own
  br i1 %is.under.way, label %end, label %clear
end:
  %open.p = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  store i32 0, ptr %open.p
  %live.p = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  store i32 0, ptr %live.p
  %refs.p = getelementptr inbounds %job, ptr %job, i64 0, i32 13
  store i32 0, ptr %refs.p
  %watching.p = getelementptr inbounds %job, ptr %job, i64 0, i32 18
  store i32 0, ptr %watching.p
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 6, ptr %stop.p
  %end64 = add i64 %i, 1
  %end32 = trunc i64 %end64 to i32
  store i32 %end32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 2)
  br label %step
clear:
  call void @llvm.memset.p0.i64(ptr %job, i8 0, i64 ptrtoint (ptr getelementptr (%job, ptr null, i64 1) to i64), i1 false)
  br label %step
step:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  ret void
}

; How many workers run.
define i32 @vyre_pool_workers() nounwind {
  %n = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7) monotonic, align 4
  ret i32 %n
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
