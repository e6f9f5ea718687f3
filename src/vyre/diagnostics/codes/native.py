"""B1##: the CPU backend cannot compile, load or start native code."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

BAD_ARTIFACT = Code(
    "B101",
    "not a CPU artifact",
    "these bytes are not an artifact of the CPU backend: {problem}",
    "compile the program again; if they came from the cache, delete that entry",
    example=(
        "from vyre.backends.llvm.kernel_info import KernelInfo\nKernelInfo.from_json({'abi': 0})"
    ),
)
BAD_MODULE = Code(
    "B102",
    "LLVM refuses the generated code",
    "LLVM refuses the module: {problem}",
    "this is a defect of the code generator: report it together with the program's text",
    example=(
        "from vyre.backends.llvm import host, jit\n"
        "jit.compile_text('define void @f() { ret i32 0 }', host.native())"
    ),
)
BAD_OBJECT = Code(
    "B103",
    "object file cannot be loaded",
    "this object file cannot be loaded: {problem}",
    "compile the program again; if it came from the cache, delete that entry",
    example="from vyre.backends.llvm.loader import load_object\nload_object(b'not an object')",
)
UNKNOWN_SYMBOL = Code(
    "B104",
    "symbol not found",
    "the object needs the symbol {name!r}, which this process does not have",
    "generated code may use memcpy, memmove, memset and the C maths library only",
    example=(
        "from vyre.backends.llvm import host, jit\n"
        "from vyre.backends.llvm.loader import load_object\n"
        "code = 'declare void @nowhere() define void @f() { call void @nowhere() ret void }'\n"
        "load_object(jit.compile_text(code, host.native()).object)"
    ),
)
TOO_MUCH_STACK = Code(
    "B105",
    "kernel needs too much stack",
    "the code of this program takes {found:,} bytes of stack on the CPU, and {limit:,} are there",
    "split it into several programs that hand over arrays, or write what repeats itself as a loop",
)
NO_STACK = Code(
    "B106",
    "no thread with enough stack",
    "this program takes {found:,} bytes of stack; the calling thread has less left, and no other "
    "thread could be started",
    "call it on a thread with more: threading.stack_size({wanted}) before the thread starts",
)
NO_WATCHDOG = Code(
    "B107",
    "no thread for a deadline",
    "the deadline of {seconds} s cannot be kept: no thread could be started that watches it",
    "let the process have more threads: `ulimit -u` shows how many it may have; or call it without "
    "a deadline",
)

CODES = (
    BAD_ARTIFACT,
    BAD_MODULE,
    BAD_OBJECT,
    UNKNOWN_SYMBOL,
    TOO_MUCH_STACK,
    NO_STACK,
    NO_WATCHDOG,
)
