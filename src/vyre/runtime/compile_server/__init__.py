"""Compiling in a process of its own, so that nobody in this one waits for it.

LLVM is at work under one lock of llvmlite and vyre's own passes under the interpreter's, so a
thread that compiles holds up every other compilation, and launches too. A program that has turned
out to be hot is therefore compiled anew elsewhere: `process` starts and asks, `server` answers,
`message` is what they exchange.
"""

from vyre.runtime.compile_server.process import Refused, Task, can_compile_elsewhere, submit

__all__ = ["Refused", "Task", "can_compile_elsewhere", "submit"]
