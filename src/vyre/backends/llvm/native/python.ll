; Launches as functions the interpreter calls directly (METH_FASTCALL).
;
; Each takes as `self` a tuple whose first item is the address of a %bound; the other items keep alive
; what it points to. They return 0, or a tuple (status, tag, x, y, z, ring cursor) when the launch was
; stopped or printed, or (-1, index) when argument `index` cannot be used as given.

%buffer = type { ptr, i64 }
%bound = type {
  ptr,           ;  0 kernel
  ptr,           ;  1 array of %buffer
  i32,           ;  2 grid x
  i32,           ;  3 grid y
  i32,           ;  4 grid z
  i32,           ;  5 flags: 1 polls the stop flag, 2 divergent, 4 prints, 8 keeps totals, 16 any order,
                 ;    32 unsure of what read-only memory holds
  i64,           ;  6 scratch bytes
  i64,           ;  7 estimated ns per workgroup, 0 if unknown
  i64,           ;  8 timeout in ns, 0 for none
  i32,           ;  9 threads to use at most, 0 for all
  i32,           ; 10 number of buffers
  ptr,           ; 11 array of %slot, what each buffer must be
  ptr,           ; 12 print ring
  i64,           ; 13 its size in words
  i32,           ; 14 the buffer whose length gives the grid, or -1
  i32,           ; 15 elements per workgroup along x
  i64            ; 16 stack bytes of a call of the kernel
}
%slot = type {
  i32,           ; 0 bytes per element
  i32,           ; 1 flags for PyObject_GetBuffer
  i32,           ; 2 up to four format characters that are accepted, 0 for any
  i32            ; 3 1 for a view with strides: the memory from its lowest element to its highest
}
%view = type { ptr, ptr, i64, i64, i32, i32, ptr, ptr, ptr, ptr, ptr }
%method = type { ptr, ptr, i32, ptr }

@name.bound = internal constant [7 x i8] c"launch\00"
@name.arrays = internal constant [14 x i8] c"launch_arrays\00"
@name.raw = internal constant [11 x i8] c"launch_raw\00"
@vyre_method_bound = global %method { ptr @name.bound, ptr @py_launch, i32 128, ptr null }
@vyre_method_arrays = global %method { ptr @name.arrays, ptr @py_launch_arrays, i32 128, ptr null }
@vyre_method_raw = global %method { ptr @name.raw, ptr @py_launch_raw, i32 128, ptr null }

@format.status = internal constant [9 x i8] c"(iiIIIL)\00"
@format.bad = internal constant [5 x i8] c"(in)\00"
@text.count = internal constant [26 x i8] c"wrong number of arguments\00"

@PyExc_KeyboardInterrupt = external global ptr
@PyExc_TypeError = external global ptr

; ---- one launch -----------------------------------------------------------------------------------

; Number of workgroups, or -1 when it does not fit.
define internal i64 @count_groups(i32 %nx, i32 %ny, i32 %nz) nounwind alwaysinline {
  %x = zext i32 %nx to i64
  %y = zext i32 %ny to i64
  %z = zext i32 %nz to i64
  %xy = mul i64 %x, %y
  %all = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %xy, i64 %z)
  %n = extractvalue { i64, i1 } %all, 0
  %over = extractvalue { i64, i1 } %all, 1
  %large = icmp ugt i64 %n, 1152921504606846975
  %bad = or i1 %over, %large
  %r = select i1 %bad, i64 -1, i64 %n
  ret i64 %r
}

; Workgroups claimed at a time: equal parts for short launches of even cost, else several per thread, and
; never more than about 10 ms of work (16393 workgroups if nothing is known), because the stop flag is
; looked at in between.
define internal i64 @chunk_size(i64 %groups, i32 %threads, i64 %cost, i64 %estimate, i32 %flags) nounwind alwaysinline {
  %divergent.bit = and i32 %flags, 2
  %divergent = icmp ne i32 %divergent.bit, 0
  %unknown = icmp eq i64 %cost, 0
  %long = icmp ugt i64 %estimate, 1000000
  %many = or i1 %unknown, %long
  %even = select i1 %many, i64 8, i64 1
  %per.thread = select i1 %divergent, i64 16, i64 %even
  %t = zext i32 %threads to i64
  %parts = mul i64 %t, %per.thread
  %up = add i64 %groups, %parts
  %up1 = sub i64 %up, 1
  %fair = udiv i64 %up1, %parts
  %divisor = select i1 %unknown, i64 610, i64 %cost
  %prompt = udiv i64 10000000, %divisor
  %limit = call i64 @llvm.umax.i64(i64 %prompt, i64 1)
  %chunk = call i64 @llvm.umin.i64(i64 %fair, i64 %limit)
  ret i64 %chunk
}

define internal void @fill_job(ptr %job, ptr %bound, ptr %buffers, i32 %nx, i32 %ny, i32 %nz, i64 %groups) nounwind alwaysinline {
  %kernel = load ptr, ptr %bound
  %kernel.p = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  store ptr %kernel, ptr %kernel.p
  %groups.p = getelementptr inbounds %job, ptr %job, i64 0, i32 5
  store i64 %groups, ptr %groups.p
  %limit.p = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  store i32 0, ptr %limit.p
  %sequence.p = getelementptr inbounds %job, ptr %job, i64 0, i32 31
  store atomic ptr null, ptr %sequence.p monotonic, align 8
  %bytes.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 6
  %bytes = load i64, ptr %bytes.from
  %bytes.p = getelementptr inbounds %job, ptr %job, i64 0, i32 7
  store i64 %bytes, ptr %bytes.p
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store ptr %buffers, ptr %launch
  %control.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 1
  store ptr %control, ptr %control.p
  %nx.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 2
  store i32 %nx, ptr %nx.p
  %ny.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 3
  store i32 %ny, ptr %ny.p
  %nz.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 4
  store i32 %nz, ptr %nz.p
  %flags.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 5
  %flags = load i32, ptr %flags.from
  %flags.p = getelementptr inbounds %launch, ptr %launch, i64 0, i32 5
  store i32 %flags, ptr %flags.p
  store i64 0, ptr %control
  %ring.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 12
  %ring = load ptr, ptr %ring.from
  %ring.p = getelementptr inbounds %control, ptr %control, i64 0, i32 6
  store ptr %ring, ptr %ring.p
  %words.from = getelementptr inbounds %bound, ptr %bound, i64 0, i32 13
  %words = load i64, ptr %words.from
  %words.p = getelementptr inbounds %control, ptr %control, i64 0, i32 7
  store i64 %words, ptr %words.p
  %cursor.p = getelementptr inbounds %control, ptr %control, i64 0, i32 9
  store i64 0, ptr %cursor.p
  ret void
}

; Run a launch to its end; the interpreter lock is held on entry and on return. Null with an exception set
; when a signal handler raised.
define internal ptr @run(ptr %bound, ptr %buffers, i32 %nx, i32 %ny, i32 %nz, i64 %timeout) nounwind {
entry:
  %groups = call i64 @count_groups(i32 %nx, i32 %ny, i32 %nz)
  %none = icmp eq i64 %groups, 0
  br i1 %none, label %empty, label %sized
empty:
  %zero = call ptr @PyLong_FromLong(i64 0)
  ret ptr %zero
sized:
  %too.many = icmp slt i64 %groups, 0
  br i1 %too.many, label %refuse, label %begin
refuse:
  %refusal = call ptr (ptr, ...) @Py_BuildValue(ptr @format.bad, i32 -2, i64 0)
  ret ptr %refusal
begin:
  %flags.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 5
  %flags = load i32, ptr %flags.p
  %cost.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 7
  %cost = load i64, ptr %cost.p
  %estimate = call i64 @llvm.umul.fix.sat.i64(i64 %groups, i64 %cost, i32 0)
  br label %take
take:
  %job = call ptr @take_job()
  %full = icmp eq ptr %job, null
  br i1 %full, label %crowd, label %taken
crowd:
  ; Those that have one need the interpreter lock to give it back.
  %waiting = call ptr @PyEval_SaveThread()
  call void @os_yield()
  call void @PyEval_RestoreThread(ptr %waiting)
  br label %take
taken:
  call void @fill_job(ptr %job, ptr %bound, ptr %buffers, i32 %nx, i32 %ny, i32 %nz, i64 %groups)
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
  %control.nm = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 4, ptr %control.nm
  br label %report
choose:
  ; A frame of a few pages fits wherever Python runs.
  %stack.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 16
  %stack = load i64, ptr %stack.p
  %deep = icmp ugt i64 %stack, 12288
  br i1 %deep, label %measure, label %weigh
measure:
  %has = call i1 @os_has_stack(i64 %stack)
  br label %weigh
weigh:
  %fits = phi i1 [ true, %choose ], [ %has, %measure ]
  %known = icmp ne i64 %cost, 0
  %polls.bit = and i32 %flags, 1
  %straight = icmp eq i32 %polls.bit, 0
  %tiny = icmp ule i64 %estimate, 5000
  %s1 = and i1 %known, %straight
  %s2 = and i1 %s1, %tiny
  %short = and i1 %s2, %fits
  br i1 %short, label %here, label %away
here:
  %launch = getelementptr inbounds %job, ptr %job, i64 0, i32 24
  %kernel = load ptr, ptr %bound
  call void %kernel(ptr %launch, i64 0, i64 %groups, ptr %memory)
  call void @hand_over(ptr %kernel, ptr %launch, ptr %memory)
  br label %report
away:
  ; Only a launch without the interpreter lock can meet a fork.
  %thread = call i64 @os_thread()
  %thread.p = getelementptr inbounds %job, ptr %job, i64 0, i32 27
  store i64 %thread, ptr %thread.p
  %ok = call i1 @run_released(ptr %bound, ptr %job, i64 %groups, i64 %estimate, i64 %timeout, ptr %memory, i1 %fits)
  br i1 %ok, label %report, label %raised
raised:
  call void @release_job(ptr %job)
  ret ptr null
report:
  %result = call ptr @report(ptr %job, i32 %flags)
  call void @release_job(ptr %job)
  ret ptr %result
}

; The same without the interpreter lock, alone or with the workers, or by the workers alone if the kernel does not
; fit on the stack. False when a pending signal raised.
define internal i1 @run_released(ptr %bound, ptr %job, i64 %groups, i64 %estimate, i64 %timeout, ptr %memory, i1 %fits) nounwind alwaysinline {
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
  %wanted.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 9
  %wanted = load i32, ptr %wanted.p
  %threads.all = load i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 3)
  %all = icmp eq i32 %wanted, 0
  %capped = call i32 @llvm.umin.i32(i32 %wanted, i32 %threads.all)
  %threads = select i1 %all, i32 %threads.all, i32 %capped
  %flags.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 5
  %flags = load i32, ptr %flags.p
  %cost.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 7
  %cost = load i64, ptr %cost.p
  %chunk = call i64 @chunk_size(i64 %groups, i32 %threads, i64 %cost, i64 %estimate, i32 %flags)
  %chunk.p = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  store i64 %chunk, ptr %chunk.p
  %one.thread = icmp ule i32 %threads, 1
  %one.chunk = icmp uge i64 %chunk, %groups
  %known = icmp ne i64 %estimate, 0
  %little = icmp ule i64 %estimate, 20000
  %small = and i1 %known, %little
  %must = or i1 %one.thread, %one.chunk
  br i1 %fits, label %any, label %crew
any:
  br i1 %must, label %go, label %may
may:
  br i1 %small, label %brief, label %crew
brief:
  ; Little work: not for a large crew, and not if a worker has to be woken, unless more work follows.
  %few = icmp ule i32 %threads, 8
  %awake = call i1 @are_awake()
  %many = call i1 @is_one_of_many()
  %worth = or i1 %awake, %many
  %joined = and i1 %few, %worth
  br i1 %joined, label %crew, label %go
crew:
  %started = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 4) acquire, align 4
  %fresh = icmp eq i32 %started, 0
  br i1 %fresh, label %start, label %go
start:
  call void @start_workers()
  br label %go
go:
  %alone = phi i1 [ true, %any ], [ true, %brief ], [ false, %crew ], [ false, %start ]
  %together = select i1 %alone, i32 1, i32 %threads
  %segments = zext i32 %together to i64
  ; A thread that works alone does so in order.
  %epoch = load atomic i32, ptr @vyre_pool monotonic, align 64
  %odd = and i32 %epoch, 1
  %any.bit = and i32 %flags, 16
  %ordered = icmp eq i32 %any.bit, 0
  %forwards = or i1 %alone, %ordered
  %backwards = select i1 %forwards, i32 0, i32 %odd
  call void @divide(ptr %job, i64 %groups, i64 %segments, i32 %backwards)
  ; One call of a kernel that never looks whether to stop cannot be stopped: no watchdog is needed.
  %looks.bit = and i32 %flags, 1
  %never.looks = icmp eq i32 %looks.bit, 0
  %no.deadline = icmp eq i64 %timeout, 0
  %u1 = and i1 %one.chunk, %never.looks
  %u2 = and i1 %u1, %no.deadline
  %unwatched = and i1 %u2, %fits
  %state = call ptr @PyEval_SaveThread()
  %state.p = getelementptr inbounds %job, ptr %job, i64 0, i32 28
  store ptr %state, ptr %state.p
  br i1 %unwatched, label %work, label %watched
watched:
  call void @enliven(ptr %job)
  %watchdog = load atomic i32, ptr getelementptr inbounds (%pool, ptr @vyre_pool, i64 0, i32 5) seq_cst, align 4
  %no.watchdog = icmp eq i32 %watchdog, 0
  %limited = xor i1 %no.deadline, true
  %unkept = and i1 %no.watchdog, %limited
  br i1 %unkept, label %refuse, label %accept
refuse:
  %refused = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 7, ptr %refused
  br label %finish
accept:
  br i1 %alone, label %work, label %open
open:
  %beside = sub i32 %threads, 1
  %others = call i32 @llvm.umax.i32(i32 %beside, i32 1)
  %asleep = call i1 @open_job(ptr %job, i32 %others)
  br i1 %asleep, label %rouse, label %work
rouse:
  br i1 %fits, label %bound.work, label %wake
bound.work:
  ; Workgroups of known or bounded length can be tried alone first; others may take for ever.
  %polls.bit = and i32 %flags, 1
  %bounded = icmp eq i32 %polls.bit, 0
  %not.long = icmp ule i64 %estimate, 200000
  %try = and i1 %bounded, %not.long
  br i1 %try, label %first, label %wake
first:
  %enough = call i1 @is_one_of_many()
  br i1 %enough, label %wake, label %ramp
ramp:
  call void @claim_before_waking(ptr %job, ptr %memory, i32 %others, i1 %is.main)
  br label %work
wake:
  call void @wake(i32 %others)
  br label %work
work:
  br i1 %fits, label %claim, label %leave
leave:
  %left = call i1 @stand_by(ptr %job)
  br i1 %left, label %close, label %no.stack
no.stack:
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  store i32 5, ptr %control
  br label %close
claim:
  %begin = call i64 @os_now()
  call void @claim(ptr %job, ptr %memory, i64 0, i1 %is.main)
  br i1 %alone, label %note, label %close
note:
  br i1 %must, label %finish, label %lone
lone:
  call void @note_lone_work(i64 %begin)
  br label %finish
close:
  call void @close_job(ptr %job)
  br label %finish
finish:
  call void @bury(ptr %job)
  call void @PyEval_RestoreThread(ptr %state)
  ret i1 true
}

; What the launch came to, as a Python object.
define internal ptr @report(ptr %job, i32 %flags) nounwind {
entry:
  %control = getelementptr inbounds %job, ptr %job, i64 0, i32 26
  %stop = load i32, ptr %control
  %prints = and i32 %flags, 4
  %something = or i32 %stop, %prints
  %plain = icmp eq i32 %something, 0
  br i1 %plain, label %nothing, label %look
nothing:
  %zero = call ptr @PyLong_FromLong(i64 0)
  ret ptr %zero
look:
  %interrupted = icmp eq i32 %stop, 2
  br i1 %interrupted, label %signal, label %tell
signal:
  %error = call ptr @PyErr_Occurred()
  %is.set = icmp ne ptr %error, null
  br i1 %is.set, label %fail, label %ask
ask:
  %raised = call i32 @PyErr_CheckSignals()
  %done = icmp ne i32 %raised, 0
  br i1 %done, label %fail, label %raise
raise:
  %kind = load ptr, ptr @PyExc_KeyboardInterrupt
  call void @PyErr_SetNone(ptr %kind)
  br label %fail
fail:
  ret ptr null
tell:
  %tag.p = getelementptr inbounds %control, ptr %control, i64 0, i32 2
  %tag = load i32, ptr %tag.p
  %x.p = getelementptr inbounds %control, ptr %control, i64 0, i32 3
  %x = load i32, ptr %x.p
  %y.p = getelementptr inbounds %control, ptr %control, i64 0, i32 4
  %y = load i32, ptr %y.p
  %z.p = getelementptr inbounds %control, ptr %control, i64 0, i32 5
  %z = load i32, ptr %z.p
  %cursor.p = getelementptr inbounds %control, ptr %control, i64 0, i32 9
  %cursor = load i64, ptr %cursor.p
  %tuple = call ptr (ptr, ...) @Py_BuildValue(ptr @format.status, i32 %stop, i32 %tag, i32 %x, i32 %y, i32 %z, i64 %cursor)
  ret ptr %tuple
}

; ---- what the interpreter calls -------------------------------------------------------------------

define internal ptr @bound_of(ptr %self) nounwind alwaysinline {
  %number = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %bound = call ptr @PyLong_AsVoidPtr(ptr %number)
  ret ptr %bound
}

; launch(): the buffers and the grid of the %bound.
define internal ptr @py_launch(ptr %self, ptr %arguments, i64 %count) nounwind {
entry:
  %any = icmp ne i64 %count, 0
  br i1 %any, label %wrong, label %right
wrong:
  %kind = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %kind, ptr @text.count)
  ret ptr null
right:
  %bound = call ptr @bound_of(ptr %self)
  %buffers.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 1
  %buffers = load ptr, ptr %buffers.p
  %nx.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 2
  %nx = load i32, ptr %nx.p
  %ny.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 3
  %ny = load i32, ptr %ny.p
  %nz.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 4
  %nz = load i32, ptr %nz.p
  %timeout.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 8
  %timeout = load i64, ptr %timeout.p
  %result = call ptr @run(ptr %bound, ptr %buffers, i32 %nx, i32 %ny, i32 %nz, i64 %timeout)
  ret ptr %result
}

define internal i64 @integer(ptr %arguments, i64 %index) nounwind alwaysinline {
  %p = getelementptr inbounds ptr, ptr %arguments, i64 %index
  %object = load ptr, ptr %p
  %value = call i64 @PyLong_AsUnsignedLongLong(ptr %object)
  ret i64 %value
}

; launch_raw(nx, ny, nz, timeout_ns, address, count, address, count, ...): all integers.
define internal ptr @py_launch_raw(ptr %self, ptr %arguments, i64 %count) nounwind {
  %result = call ptr @with_room(ptr @launch_raw, ptr %self, ptr %arguments, i64 %count)
  ret ptr %result
}

; Call a launch with memory for its buffers and their views: on the stack, or if there are many, elsewhere.
define internal ptr @with_room(ptr %launch, ptr %self, ptr %arguments, i64 %count) nounwind {
entry:
  %few.buffers = alloca [32 x %buffer], align 16
  %few.views = alloca [32 x %view], align 16
  %bound = call ptr @bound_of(ptr %self)
  %n.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 10
  %n32 = load i32, ptr %n.p
  %n = zext i32 %n32 to i64
  %few = icmp ule i64 %n, 32
  br i1 %few, label %here, label %there
here:
  %done = call ptr %launch(ptr %bound, ptr %arguments, i64 %count, i64 %n, ptr %few.buffers, ptr %few.views)
  ret ptr %done
there:
  %buffer.bytes = mul i64 %n, ptrtoint (ptr getelementptr (%buffer, ptr null, i64 1) to i64)
  %view.bytes = mul i64 %n, ptrtoint (ptr getelementptr (%view, ptr null, i64 1) to i64)
  %bytes = add i64 %buffer.bytes, %view.bytes
  %buffers = call ptr @os_alloc(i64 %bytes)
  %none = icmp eq ptr %buffers, null
  br i1 %none, label %no.memory, label %run
no.memory:
  %error = call ptr @PyErr_NoMemory()
  ret ptr %error
run:
  %views = getelementptr i8, ptr %buffers, i64 %buffer.bytes
  %result = call ptr %launch(ptr %bound, ptr %arguments, i64 %count, i64 %n, ptr %buffers, ptr %views)
  call void @os_free(ptr %buffers)
  ret ptr %result
}

define internal ptr @launch_raw(ptr %bound, ptr %arguments, i64 %count, i64 %n, ptr %buffers, ptr %views) nounwind {
entry:
  %n2 = shl i64 %n, 1
  %expected = add i64 %n2, 4
  %right = icmp eq i64 %count, %expected
  br i1 %right, label %read, label %wrong
wrong:
  %kind = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %kind, ptr @text.count)
  ret ptr null
read:
  %nx64 = call i64 @integer(ptr %arguments, i64 0)
  %ny64 = call i64 @integer(ptr %arguments, i64 1)
  %nz64 = call i64 @integer(ptr %arguments, i64 2)
  %timeout = call i64 @integer(ptr %arguments, i64 3)
  br label %loop
loop:
  %i = phi i64 [ 0, %read ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %n2
  br i1 %more, label %one, label %check
one:
  %at = add i64 %i, 4
  %value = call i64 @integer(ptr %arguments, i64 %at)
  %to = getelementptr inbounds i64, ptr %buffers, i64 %i
  store i64 %value, ptr %to
  %i.next = add i64 %i, 1
  br label %loop
check:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %fail, label %sizes
fail:
  ret ptr null
sizes:
  %xy = or i64 %nx64, %ny64
  %xyz = or i64 %xy, %nz64
  %large = icmp ugt i64 %xyz, 4294967295
  br i1 %large, label %refuse, label %go
refuse:
  %refusal = call ptr (ptr, ...) @Py_BuildValue(ptr @format.bad, i32 -2, i64 0)
  ret ptr %refusal
go:
  %nx = trunc i64 %nx64 to i32
  %ny = trunc i64 %ny64 to i32
  %nz = trunc i64 %nz64 to i32
  %result = call ptr @run(ptr %bound, ptr %buffers, i32 %nx, i32 %ny, i32 %nz, i64 %timeout)
  ret ptr %result
}

; Whether a buffer of this format may go into the slot.
define internal i1 @accepts(i32 %accepted, ptr %format) nounwind {
entry:
  %any = icmp eq i32 %accepted, 0
  br i1 %any, label %yes, label %read
read:
  %unsaid = icmp eq ptr %format, null
  br i1 %unsaid, label %bytes, label %first
bytes:
  br label %compare
first:
  %c0 = load i8, ptr %format
  %native = icmp eq i8 %c0, 64
  %little = icmp eq i8 %c0, 60
  %standard = icmp eq i8 %c0, 61
  %p1 = or i1 %native, %little
  %prefixed = or i1 %p1, %standard
  %skip = zext i1 %prefixed to i64
  %at = getelementptr i8, ptr %format, i64 %skip
  %c = load i8, ptr %at
  %end.p = getelementptr i8, ptr %at, i64 1
  %end = load i8, ptr %end.p
  %single = icmp eq i8 %end, 0
  br i1 %single, label %compare, label %no
compare:
  %char = phi i8 [ 66, %bytes ], [ %c, %first ]
  %wide = bitcast i32 %accepted to <4 x i8>
  %s0 = insertelement <4 x i8> poison, i8 %char, i32 0
  %splat = shufflevector <4 x i8> %s0, <4 x i8> poison, <4 x i32> zeroinitializer
  %equal = icmp eq <4 x i8> %wide, %splat
  %bits = bitcast <4 x i1> %equal to i4
  %found = icmp ne i4 %bits, 0
  ret i1 %found
yes:
  ret i1 true
no:
  ret i1 false
}

define internal void @drop_views(ptr %views, i64 %count) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %one ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %done
one:
  %view = getelementptr inbounds %view, ptr %views, i64 %i
  call void @PyBuffer_Release(ptr %view)
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}

; The memory of a view from its lowest element to its highest, as a %buffer.
define internal void @span(ptr %view, ptr %buffer, i64 %size) nounwind {
entry:
  %start = load ptr, ptr %view
  %axes.p = getelementptr inbounds %view, ptr %view, i64 0, i32 5
  %axes32 = load i32, ptr %axes.p
  %axes = zext i32 %axes32 to i64
  %shape.p = getelementptr inbounds %view, ptr %view, i64 0, i32 7
  %shape = load ptr, ptr %shape.p
  %strides.p = getelementptr inbounds %view, ptr %view, i64 0, i32 8
  %strides = load ptr, ptr %strides.p
  br label %loop
loop:
  %axis = phi i64 [ 0, %entry ], [ %axis.next, %one ]
  %back = phi i64 [ 0, %entry ], [ %back.next, %one ]
  %reach = phi i64 [ 0, %entry ], [ %reach.next, %one ]
  %empty = phi i1 [ false, %entry ], [ %empty.next, %one ]
  %more = icmp ult i64 %axis, %axes
  br i1 %more, label %one, label %done
one:
  %extent.p = getelementptr inbounds i64, ptr %shape, i64 %axis
  %extent = load i64, ptr %extent.p
  %none = icmp eq i64 %extent, 0
  %empty.next = or i1 %empty, %none
  %steps = sub i64 %extent, 1
  %stride.p = getelementptr inbounds i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride.p
  %far = mul i64 %stride, %steps
  %is.back = icmp slt i64 %far, 0
  %minus = sub i64 0, %far
  %length = select i1 %is.back, i64 %minus, i64 %far
  %behind = select i1 %is.back, i64 %far, i64 0
  %back.next = add i64 %back, %behind
  %reach.next = add i64 %reach, %length
  %axis.next = add i64 %axis, 1
  br label %loop
done:
  %lowest = getelementptr i8, ptr %start, i64 %back
  %between = udiv i64 %reach, %size
  %all = add i64 %between, 1
  %count = select i1 %empty, i64 0, i64 %all
  store ptr %lowest, ptr %buffer
  %count.p = getelementptr inbounds %buffer, ptr %buffer, i64 0, i32 1
  store i64 %count, ptr %count.p
  ret void
}

; Where the memory of a buffer ends.
define internal ptr @end_of(ptr %buffers, ptr %slots, i64 %i) nounwind {
  %buffer = getelementptr inbounds %buffer, ptr %buffers, i64 %i
  %first = load ptr, ptr %buffer
  %count.p = getelementptr inbounds %buffer, ptr %buffer, i64 0, i32 1
  %count = load i64, ptr %count.p
  %slot = getelementptr inbounds %slot, ptr %slots, i64 %i
  %size32 = load i32, ptr %slot
  %size = zext i32 %size32 to i64
  %bytes = mul i64 %count, %size
  %end = getelementptr i8, ptr %first, i64 %bytes
  ret ptr %end
}

; The index of a buffer that is written and has bytes in common with another one, or -1.
define internal i64 @shared(ptr %buffers, ptr %slots, i64 %n) nounwind {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %after ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %none
look:
  %flags.p = getelementptr inbounds %slot, ptr %slots, i64 %i, i32 1
  %flags = load i32, ptr %flags.p
  %written = trunc i32 %flags to i1
  br i1 %written, label %begin, label %after
begin:
  %buffer = getelementptr inbounds %buffer, ptr %buffers, i64 %i
  %first = load ptr, ptr %buffer
  %end = call ptr @end_of(ptr %buffers, ptr %slots, i64 %i)
  br label %inner
inner:
  %j = phi i64 [ 0, %begin ], [ %j.next, %apart ]
  %others = icmp ult i64 %j, %n
  br i1 %others, label %one, label %after
one:
  %other = getelementptr inbounds %buffer, ptr %buffers, i64 %j
  %other.first = load ptr, ptr %other
  %other.end = call ptr @end_of(ptr %buffers, ptr %slots, i64 %j)
  %is.other = icmp ne i64 %i, %j
  %before = icmp ult ptr %first, %other.end
  %behind = icmp ult ptr %other.first, %end
  %both = and i1 %before, %behind
  %touches = and i1 %both, %is.other
  br i1 %touches, label %found, label %apart
apart:
  %j.next = add i64 %j, 1
  br label %inner
after:
  %i.next = add i64 %i, 1
  br label %outer
found:
  ret i64 %i
none:
  ret i64 -1
}

; The arrays of slots: contiguous, of the right element size and format, those that are written apart from all
; others. Gives -1, or without any view the index of an array that cannot be used.
define internal i64 @take_views(ptr %slots, ptr %arguments, i64 %n, ptr %buffers, ptr %views) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %kept ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %one, label %compare
one:
  %object.p = getelementptr inbounds ptr, ptr %arguments, i64 %i
  %object = load ptr, ptr %object.p
  %view = getelementptr inbounds %view, ptr %views, i64 %i
  %slot = getelementptr inbounds %slot, ptr %slots, i64 %i
  %flags.p = getelementptr inbounds %slot, ptr %slot, i64 0, i32 1
  %flags = load i32, ptr %flags.p
  %error = call i32 @PyObject_GetBuffer(ptr %object, ptr %view, i32 %flags)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %unusable, label %inspect
unusable:
  call void @PyErr_Clear()
  call void @drop_views(ptr %views, i64 %i)
  ret i64 %i
inspect:
  %size32 = load i32, ptr %slot
  %size = zext i32 %size32 to i64
  %item.p = getelementptr inbounds %view, ptr %view, i64 0, i32 3
  %item = load i64, ptr %item.p
  %same = icmp eq i64 %item, %size
  %accepted.p = getelementptr inbounds %slot, ptr %slot, i64 0, i32 2
  %accepted = load i32, ptr %accepted.p
  %format.p = getelementptr inbounds %view, ptr %view, i64 0, i32 6
  %format = load ptr, ptr %format.p
  %suits = call i1 @accepts(i32 %accepted, ptr %format)
  %good = and i1 %same, %suits
  br i1 %good, label %keep, label %unsuited
unsuited:
  %held = add i64 %i, 1
  call void @drop_views(ptr %views, i64 %held)
  ret i64 %i
keep:
  %buffer = getelementptr inbounds %buffer, ptr %buffers, i64 %i
  %strided.p = getelementptr inbounds %slot, ptr %slot, i64 0, i32 3
  %strided = load i32, ptr %strided.p
  %is.strided = icmp ne i32 %strided, 0
  br i1 %is.strided, label %span, label %plain
span:
  call void @span(ptr %view, ptr %buffer, i64 %size)
  br label %kept
plain:
  %data = load ptr, ptr %view
  %length.p = getelementptr inbounds %view, ptr %view, i64 0, i32 2
  %length = load i64, ptr %length.p
  %elements = udiv i64 %length, %size
  store ptr %data, ptr %buffer
  %count.p = getelementptr inbounds %buffer, ptr %buffer, i64 0, i32 1
  store i64 %elements, ptr %count.p
  br label %kept
kept:
  %i.next = add i64 %i, 1
  br label %loop
compare:
  %common = call i64 @shared(ptr %buffers, ptr %slots, i64 %n)
  %is.common = icmp sge i64 %common, 0
  br i1 %is.common, label %aliased, label %apart
aliased:
  call void @drop_views(ptr %views, i64 %n)
  ret i64 %common
apart:
  ret i64 -1
}

; launch_arrays(array, array, ...): one per buffer; followed by nothing (the grid of the %bound, or the one that
; covers its grid buffer) or by nx, ny, nz, after which may follow bytes: the runs to be cleared before.
define internal ptr @py_launch_arrays(ptr %self, ptr %arguments, i64 %count) nounwind {
  %result = call ptr @with_room(ptr @launch_arrays, ptr %self, ptr %arguments, i64 %count)
  ret ptr %result
}

define internal ptr @launch_arrays(ptr %bound, ptr %arguments, i64 %count, i64 %n, ptr %buffers, ptr %views) nounwind {
entry:
  %n3 = add i64 %n, 3
  %n4 = add i64 %n, 4
  %exact = icmp eq i64 %count, %n
  %just.grid = icmp eq i64 %count, %n3
  %with.runs = icmp eq i64 %count, %n4
  %with.grid = or i1 %just.grid, %with.runs
  %fits = or i1 %exact, %with.grid
  br i1 %fits, label %begin, label %wrong
wrong:
  %kind = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %kind, ptr @text.count)
  ret ptr null
begin:
  %slots.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 11
  %slots = load ptr, ptr %slots.p
  %unusable = call i64 @take_views(ptr %slots, ptr %arguments, i64 %n, ptr %buffers, ptr %views)
  %is.unusable = icmp sge i64 %unusable, 0
  br i1 %is.unusable, label %bad, label %run
bad:
  %answer = call ptr (ptr, ...) @Py_BuildValue(ptr @format.bad, i32 -1, i64 %unusable)
  ret ptr %answer
run:
  br i1 %with.runs, label %clear, label %go
clear:
  %runs.p = getelementptr inbounds ptr, ptr %arguments, i64 %n3
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
  br label %go
go:
  %result = call ptr @run_on(ptr %bound, ptr %buffers, ptr %arguments, i64 %n, i1 %with.grid)
  call void @drop_views(ptr %views, i64 %n)
  ret ptr %result
}

; Fill runs of bytes with zeros: five i64 each, which are the buffer, the first byte, the bytes, how often, and
; the distance between. Others may use the interpreter while much is filled.
define internal void @clear_runs(ptr %buffers, ptr %runs, i64 %length) nounwind {
entry:
  br label %loop
loop:
  %at = phi i64 [ 0, %entry ], [ %at.next, %done ]
  %at.next = add i64 %at, 40
  %more = icmp ule i64 %at.next, %length
  br i1 %more, label %one, label %end
one:
  %run = getelementptr i8, ptr %runs, i64 %at
  %place = load i64, ptr %run, align 1
  %first.p = getelementptr i8, ptr %run, i64 8
  %first = load i64, ptr %first.p, align 1
  %bytes.p = getelementptr i8, ptr %run, i64 16
  %bytes = load i64, ptr %bytes.p, align 1
  %repeats.p = getelementptr i8, ptr %run, i64 24
  %repeats = load i64, ptr %repeats.p, align 1
  %distance.p = getelementptr i8, ptr %run, i64 32
  %distance = load i64, ptr %distance.p, align 1
  %buffer = getelementptr inbounds %buffer, ptr %buffers, i64 %place
  %data = load ptr, ptr %buffer
  %start = getelementptr i8, ptr %data, i64 %first
  %total = mul i64 %bytes, %repeats
  %much = icmp ugt i64 %total, 65536
  br i1 %much, label %away, label %here
away:
  %state = call ptr @PyEval_SaveThread()
  call void @clear_run(ptr %start, i64 %bytes, i64 %repeats, i64 %distance)
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
here:
  call void @clear_run(ptr %start, i64 %bytes, i64 %repeats, i64 %distance)
  br label %done
done:
  br label %loop
end:
  ret void
}

define internal void @clear_run(ptr %start, i64 %bytes, i64 %repeats, i64 %distance) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %p = phi ptr [ %start, %entry ], [ %p.next, %one ]
  %more = icmp ult i64 %i, %repeats
  br i1 %more, label %one, label %end
one:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %bytes, i1 false)
  %i.next = add i64 %i, 1
  %p.next = getelementptr i8, ptr %p, i64 %distance
  br label %loop
end:
  ret void
}

; Settle the grid and run.
define internal ptr @run_on(ptr %bound, ptr %buffers, ptr %arguments, i64 %n, i1 %with.grid) nounwind {
entry:
  %timeout.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 8
  %timeout = load i64, ptr %timeout.p
  br i1 %with.grid, label %given, label %own
given:
  %at.y = add i64 %n, 1
  %at.z = add i64 %n, 2
  %gx = call i64 @integer(ptr %arguments, i64 %n)
  %gy = call i64 @integer(ptr %arguments, i64 %at.y)
  %gz = call i64 @integer(ptr %arguments, i64 %at.z)
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %fail, label %go
fail:
  ret ptr null
own:
  %index.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 14
  %index = load i32, ptr %index.p
  %by.length = icmp sge i32 %index, 0
  br i1 %by.length, label %cover, label %fixed
cover:
  %index64 = sext i32 %index to i64
  %count.p = getelementptr inbounds %buffer, ptr %buffers, i64 %index64, i32 1
  %count = load i64, ptr %count.p
  %per.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 15
  %per32 = load i32, ptr %per.p
  %per = zext i32 %per32 to i64
  %up = add i64 %count, %per
  %up1 = sub i64 %up, 1
  %cx = udiv i64 %up1, %per
  br label %go
fixed:
  %fx.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 2
  %fx32 = load i32, ptr %fx.p
  %fx = zext i32 %fx32 to i64
  %fy.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 3
  %fy32 = load i32, ptr %fy.p
  %fy = zext i32 %fy32 to i64
  %fz.p = getelementptr inbounds %bound, ptr %bound, i64 0, i32 4
  %fz32 = load i32, ptr %fz.p
  %fz = zext i32 %fz32 to i64
  br label %go
go:
  %x64 = phi i64 [ %gx, %given ], [ %cx, %cover ], [ %fx, %fixed ]
  %y64 = phi i64 [ %gy, %given ], [ 1, %cover ], [ %fy, %fixed ]
  %z64 = phi i64 [ %gz, %given ], [ 1, %cover ], [ %fz, %fixed ]
  %xy = or i64 %x64, %y64
  %xyz = or i64 %xy, %z64
  %large = icmp ugt i64 %xyz, 4294967295
  br i1 %large, label %refuse, label %launch
refuse:
  %refusal = call ptr (ptr, ...) @Py_BuildValue(ptr @format.bad, i32 -2, i64 0)
  ret ptr %refusal
launch:
  %x = trunc i64 %x64 to i32
  %y = trunc i64 %y64 to i32
  %z = trunc i64 %z64 to i32
  %result = call ptr @run(ptr %bound, ptr %buffers, i32 %x, i32 %y, i32 %z, i64 %timeout)
  ret ptr %result
}

declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.umul.fix.sat.i64(i64, i64, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i64 @llvm.umax.i64(i64, i64)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @Py_BuildValue(ptr, ...)
declare ptr @PyBytes_AsString(ptr)
declare i64 @PyBytes_Size(ptr)
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare void @PyBuffer_Release(ptr)
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Clear()
declare ptr @PyErr_NoMemory()
declare ptr @PyErr_Occurred()
declare void @PyErr_SetNone(ptr)
declare void @PyErr_SetString(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
