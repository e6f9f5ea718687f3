"""Compiles hot programs in a server process, so that no thread of this one waits.

LLVM is at work under one lock of llvmlite and vyre's own passes under the interpreter's, so a
thread that compiles holds up every other compilation, and launches too. A program that has turned
out to be hot is therefore recompiled in the server: `process` starts it and sends requests,
`server` answers them, `message` is the format of both.
"""

from vyre.runtime.compile_server.process import Refused, Task, can_compile_elsewhere, submit

__all__ = ["Refused", "Task", "can_compile_elsewhere", "submit"]
