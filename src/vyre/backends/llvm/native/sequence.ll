; Sequences: launches and the steps between them, as one job of the pool (driver/sequence.py).
;
; A launch of a sequence is a phase of its job. Threads go through the gate to work on it: `gate` has the number of
; the phase in its upper half, and in its lower how many threads are inside, or that it is closed. A thread leaves
; when no workgroup is left to claim, so the last one out finds all of them done. It closes the gate, executes the
; steps up to the next launch, and opens the gate for that: no thread waits for one that is not inside. A launch that
; is over before another thread would have begun is run by the thread that came to it, behind the closed gate.
;
; Workers leave the job after a phase and find the next one as they find other jobs, so that one which is not running
; holds nothing up. The launching thread stays: it waits for the next phase, or for the end. All of a run has one
; control block, so what stops a launch stops the run: see `position` for the step that this was.

%step = type {
  i32,           ; 0 kind: 0 launch, 1 clear, 2 copy, 3 add, 4 jump, 5 branch if equal, 6 branch if different,
                 ;   7 branch if below (signed), 8 the same (unsigned), 9 stop
  i32,           ; 1 the step to go on with
  ptr,           ; 2 the %bound of a launch; else what is written, or looked at
  ptr,           ; 3 what is copied, or compared with
  i64,           ; 4 bytes, a number to add, a value to compare with, a reason to stop
  i64,           ; 5 how long launches took, in ns
  i64,           ; 6 how many launches that were
  i64            ; 7
}
%patch = type {
  i64,           ; 0 a parameter
  ptr,           ; 1 the %buffer that it fills in, or the pointer
  i64            ; 2 -1 for a %buffer; else how far from its start the pointer points
}
%sequence = type {
  ptr,           ;  0 array of %step
  i32,           ;  1 how many
  i32,           ;  2 how many parameters
  ptr,           ;  3 array of %slot, what each parameter must be
  ptr,           ;  4 array of i64, the bytes that each must have
  ptr,           ;  5 array of %patch
  i64,           ;  6 how many
  i64,           ;  7 scratch bytes, those of the launch that needs most
  i64,           ;  8 stack bytes, the same
  i32,           ;  9 1 if all of it is over before another thread would have the interpreter lock
  i32,           ; 10 threads to use at most, 0 for all
  i32,           ; 11 position: the step under way
  i32            ; 12 the reason of the step that ended the run
}

@name.sequence = internal constant [13 x i8] c"run_sequence\00"
@vyre_method_sequence = global %method { ptr @name.sequence, ptr @py_sequence, i32 128, ptr null }

; ---- memory, in blocks of 64 KiB --------------------------------------------------------------------

; Kernels for clears and copies of much memory: the first buffer is written, and its count is in bytes.
define void @vyre_clear_blocks(ptr %launch, i64 %first, i64 %last, ptr %scratch) nounwind {
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %bytes.p = getelementptr inbounds %buffer, ptr %buffers, i64 0, i32 1
  %bytes = load i64, ptr %bytes.p
  %from = shl i64 %first, 16
  %end = shl i64 %last, 16
  %to = call i64 @llvm.umin.i64(i64 %end, i64 %bytes)
  %length = sub i64 %to, %from
  %start = getelementptr i8, ptr %data, i64 %from
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 %length, i1 false)
  ret void
}

define void @vyre_copy_blocks(ptr %launch, i64 %first, i64 %last, ptr %scratch) nounwind {
  %buffers = load ptr, ptr %launch
  %data = load ptr, ptr %buffers
  %bytes.p = getelementptr inbounds %buffer, ptr %buffers, i64 0, i32 1
  %bytes = load i64, ptr %bytes.p
  %source.p = getelementptr inbounds %buffer, ptr %buffers, i64 1
  %source = load ptr, ptr %source.p
  %from = shl i64 %first, 16
  %end = shl i64 %last, 16
  %to = call i64 @llvm.umin.i64(i64 %end, i64 %bytes)
  %length = sub i64 %to, %from
  %start = getelementptr i8, ptr %data, i64 %from
  %origin = getelementptr i8, ptr %source, i64 %from
  call void @llvm.memcpy.p0.p0.i64(ptr %start, ptr %origin, i64 %length, i1 false)
  ret void
}

; ---- steps ----------------------------------------------------------------------------------------

; What a job needs for a launch of its sequence; no thread is inside.
define internal void @set_launch(ptr %job, ptr %bound, i64 %groups) nounwind alwaysinline {
entry:
  %kernel = load ptr, ptr %bound
  %kernel.p = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  store ptr %kernel, ptr %kernel.p
  %groups.p = getelementptr inbounds %job, ptr %job, i64 0, i32 5
  store i64 %groups, ptr %groups.p
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  %buffers.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 1
  %buffers = load ptr, ptr %buffers.from
  store ptr %buffers, ptr %launch
  %grid.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 2
  %grid.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 2
  ; nx, ny, nz and the flags.
  call void @llvm.memcpy.p0.p0.i64(ptr %grid.p, ptr %grid.from, i64 16, i1 false)
  ; The second word of the memory that its threads share: no block is done (abi.py).
  %shared.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 6
  %shared = load ptr, ptr %shared.p
  %none = icmp eq ptr %shared, null
  br i1 %none, label %done, label %begin
begin:
  %blocks.p = getelementptr inbounds i32, ptr %shared, i64 1
  store i32 0, ptr %blocks.p
  br label %done
done:
  ret void
}

; The first word of a thread's memory is zero when it begins to work on a launch.
define internal void @begin_memory(ptr %memory) nounwind alwaysinline {
  %none = icmp eq ptr %memory, null
  br i1 %none, label %done, label %begin
begin:
  store i32 0, ptr %memory
  br label %done
done:
  ret void
}

; Run all workgroups of a short launch in this thread.
define internal void @run_at_once(ptr %job, i64 %groups, ptr %memory) nounwind {
  %kernel.p = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  %kernel = load ptr, ptr %kernel.p
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  call void @begin_memory(ptr %memory)
  call void %kernel(ptr %launch, i64 0, i64 %groups, ptr %memory)
  call void @hand_over(ptr %kernel, ptr %launch, ptr %memory)
  ret void
}

; Whether a launch is left to the thread that came to it. %can.wait: it is not worth waking a worker for it, unless
; more such launches follow.
define internal i1 @is_for_one(i64 %groups, i64 %chunk, i32 %threads, i64 %estimate) nounwind {
entry:
  %one.thread = icmp ule i32 %threads, 1
  %one.chunk = icmp uge i64 %chunk, %groups
  %must = or i1 %one.thread, %one.chunk
  br i1 %must, label %yes, label %weigh
weigh:
  %known = icmp ne i64 %estimate, 0
  %little = icmp ule i64 %estimate, 20000
  %small = and i1 %known, %little
  br i1 %small, label %brief, label %no
brief:
  %few = icmp ule i32 %threads, 8
  %awake = call i1 @are_awake()
  %many = call i1 @is_one_of_many()
  %worth = or i1 %awake, %many
  %joined = and i1 %few, %worth
  br i1 %joined, label %no, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i32 @threads_of(ptr %sequence) nounwind alwaysinline {
  %wanted.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 10
  %wanted = load i32, ptr %wanted.p
  %every = load i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 3)
  %all = icmp eq i32 %wanted, 0
  %capped = call i32 @llvm.umin.i32(i32 %wanted, i32 %every)
  %threads = select i1 %all, i32 %every, i32 %capped
  ret i32 %threads
}

; The launch under way is done: note its time and go past it, unless it was stopped.
define internal void @complete_launch(ptr %job, ptr %sequence) nounwind {
entry:
  %under.way.p = getelementptr inbounds %job, ptr %job, i64 0, i32 35
  %under.way = load i32, ptr %under.way.p
  %none = icmp eq i32 %under.way, 0
  br i1 %none, label %done, label %look
look:
  store i32 0, ptr %under.way.p
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %done, label %note
note:
  %position.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 11
  %position = load i32, ptr %position.p
  %position.w = zext i32 %position to i64
  %steps = load ptr, ptr %sequence
  %step = getelementptr inbounds %step, ptr %steps, i64 %position.w
  %began.p = getelementptr inbounds %job, ptr %job, i64 0, i32 36
  %began = load i64, ptr %began.p
  %now = call i64 @os_now()
  %age = sub i64 %now, %began
  %spent.p = getelementptr inbounds %step, ptr %step, i64 0, i32 5
  %spent = load i64, ptr %spent.p
  %spent.new = add i64 %spent, %age
  store i64 %spent.new, ptr %spent.p
  %count.p = getelementptr inbounds %step, ptr %step, i64 0, i32 6
  %count = load i64, ptr %count.p
  %count.new = add i64 %count, 1
  store i64 %count.new, ptr %count.p
  %next = add i32 %position, 1
  store i32 %next, ptr %position.p
  br label %done
done:
  ret void
}

; Execute steps, with the gate closed, until the run is over (false) or there is a launch to be opened to other
; threads (true). %mode: 0 for that, 1 if all launches are short, 2 if this thread cannot run any.
define internal i1 @advance(ptr %job, ptr %memory, i1 %attends, i32 %mode) nounwind {
entry:
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 31
  %sequence = load ptr, ptr %sequence.p
  %steps = load ptr, ptr %sequence
  %count.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 1
  %count = load i32, ptr %count.p
  %position.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 11
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %all.short = icmp eq i32 %mode, 1
  %unable = icmp eq i32 %mode, 2
  br label %complete
complete:
  call void @complete_launch(ptr %job, ptr %sequence)
  br label %loop
loop:
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %over, label %fetch
fetch:
  %position = load i32, ptr %position.p
  %is.end = icmp uge i32 %position, %count
  br i1 %is.end, label %over, label %listen
listen:
  ; The main thread may run Python between steps as it may in kernels: nothing here holds a lock.
  br i1 %attends, label %main, label %decode
main:
  store atomic ptr %job, ptr @main_job seq_cst, align 8
  br label %decode
decode:
  %position.w = zext i32 %position to i64
  %step = getelementptr inbounds %step, ptr %steps, i64 %position.w
  %kind = load i32, ptr %step
  %to.p = getelementptr inbounds %step, ptr %step, i64 0, i32 1
  %to = load i32, ptr %to.p
  %a.p = getelementptr inbounds %step, ptr %step, i64 0, i32 2
  %a = load ptr, ptr %a.p
  %b.p = getelementptr inbounds %step, ptr %step, i64 0, i32 3
  %b = load ptr, ptr %b.p
  %value.p = getelementptr inbounds %step, ptr %step, i64 0, i32 4
  %value = load i64, ptr %value.p
  %following = add i32 %position, 1
  switch i32 %kind, label %over [
    i32 0, label %launch
    i32 1, label %clear
    i32 2, label %copy
    i32 3, label %add
    i32 4, label %jump
    i32 5, label %equal
    i32 6, label %different
    i32 7, label %below.signed
    i32 8, label %below.unsigned
    i32 9, label %stop.it
  ]
clear:
  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 %value, i1 false)
  br label %next
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %value, i1 false)
  br label %next
add:
  %sum.old = load i64, ptr %a, align 1
  %sum = add i64 %sum.old, %value
  store i64 %sum, ptr %a, align 1
  br label %next
equal:
  %word.e = load i32, ptr %a, align 1
  %value.e = trunc i64 %value to i32
  %is.equal = icmp eq i32 %word.e, %value.e
  br i1 %is.equal, label %jump, label %next
different:
  %word.d = load i32, ptr %a, align 1
  %value.d = trunc i64 %value to i32
  %is.different = icmp ne i32 %word.d, %value.d
  br i1 %is.different, label %jump, label %next
below.signed:
  %a.s = load i64, ptr %a, align 1
  %b.s = load i64, ptr %b, align 1
  %is.below.s = icmp slt i64 %a.s, %b.s
  br i1 %is.below.s, label %jump, label %next
below.unsigned:
  %a.u = load i64, ptr %a, align 1
  %b.u = load i64, ptr %b, align 1
  %is.below.u = icmp ult i64 %a.u, %b.u
  br i1 %is.below.u, label %jump, label %next
stop.it:
  %reason = trunc i64 %value to i32
  %reason.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 12
  store i32 %reason, ptr %reason.p
  ; A deadline that has passed meanwhile comes first.
  call void @stop(ptr %job, i32 8)
  br label %over
jump:
  store i32 %to, ptr %position.p
  br label %loop
next:
  store i32 %following, ptr %position.p
  br label %loop
launch:
  %nx.p = getelementptr inbounds %bound, ptr %a, i64 0, i32 2
  %nx = load i32, ptr %nx.p
  %ny.p = getelementptr inbounds %bound, ptr %a, i64 0, i32 3
  %ny = load i32, ptr %ny.p
  %nz.p = getelementptr inbounds %bound, ptr %a, i64 0, i32 4
  %nz = load i32, ptr %nz.p
  %groups = call i64 @count_groups(i32 %nx, i32 %ny, i32 %nz)
  %none = icmp sle i64 %groups, 0
  br i1 %none, label %next, label %some
some:
  call void @set_launch(ptr %job, ptr %a, i64 %groups)
  %flags.p = getelementptr inbounds %bound, ptr %a, i64 0, i32 5
  %flags = load i32, ptr %flags.p
  %cost.p = getelementptr inbounds %bound, ptr %a, i64 0, i32 7
  %cost = load i64, ptr %cost.p
  %estimate = call i64 @llvm.umul.fix.sat.i64(i64 %groups, i64 %cost, i32 0)
  %known = icmp ne i64 %cost, 0
  %polls.bit = and i32 %flags, 1
  %straight = icmp eq i32 %polls.bit, 0
  %tiny = icmp ule i64 %estimate, 5000
  %s1 = and i1 %known, %straight
  %s2 = and i1 %s1, %tiny
  %s3 = or i1 %s2, %all.short
  %able = xor i1 %unable, true
  %short = and i1 %s3, %able
  br i1 %short, label %at.once, label %weigh
at.once:
  call void @run_at_once(ptr %job, i64 %groups, ptr %memory)
  %stop.after = load atomic i32, ptr %stop.p seq_cst, align 4
  %trapped = icmp ne i32 %stop.after, 0
  br i1 %trapped, label %over, label %next
weigh:
  %under.way.p = getelementptr inbounds %job, ptr %job, i64 0, i32 35
  store i32 1, ptr %under.way.p
  %threads = call i32 @threads_of(ptr %sequence)
  %chunk = call i64 @chunk_size(i64 %groups, i32 %threads, i64 %cost, i64 %estimate, i32 %flags)
  %chunk.p = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  store i64 %chunk, ptr %chunk.p
  %for.one = call i1 @is_for_one(i64 %groups, i64 %chunk, i32 %threads, i64 %estimate)
  %alone = and i1 %for.one, %able
  %began = call i64 @os_now()
  %began.p = getelementptr inbounds %job, ptr %job, i64 0, i32 36
  store i64 %began, ptr %began.p
  br i1 %alone, label %by.itself, label %together
by.itself:
  call void @divide(ptr %job, i64 %groups, i64 1, i32 0)
  call void @begin_memory(ptr %memory)
  call void @claim(ptr %job, ptr %memory, i64 0, i1 %attends)
  call void @note_lone_work(i64 %began)
  br label %complete
together:
  %epoch = load atomic i32, ptr @vyre_pool monotonic, align 64
  %odd = and i32 %epoch, 1
  %any.bit = and i32 %flags, 16
  %ordered = icmp eq i32 %any.bit, 0
  %backwards = select i1 %ordered, i32 0, i32 %odd
  %segments = zext i32 %threads to i64
  call void @divide(ptr %job, i64 %groups, i64 %segments, i32 %backwards)
  br label %leave
over:
  br label %leave
leave:
  %more = phi i1 [ true, %together ], [ false, %over ]
  br i1 %attends, label %deaf, label %done
deaf:
  store atomic ptr null, ptr @main_job seq_cst, align 8
  br label %done
done:
  ret i1 %more
}

; ---- phases ---------------------------------------------------------------------------------------

; Whether workers may come in: there is one launch, or the gate is open.
define internal i1 @is_joinable(ptr %job) nounwind {
entry:
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 31
  %sequence = load atomic ptr, ptr %sequence.p monotonic, align 8
  %single = icmp eq ptr %sequence, null
  br i1 %single, label %yes, label %look
look:
  %gate.p = getelementptr inbounds %job, ptr %job, i64 0, i32 30
  %gate = load atomic i64, ptr %gate.p acquire, align 8
  %closed.bit = and i64 %gate, 2147483648
  %open = icmp eq i64 %closed.bit, 0
  ret i1 %open
yes:
  ret i1 true
}

; Begin the next phase: %state is how many threads are inside, or 2^31 for a closed gate. Wakes the launching
; thread if it sleeps.
define internal i64 @turn_gate(ptr %job, i64 %state) nounwind {
entry:
  %gate.p = getelementptr inbounds %job, ptr %job, i64 0, i32 30
  %gate = load atomic i64, ptr %gate.p monotonic, align 8
  %phase = lshr i64 %gate, 32
  %phase.next = add i64 %phase, 1
  %high = shl i64 %phase.next, 32
  %gate.next = or i64 %high, %state
  store atomic i64 %gate.next, ptr %gate.p seq_cst, align 8
  %phase.p = getelementptr inbounds %job, ptr %job, i64 0, i32 32
  %phase.word = trunc i64 %phase.next to i32
  store atomic i32 %phase.word, ptr %phase.p seq_cst, align 4
  %waiting.p = getelementptr inbounds %job, ptr %job, i64 0, i32 34
  %waiting = load atomic i32, ptr %waiting.p seq_cst, align 4
  %waits = icmp ne i32 %waiting, 0
  br i1 %waits, label %wake, label %done
wake:
  call void @os_wake(ptr %phase.p, i32 1)
  br label %done
done:
  %high.done = lshr i64 %gate.next, 32
  ret i64 %high.done
}

; Have workers come, who may sleep: at once, or if the launch is not over after 20 us, in which this thread works
; alone. It is inside already.
define internal void @call_workers(ptr %job, ptr %memory, i1 %attends) nounwind {
entry:
  %e = atomicrmw add ptr @vyre_pool, i32 1 seq_cst
  %sleepers = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 1) seq_cst, align 4
  %none = icmp eq i32 %sleepers, 0
  br i1 %none, label %done, label %weigh
weigh:
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %others = load i32, ptr %limit.p
  %flags.p = getelementptr inbounds %job, ptr %job, i64 0, i32 24, i32 5
  %flags = load i32, ptr %flags.p
  %polls.bit = and i32 %flags, 1
  %bounded = icmp eq i32 %polls.bit, 0
  %enough = call i1 @is_one_of_many()
  %few = xor i1 %enough, true
  %try = and i1 %bounded, %few
  br i1 %try, label %ramp, label %wake
ramp:
  call void @claim_before_waking(ptr %job, ptr %memory, i32 %others, i1 %attends)
  br label %done
wake:
  call void @wake(i32 %others)
  br label %done
done:
  ret void
}

; The run is over.
define internal void @end_run(ptr %job) nounwind {
  %over.p = getelementptr inbounds %job, ptr %job, i64 0, i32 33
  store atomic i32 1, ptr %over.p seq_cst, align 4
  %phase = call i64 @turn_gate(ptr %job, i64 2147483648)
  ret void
}

; Whether a forked child has begun again: nothing of the job can be relied on.
define internal i1 @is_forked(ptr %job) nounwind {
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %is = icmp eq i32 %stop, 6
  ret i1 %is
}

; Work on phases: a worker on one, and on those that it opens; the launching thread until the run is over. That one
; begins it, too.
define internal void @work_on_phases(ptr %job, ptr %memory, i64 %own, i1 %launches, i1 %attends) nounwind {
entry:
  %gate.p = getelementptr inbounds %job, ptr %job, i64 0, i32 30
  %over.p = getelementptr inbounds %job, ptr %job, i64 0, i32 33
  br i1 %launches, label %lead, label %look
look:
  %last = phi i64 [ -1, %entry ], [ %phase.in, %leave ], [ %phase.in, %close ], [ %last, %come.in ], [ %last, %wait ]
  %over = load atomic i32, ptr %over.p seq_cst, align 4
  %is.over = icmp ne i32 %over, 0
  br i1 %is.over, label %done, label %forked
forked:
  %is.forked = call i1 @is_forked(ptr %job)
  br i1 %is.forked, label %done, label %see
see:
  %gate = load atomic i64, ptr %gate.p seq_cst, align 8
  %phase = lshr i64 %gate, 32
  %closed.bit = and i64 %gate, 2147483648
  %closed = icmp ne i64 %closed.bit, 0
  %known = icmp eq i64 %phase, %last
  %outside = or i1 %closed, %known
  br i1 %outside, label %stay, label %come.in
come.in:
  %gate.more = add i64 %gate, 1
  %entered = cmpxchg ptr %gate.p, i64 %gate, i64 %gate.more seq_cst seq_cst
  %is.in = extractvalue { i64, i1 } %entered, 1
  br i1 %is.in, label %enter, label %look
enter:
  call void @begin_memory(ptr %memory)
  br label %work
stay:
  br i1 %launches, label %wait, label %done
wait:
  call void @wait_for_phase(ptr %job, i64 %phase)
  br label %look
work:
  %phase.in = phi i64 [ %phase, %enter ], [ %phase.opened, %opened ]
  call void @claim(ptr %job, ptr %memory, i64 %own, i1 %attends)
  %was.forked = call i1 @is_forked(ptr %job)
  br i1 %was.forked, label %done, label %leave
leave:
  %before = atomicrmw sub ptr %gate.p, i64 1 seq_cst
  %inside = and i64 %before, 2147483647
  %was.last = icmp eq i64 %inside, 1
  br i1 %was.last, label %close, label %look
close:
  %empty = shl i64 %phase.in, 32
  %shut = or i64 %empty, 2147483648
  %closing = cmpxchg ptr %gate.p, i64 %empty, i64 %shut seq_cst seq_cst
  %closes = extractvalue { i64, i1 } %closing, 1
  br i1 %closes, label %lead, label %look
lead:
  %more = call i1 @advance(ptr %job, ptr %memory, i1 %attends, i32 0)
  br i1 %more, label %open, label %end
open:
  %started = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 4) acquire, align 4
  %fresh = icmp eq i32 %started, 0
  br i1 %fresh, label %start, label %opening
start:
  call void @start_workers()
  br label %opening
opening:
  %phase.opened = call i64 @turn_gate(ptr %job, i64 1)
  call void @begin_memory(ptr %memory)
  br label %opened
opened:
  call void @call_workers(ptr %job, ptr %memory, i1 %attends)
  br label %work
end:
  call void @end_run(ptr %job)
  br label %done
done:
  ret void
}

; The launching thread waits until a phase is over.
define internal void @wait_for_phase(ptr %job, i64 %phase) nounwind {
entry:
  %phase.p = getelementptr inbounds %job, ptr %job, i64 0, i32 32
  %phase.word = trunc i64 %phase to i32
  %ns = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 8)
  %changed = call i1 @spin_until_not(ptr %phase.p, i32 %phase.word, i64 %ns)
  br i1 %changed, label %done, label %settle
settle:
  %waiting.p = getelementptr inbounds %job, ptr %job, i64 0, i32 34
  store atomic i32 1, ptr %waiting.p seq_cst, align 4
  %now = load atomic i32, ptr %phase.p seq_cst, align 4
  %same = icmp eq i32 %now, %phase.word
  br i1 %same, label %sleep, label %wake
sleep:
  call void @wait_attending(ptr %job, ptr %phase.p, i32 %phase.word, i64 -1)
  br label %wake
wake:
  store atomic i32 0, ptr %waiting.p seq_cst, align 4
  br label %done
done:
  ret void
}

; Leave the launches to workers: the launching thread has too little stack for them. False if there are no workers.
define internal i1 @stand_by_sequence(ptr %job, ptr %memory, i1 %attends) nounwind {
entry:
  %gate.p = getelementptr inbounds %job, ptr %job, i64 0, i32 30
  %more = call i1 @advance(ptr %job, ptr %memory, i1 %attends, i32 2)
  br i1 %more, label %staff, label %end
staff:
  %running = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7) seq_cst, align 4
  %none = icmp eq i32 %running, 0
  br i1 %none, label %start, label %open
start:
  %error = call i32 @os_spawn(ptr @worker)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %no, label %started
started:
  %n = atomicrmw add ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 7), i32 1 seq_cst
  br label %open
open:
  %opened = call i64 @turn_gate(ptr %job, i64 0)
  %e = atomicrmw add ptr @vyre_pool, i32 1 seq_cst
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %others = load i32, ptr %limit.p
  call void @wake(i32 %others)
  br label %look
look:
  %over.p = getelementptr inbounds %job, ptr %job, i64 0, i32 33
  %over = load atomic i32, ptr %over.p seq_cst, align 4
  %is.over = icmp ne i32 %over, 0
  br i1 %is.over, label %yes, label %forked
forked:
  %is.forked = call i1 @is_forked(ptr %job)
  br i1 %is.forked, label %yes, label %see
see:
  ; What stops a run that no worker is inside of ends it here.
  %gate = load atomic i64, ptr %gate.p seq_cst, align 8
  %state = and i64 %gate, 4294967295
  %empty = icmp eq i64 %state, 0
  %stop.p = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load atomic i32, ptr %stop.p seq_cst, align 4
  %stopped = icmp ne i32 %stop, 0
  %abandoned = and i1 %empty, %stopped
  br i1 %abandoned, label %close, label %wait
close:
  %shut = or i64 %gate, 2147483648
  %closing = cmpxchg ptr %gate.p, i64 %gate, i64 %shut seq_cst seq_cst
  %closes = extractvalue { i64, i1 } %closing, 1
  br i1 %closes, label %end, label %look
wait:
  %phase.p = getelementptr inbounds %job, ptr %job, i64 0, i32 32
  %phase = lshr i64 %gate, 32
  %phase.word = trunc i64 %phase to i32
  call void @wait_attending(ptr %job, ptr %phase.p, i32 %phase.word, i64 1000000)
  br label %look
end:
  call void @end_run(ptr %job)
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; ---- a run, seen from the launching thread ----------------------------------------------------------

define internal void @fill_sequence(ptr %job, ptr %sequence) nounwind alwaysinline {
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 31
  store atomic ptr %sequence, ptr %sequence.p monotonic, align 8
  %bytes.from = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 7
  %bytes = load i64, ptr %bytes.from
  %bytes.p = getelementptr inbounds %job, ptr %job, i64 0, i32 7
  store i64 %bytes, ptr %bytes.p
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  store i32 0, ptr %limit.p
  ; No segments: there is nothing to be claimed yet.
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 12
  store atomic i64 0, ptr %count.p monotonic, align 8
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %launch.control = getelementptr inbounds %job, ptr %job, i64 0, i32 24, i32 1
  store ptr %control, ptr %launch.control
  store i64 0, ptr %control
  %ring.p = getelementptr inbounds %control, ptr %control, i64 0, i32 6
  store ptr null, ptr %ring.p
  %words.p = getelementptr inbounds %control, ptr %control, i64 0, i32 7
  store i64 0, ptr %words.p
  %cursor.p = getelementptr inbounds %control, ptr %control, i64 0, i32 9
  store i64 0, ptr %cursor.p
  %over.p = getelementptr inbounds %job, ptr %job, i64 0, i32 33
  store i32 0, ptr %over.p
  %waiting.p = getelementptr inbounds %job, ptr %job, i64 0, i32 34
  store i32 0, ptr %waiting.p
  %under.way.p = getelementptr inbounds %job, ptr %job, i64 0, i32 35
  store i32 0, ptr %under.way.p
  %phase = call i64 @turn_gate(ptr %job, i64 2147483648)
  %position.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 11
  store i32 0, ptr %position.p
  %reason.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 12
  store i32 0, ptr %reason.p
  ret void
}

; Run a sequence to its end; the interpreter lock is held on entry and on return. Null with an exception set when a
; signal handler raised.
define internal ptr @run_sequence(ptr %sequence, i64 %timeout) nounwind {
entry:
  br label %take
take:
  %job = call ptr @take_job()
  %full = icmp eq ptr %job, null
  br i1 %full, label %crowd, label %taken
crowd:
  %waiting = call ptr @PyEval_SaveThread()
  call void @os_yield()
  call void @PyEval_RestoreThread(ptr %waiting)
  br label %take
taken:
  call void @fill_sequence(ptr %job, ptr %sequence)
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %bytes.p = getelementptr inbounds %job, ptr %job, i64 0, i32 7
  %bytes = load i64, ptr %bytes.p
  %scratch.slot = getelementptr inbounds %job, ptr %job, i64 0, i32 19
  %memory = call ptr @scratch(ptr %scratch.slot, i64 %bytes)
  %shared.p = getelementptr inbounds %job, ptr %job, i64 0, i32 24, i32 6
  store ptr %memory, ptr %shared.p
  %got.none = icmp eq ptr %memory, null
  %needs = icmp ne i64 %bytes, 0
  %cannot = and i1 %got.none, %needs
  br i1 %cannot, label %no.memory, label %choose
no.memory:
  store i32 4, ptr %control
  br label %report
choose:
  %stack.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 8
  %stack = load i64, ptr %stack.p
  %deep = icmp ugt i64 %stack, 12288
  br i1 %deep, label %measure, label %weigh
measure:
  %has = call i1 @os_has_stack(i64 %stack)
  br label %weigh
weigh:
  %fits = phi i1 [ true, %choose ], [ %has, %measure ]
  %short.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 9
  %short.i = load i32, ptr %short.p
  %is.short = icmp ne i32 %short.i, 0
  %short = and i1 %is.short, %fits
  br i1 %short, label %here, label %away
here:
  %none.left = call i1 @advance(ptr %job, ptr %memory, i1 false, i32 1)
  br label %report
away:
  %thread = call i64 @os_thread()
  %thread.p = getelementptr inbounds %job, ptr %job, i64 0, i32 27
  store i64 %thread, ptr %thread.p
  %ok = call i1 @run_sequence_released(ptr %sequence, ptr %job, i64 %timeout, ptr %memory, i1 %fits)
  br i1 %ok, label %report, label %raised
raised:
  call void @release_job(ptr %job)
  ret ptr null
report:
  %result = call ptr @report(ptr %job, i32 0)
  call void @release_job(ptr %job)
  ret ptr %result
}

; The same without the interpreter lock. False when a pending signal raised.
define internal i1 @run_sequence_released(ptr %sequence, ptr %job, i64 %timeout, ptr %memory, i1 %fits) nounwind {
entry:
  %timeout.p = getelementptr inbounds %job, ptr %job, i64 0, i32 8
  store i64 %timeout, ptr %timeout.p
  %self.p = getelementptr inbounds %job, ptr %job, i64 0, i32 27
  %self = load i64, ptr %self.p
  %main = load i64, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 9)
  %is.main = icmp eq i64 %self, %main
  %main.p = getelementptr inbounds %job, ptr %job, i64 0, i32 10
  %main.i = zext i1 %is.main to i32
  store i32 %main.i, ptr %main.p
  br i1 %is.main, label %hear, label %plan
hear:
  call void @os_hear_interrupts()
  %count = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 6) seq_cst, align 4
  %count.p = getelementptr inbounds %job, ptr %job, i64 0, i32 21
  store i32 %count, ptr %count.p
  %signal = call i32 @PyErr_CheckSignals()
  %raised = icmp ne i32 %signal, 0
  br i1 %raised, label %fail, label %plan
fail:
  ret i1 false
plan:
  %threads = call i32 @threads_of(ptr %sequence)
  %beside = sub i32 %threads, 1
  %unfit = xor i1 %fits, true
  %least = zext i1 %unfit to i32
  %others = call i32 @llvm.smax.i32(i32 %beside, i32 %least)
  %state = call ptr @PyEval_SaveThread()
  %state.p = getelementptr inbounds %job, ptr %job, i64 0, i32 28
  store ptr %state, ptr %state.p
  call void @enliven(ptr %job)
  %watchdog = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 5) seq_cst, align 4
  %no.watchdog = icmp eq i32 %watchdog, 0
  %limited = icmp ne i64 %timeout, 0
  %unkept = and i1 %no.watchdog, %limited
  br i1 %unkept, label %refuse, label %accept
refuse:
  %refused = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 7, ptr %refused
  br label %finish
accept:
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  store i32 %others, ptr %limit.p
  %open.p = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  store atomic i32 1, ptr %open.p seq_cst, align 4
  br i1 %fits, label %work, label %leave
leave:
  %left = call i1 @stand_by_sequence(ptr %job, ptr %memory, i1 %is.main)
  br i1 %left, label %close, label %no.stack
no.stack:
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 5, ptr %control
  br label %close
work:
  call void @work_on_phases(ptr %job, ptr %memory, i64 0, i1 true, i1 %is.main)
  br label %close
close:
  call void @close_job(ptr %job)
  br label %finish
finish:
  call void @bury(ptr %job)
  call void @PyEval_RestoreThread(ptr %state)
  ret i1 true
}

; Write the addresses of parameters to where steps and launches have them.
define internal void @patch_all(ptr %sequence, ptr %buffers) nounwind {
entry:
  %patches.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 5
  %patches = load ptr, ptr %patches.p
  %count.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 6
  %count = load i64, ptr %count.p
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %step ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %done
one:
  %patch = getelementptr inbounds %patch, ptr %patches, i64 %i
  %parameter = load i64, ptr %patch
  %to.p = getelementptr inbounds %patch, ptr %patch, i64 0, i32 1
  %to = load ptr, ptr %to.p
  %offset.p = getelementptr inbounds %patch, ptr %patch, i64 0, i32 2
  %offset = load i64, ptr %offset.p
  %buffer = getelementptr inbounds %buffer, ptr %buffers, i64 %parameter
  %is.whole = icmp slt i64 %offset, 0
  br i1 %is.whole, label %whole, label %part
whole:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 16, i1 false)
  br label %step
part:
  %data = load ptr, ptr %buffer
  %address = getelementptr i8, ptr %data, i64 %offset
  store ptr %address, ptr %to
  br label %step
step:
  %i.next = add i64 %i, 1
  br label %loop
done:
  ret void
}

; The first parameter that is shorter than its steps need, or -1.
define internal i64 @too_short(ptr %sequence, ptr %views, i64 %n) nounwind {
entry:
  %least.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 4
  %least = load ptr, ptr %least.p
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %step ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %one, label %none
one:
  %wanted.p = getelementptr inbounds i64, ptr %least, i64 %i
  %wanted = load i64, ptr %wanted.p
  %length.p = getelementptr inbounds %view, ptr %views, i64 %i, i32 2
  %length = load i64, ptr %length.p
  %short = icmp slt i64 %length, %wanted
  br i1 %short, label %found, label %step
step:
  %i.next = add i64 %i, 1
  br label %loop
found:
  ret i64 %i
none:
  ret i64 -1
}

; run_sequence(timeout_ns, runs, array, array, ...): the runs of bytes to be cleared first, and the parameters.
define internal ptr @py_sequence(ptr %self, ptr %arguments, i64 %count) nounwind {
entry:
  %few.buffers = alloca [32 x %buffer], align 16
  %few.views = alloca [32 x %view], align 16
  %sequence = call ptr @bound_of(ptr %self)
  %n.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 2
  %n32 = load i32, ptr %n.p
  %n = zext i32 %n32 to i64
  %expected = add i64 %n, 2
  %right = icmp eq i64 %count, %expected
  br i1 %right, label %read, label %wrong
wrong:
  %kind = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %kind, ptr @text.count)
  ret ptr null
read:
  %timeout = call i64 @integer(ptr %arguments, i64 0)
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %fail, label %sized
fail:
  ret ptr null
sized:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %bound, label %some
bound:
  %plain = call ptr @run_sequence(ptr %sequence, i64 %timeout)
  ret ptr %plain
some:
  %few = icmp ule i64 %n, 32
  br i1 %few, label %here, label %there
here:
  %done = call ptr @sequence_on_arrays(ptr %sequence, ptr %arguments, i64 %n, i64 %timeout, ptr %few.buffers, ptr %few.views)
  ret ptr %done
there:
  %buffer.bytes = mul i64 %n, ptrtoint (ptr getelementptr (%buffer, ptr null, i64 1) to i64)
  %view.bytes = mul i64 %n, ptrtoint (ptr getelementptr (%view, ptr null, i64 1) to i64)
  %bytes = add i64 %buffer.bytes, %view.bytes
  %buffers = call ptr @os_alloc(i64 %bytes)
  %no.room = icmp eq ptr %buffers, null
  br i1 %no.room, label %no.memory, label %run
no.memory:
  %memory.error = call ptr @PyErr_NoMemory()
  ret ptr %memory.error
run:
  %views = getelementptr i8, ptr %buffers, i64 %buffer.bytes
  %result = call ptr @sequence_on_arrays(ptr %sequence, ptr %arguments, i64 %n, i64 %timeout, ptr %buffers, ptr %views)
  call void @os_free(ptr %buffers)
  ret ptr %result
}

define internal ptr @sequence_on_arrays(ptr %sequence, ptr %arguments, i64 %n, i64 %timeout, ptr %buffers, ptr %views) nounwind {
entry:
  %slots.p = getelementptr inbounds %sequence, ptr %sequence, i64 0, i32 3
  %slots = load ptr, ptr %slots.p
  %arrays = getelementptr inbounds ptr, ptr %arguments, i64 2
  %unusable = call i64 @take_views(ptr %slots, ptr %arrays, i64 %n, ptr %buffers, ptr %views)
  %is.unusable = icmp sge i64 %unusable, 0
  br i1 %is.unusable, label %bad, label %measure
measure:
  %short = call i64 @too_short(ptr %sequence, ptr %views, i64 %n)
  %is.short = icmp sge i64 %short, 0
  br i1 %is.short, label %drop, label %clear
drop:
  call void @drop_views(ptr %views, i64 %n)
  br label %bad
bad:
  %which = phi i64 [ %unusable, %entry ], [ %short, %drop ]
  %answer = call ptr (ptr, ...) @Py_BuildValue(ptr @format.bad, i32 -1, i64 %which)
  ret ptr %answer
clear:
  %runs.p = getelementptr inbounds ptr, ptr %arguments, i64 1
  %runs.object = load ptr, ptr %runs.p
  %runs = call ptr @PyBytes_AsString(ptr %runs.object)
  %runs.none = icmp eq ptr %runs, null
  br i1 %runs.none, label %no.bytes, label %fill
no.bytes:
  call void @drop_views(ptr %views, i64 %n)
  ret ptr null
fill:
  %runs.length = call i64 @PyBytes_Size(ptr %runs.object)
  call void @clear_runs(ptr %buffers, ptr %runs, i64 %runs.length)
  call void @patch_all(ptr %sequence, ptr %buffers)
  %result = call ptr @run_sequence(ptr %sequence, i64 %timeout)
  call void @drop_views(ptr %views, i64 %n)
  ret ptr %result
}

declare i32 @llvm.smax.i32(i32, i32)
