"""The compile server: answers requests one by one until its pipe is closed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from queue import SimpleQueue

from vyre.diagnostics import VyreError
from vyre.driver import routing
from vyre.driver.compilation import to_bytes
from vyre.ir import Program
from vyre.opt.hot_paths import HotPathHints, hint_keys
from vyre.runtime.compile_server.message import MADE, REFUSED, Request, receive, send
from vyre.runtime.compiling import compile_now, entry_key

_NICENESS = 5
"""A quarter of a core where launches keep all of them busy: better code then comes within two
seconds. With 10 it would be a tenth and twice as long, with the greatest, 19, minutes."""
_BELOW_NORMAL = 0x4000
"""BELOW_NORMAL_PRIORITY_CLASS of Windows."""


def serve() -> None:
    """Answer what comes in through the standard input, and end with it."""
    # Ctrl-C in a terminal is meant for the program that runs there.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _step_back()
    # Whatever prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while True:
        send(answers, answer(Request.from_bytes(requests.get())))


def _read(requests: SimpleQueue[bytes]) -> None:
    """Read requests while others are being answered, to notice at once when the pipe is closed."""
    while True:
        try:
            requests.put(receive(sys.stdin.buffer))
        except (EOFError, OSError):
            os._exit(0)


def answer(request: Request) -> bytes:
    """The compiled program, or why there is none."""
    program = Program.from_wire(request.program)
    try:
        route = routing.choose(request.device)
        target = route.backend.target(route.device)
        if entry_key(program, route, target, request.options, hot=True) != request.key:
            return REFUSED + b"another vyre, or another machine, than the one that asks"
        hints = HotPathHints()
        if request.is_hot:
            hints.record(hint_keys(program)[0], hints.hot_threshold_ns, 0)
        return MADE + to_bytes(compile_now(program, route, request.options, hints))
    except VyreError as problem:
        return REFUSED + str(problem).splitlines()[0].encode()


def _step_back() -> None:
    """Let launches go first."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _BELOW_NORMAL)
    else:
        os.nice(_NICENESS)
