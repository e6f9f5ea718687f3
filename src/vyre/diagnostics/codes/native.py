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

CODES = (BAD_ARTIFACT, BAD_MODULE, BAD_OBJECT, UNKNOWN_SYMBOL)
