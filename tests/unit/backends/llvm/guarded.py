"""Random programs with hostile indices on buffers between pages that must not be touched.

`python -m tests.unit.backends.llvm.guarded FIRST LAST [TIER]` runs the programs with these seeds,
in one process per core. An access outside a buffer kills a process: the seed is reported, and the
rest of its seeds run in the next one. Most programs are small, so that many can be run; every
sixteenth is as large as the fuzzer's.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tests.unit.backends.llvm.running import load
from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate
from vyre.ir import Barrier, BufferDecl, MemoryOrdering
from vyre.ir.walk import walk_stmts

LARGE = PROFILES["hostile_indices"]
SMALL = replace(
    LARGE,
    name="small_hostile",
    statements=(2, 5),
    nesting=2,
    expr_depth=3,
    transcendental=0,
    max_storage_buffers=5,
)
LARGE_EVERY = 16
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


def profile_of(seed: int) -> Profile:
    """The kind of program that a seed stands for."""
    return LARGE if seed % LARGE_EVERY == 0 else SMALL


def cases(first: int, last: int) -> Iterator[tuple[int, GeneratedCase]]:
    """Random programs without grid barriers, which are not this backend's to cut."""
    for seed in range(first, last):
        case = generate(seed, profile_of(seed))
        grid_wide = any(
            isinstance(s, Barrier) and s.ordering is MemoryOrdering.GRID_SYNC
            for s in walk_stmts(case.program.entry)
        )
        if not grid_wide:
            yield seed, case


def run_all(first: int, last: int, tier: str) -> None:
    """Run the programs with these seeds, telling each before."""
    for seed, case in cases(first, last):
        sys.stdout.write(f"{seed}\n")
        sys.stdout.flush()
        run_between_fences(case, tier, at_end=seed % 2 == 0)


@dataclass(slots=True)
class Share:
    """The seeds that one process after another works off."""

    next: int
    last: int
    tier: str
    faults: list[str] = field(default_factory=list[str])
    ran: int = 0

    def work(self) -> None:
        """Run to the end, starting again behind every seed that kills the process."""
        while self.next < self.last:
            code = self._run_process()
            if code != 0:
                how = signal.Signals(-code).name if code < 0 else "an exception"
                self.faults.append(f"seed {self.next - 1}: {how}")

    def _run_process(self) -> int:
        command = [sys.executable, "-m", __spec__.name, "--share"]
        command += [str(self.next), str(self.last), self.tier]
        environment = {**os.environ, "VYRE_THREADS": "1"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                self.next, self.ran = int(line) + 1, self.ran + 1
        if process.returncode == 0:
            self.next = self.last
        return process.returncode


def main(first: int, last: int, tier: str = "quick") -> int:
    """Run the programs with these seeds on all cores; gives how many failed."""
    cores = len(os.sched_getaffinity(0))
    bounds = [first + (last - first) * n // cores for n in range(cores + 1)]
    shares = [Share(a, b, tier) for a, b in pairwise(bounds)]
    started = time.monotonic()
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(Share.work, shares))
    faults = [fault for share in shares for fault in share.faults]
    ran = sum(share.ran for share in shares)
    seconds = time.monotonic() - started
    lines = [f"{ran} programs between fences in {seconds:.0f} s, {len(faults)} faults", *faults]
    sys.stdout.write("\n".join(lines) + "\n")
    return len(faults)


if __name__ == "__main__":
    if sys.argv[1] == "--share":
        run_all(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4]) > 0)
