"""Random programs with hostile indices on buffers between pages that must not be touched.

`python -m tests.unit.backends.llvm.guarded FIRST LAST [TIER]` runs the programs with these seeds;
an access outside a buffer kills the process.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.unit.backends.llvm.running import load
from vyre.conform.generate import PROFILES, GeneratedCase, generate
from vyre.ir import Barrier, BufferDecl, MemoryOrdering
from vyre.ir.walk import walk_stmts

PROFILE = "hostile_indices"
UNSIZED = 37
"""Elements of outputs that a program leaves open."""
_PROT_NONE, _PROT_BOTH, _PRIVATE = 0, 3, 0x22

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


@dataclass(slots=True)
class Fence:
    """Memory for one buffer with forbidden pages before and after it."""

    nbytes: int
    at_end: bool
    """Whether it ends where the forbidden pages begin, else it starts where they end."""
    address: int = field(init=False)
    _start: int = field(init=False)
    _length: int = field(init=False)

    def __post_init__(self) -> None:
        page = mmap.PAGESIZE
        inner = max(page, -(-self.nbytes // page) * page)
        self._length = inner + 2 * page
        found = _libc.mmap(None, self._length, _PROT_NONE, _PRIVATE, -1, 0)
        assert found not in (None, ctypes.c_void_p(-1).value), "no memory for a fence"
        self._start = int(found)
        assert _libc.mprotect(self._start + page, inner, _PROT_BOTH) == 0
        self.address = self._start + page + (inner - self.nbytes if self.at_end else 0)

    def close(self) -> None:
        """Give the memory back."""
        _libc.munmap(self._start, self._length)


def run_between_fences(case: GeneratedCase, tier: str, *, at_end: bool) -> None:
    """Run a program on fenced buffers."""
    kernel = load(case.program, tier=tier)
    places: list[tuple[int, int]] = []
    fences: list[Fence] = []
    for decl in case.program.buffers:
        if decl.is_on_chip:
            continue
        contents = _contents(case, decl)
        fence = Fence(contents.nbytes, at_end)
        ctypes.memmove(fence.address, contents.ctypes.data, contents.nbytes)
        fences.append(fence)
        places.append((fence.address, contents.shape[0]))
    kernel.launch_raw(places, case.grid, 30.0)
    for fence in fences:
        fence.close()


def _contents(case: GeneratedCase, decl: BufferDecl) -> np.ndarray:
    if decl.name in case.inputs:
        return np.ascontiguousarray(case.inputs[decl.name])
    count = decl.count or UNSIZED
    size = decl.element.size_bytes or 1
    return np.zeros((count, size), np.uint8)


def cases(first: int, last: int) -> Iterator[GeneratedCase]:
    """Random programs without grid barriers, which are not this backend's to cut."""
    for seed in range(first, last):
        case = generate(seed, PROFILES[PROFILE])
        grid_wide = any(
            isinstance(s, Barrier) and s.ordering is MemoryOrdering.GRID_SYNC
            for s in walk_stmts(case.program.entry)
        )
        if not grid_wide:
            yield case


def main(first: int, last: int, tier: str = "quick") -> int:
    """Run the programs with these seeds; gives how many there were."""
    ran = 0
    for ran, case in enumerate(cases(first, last), 1):
        run_between_fences(case, tier, at_end=ran % 2 == 0)
    sys.stdout.write(f"{ran} programs between fences\n")
    return ran


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4])
