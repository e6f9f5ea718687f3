"""The process that compiles, as seen from the one that wants it: started, asked, and ended.

One thread talks to it and ends it when nothing has been asked for a while, so that none of them is
left over. It ends by itself when this process does, in whichever way: its input is closed then.
After a fork the new process knows nothing of it and starts its own.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import PurePath
from queue import Empty, SimpleQueue
from typing import IO

from vyre.driver.backend import Backend, SlowToEmit
from vyre.interruptible import start
from vyre.locks import make_lock
from vyre.runtime.compile_server.message import MADE, receive, send

_PATIENCE = 5.0
"""Seconds without work after which the process is ended: starting it anew takes less than one."""
_START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from vyre.runtime.compile_server.server import serve; serve()"
)

Ask = Callable[[bytes], bytes]


class Refused(Exception):
    """There is no compiled program, and this is why."""


def can_compile_elsewhere(backend: Backend) -> bool:
    """Whether a process of its own is worth it, and another interpreter can be started here.

    Where Python is part of another program, `sys.executable` may be that program.
    """
    if not (isinstance(backend, SlowToEmit) and backend.emits_slowly):
        return False
    if getattr(sys, "frozen", False) or not sys.executable:
        return False
    return PurePath(sys.executable).stem.lower().startswith(("python", "pypy"))


class Task:
    """Something to be done with answers of the other process."""

    def __init__(self, work: Callable[[Ask], None]) -> None:
        self._work = work
        self._done = threading.Event()
        self._owner = os.getpid()

    def run(self, ask: Ask) -> None:
        """Do it."""
        try:
            self._work(ask)
        finally:
            self._done.set()

    def is_alive(self) -> bool:
        """True as long as it is not done; what was begun before a fork never will be."""
        return self._owner == os.getpid() and not self._done.is_set()

    def join(self) -> None:
        """Wait until it is done; what was begun before a fork is nothing to wait for."""
        if self._owner == os.getpid():
            self._done.wait()


class _Elsewhere:
    """The thread that does tasks, and its process."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self._lock = make_lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._is_closed = False

    def submit(self, task: Task) -> None:
        """Have a task done soon."""
        with self._lock:
            if self._thread is None:
                # A daemon: leaving the interpreter does not wait for better code.
                thread = threading.Thread(target=self._do_tasks, name="vyre-recompile", daemon=True)
                try:
                    self._thread = thread
                    start(thread)
                except BaseException:
                    # A signal handler may have raised while it starts: then it ends by itself.
                    self._thread = None
                    raise
            self._tasks.put(task)

    def _do_tasks(self) -> None:
        with self._lock:
            if self._thread is not threading.current_thread():
                return
        try:
            while (task := self._next()) is not None:
                task.run(self._ask)
        except BaseException:
            with self._lock:
                self._leave()
            raise

    def _next(self) -> Task | None:
        """The next task; None when the thread is to end, for there has been none for long."""
        try:
            return self._tasks.get(timeout=_PATIENCE)
        except Empty:
            with self._lock:
                if not self._tasks.empty():
                    return self._tasks.get()
                self._leave()
                return None

    def _leave(self) -> None:
        self._end()
        self._thread = None

    def _ask(self, request: bytes) -> bytes:
        try:
            process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, request)
            answer = receive(process.stdout)
        except (OSError, EOFError, RuntimeError, MemoryError) as problem:
            raise Refused(f"{self._end()} ({problem!r})") from problem
        if not answer.startswith(MADE):
            raise Refused(answer[1:].decode(errors="replace"))
        return answer[1:]

    def _start(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise EOFError
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        flags = ["-B"] if sys.dont_write_bytecode else []
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-c", _START, *map(str, sys.path)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            creationflags=_without_window(),
        )
        return self._process

    def _end(self) -> str:
        """End the process, if there is one; what is known of its end."""
        process, complaints = self._process, self._complaints
        self._process = self._complaints = None
        last = b""
        if process is not None:
            process.kill()
            with process:  # closes the pipes and waits
                pass
        if complaints is not None:
            with complaints:
                complaints.seek(0)
                last = (complaints.read().strip().splitlines() or [b""])[-1]
        if process is None:
            return "the process that compiles could not be started"
        said = last.decode(errors="replace") or "nothing said"
        return f"the process that compiles ended with {process.returncode}: {said}"

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def abandon(self) -> None:
        """In a new process after a fork: let go of pipes that belong to another one."""
        process = self._process
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            # Not a child of this process: there is nothing to wait for.
            process.returncode = 0


def _without_window() -> int:
    return subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0


_elsewhere = _Elsewhere()


def submit(work: Callable[[Ask], None]) -> Task:
    """Have `work` done in the background, with a function that compiles a request elsewhere.

    That function raises `Refused` when it cannot. `RuntimeError` if no thread is to be had.
    """
    task = Task(work)
    _elsewhere.submit(task)
    return task


def _after_fork() -> None:
    global _elsewhere
    _elsewhere.abandon()
    _elsewhere = _Elsewhere()


atexit.register(lambda: _elsewhere.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
