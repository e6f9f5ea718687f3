"""Digests of the LLVM IR that the CPU backend emits for a corpus of programs.

A change that only moves or renames code must leave every digest as it is:

    python -m benchmarks.emitted_text collect corpus/          # once, with the old code
    python -m benchmarks.emitted_text digests corpus/ > before.txt
    ... change, then again > after.txt, and compare the two files

The corpus holds optimised programs in the wire format, so both sides emit the same programs: the
benchmarks, the survey, and random ones of every kind. Emitting needs no LLVM, and no machine of the
targets it is for.
"""

import argparse
import hashlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.programs import all_programs, plain_programs
from benchmarks.survey import CASES
from vyre import VyreError
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.host import Host
from vyre.conform.fuzz import case_of
from vyre.conform.python.case import PythonCase
from vyre.driver.grid_sync import contains_grid_sync
from vyre.driver.grid_sync.split import split
from vyre.ir import Program
from vyre.opt import optimize

X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
V3 = "+avx2,+fma,+f16c"
TARGETS = {
    "x86-64": Host(X86, "x86-64", ""),
    "x86-64-v3": Host(X86, "x86-64-v3", V3),
    "x86-64-v4": Host(X86, "x86-64-v4", f"{V3},+avx512f,+avx512vl,+avx512bw,+avx512dq"),
    "aarch64": Host(ARM, "generic", ""),
}
GENERATED = {"kernels": 900, "tiny": 400, "passes": 200, "seams": 40, "quick": 150, "python": 200}
"""Random programs of each mixture of the fuzzer."""


def main() -> None:
    """Collects the corpus, or prints its digests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task", choices=("collect", "digests"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", default=",".join(TARGETS), help="comma-separated")
    parser.add_argument("--every", type=int, default=1, help="only every n-th program")
    given = parser.parse_args()
    if given.task == "collect":
        given.folder.mkdir(parents=True, exist_ok=True)
        collect(given.folder)
        return
    paths = sorted(given.folder.glob("*.vyre"))[:: given.every]
    with ProcessPoolExecutor() as pool:
        emit = partial(digests_of, targets=given.targets.split(","))
        for lines in pool.map(emit, paths, chunksize=16):
            print("\n".join(lines))


def collect(folder: Path) -> None:
    """Write every program of the corpus, optimised and without grid barriers."""
    for name, program in named_programs():
        (folder / f"{name}.vyre").write_bytes(program.to_wire())


def named_programs() -> Iterator[tuple[str, Program]]:
    """The benchmarks, the survey, and the generated programs."""
    for kind, programs in {"benchmark": all_programs(), "plain": plain_programs()}.items():
        for name, program in programs.items():
            yield from segments(f"{kind}-{name}", program)
    for case in CASES:
        for number, kernel in enumerate(case.kernels):
            yield from segments(f"survey-{case.name}-{number}", kernel.program())
    for mixture, count in GENERATED.items():
        for number in range(count):
            case = case_of(number, mixture)
            program = case.translated() if isinstance(case, PythonCase) else case.program
            yield from segments(f"{mixture}-{number}", program)


def segments(name: str, program: Program) -> Iterator[tuple[str, Program]]:
    """What the backend gets: the optimised program, split at its grid barriers."""
    optimised = optimize(program).program
    if not contains_grid_sync(optimised):
        yield name, optimised
        return
    for number, segment in enumerate(split(optimised).segments):
        yield f"{name}-segment-{number}", segment


def digests_of(path: Path, targets: list[str]) -> list[str]:
    """A line for each target and for both amounts of effort."""
    program = Program.from_wire(path.read_bytes())
    lines: list[str] = []
    for name in targets:
        for thorough in (True, False):
            try:
                text = generate(program, TARGETS[name], thorough=thorough).text
            except VyreError as error:
                text = str(error)
            digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            lines.append(f"{path.stem} {name} {'all' if thorough else 'first'} {digest}")
    return lines


if __name__ == "__main__":
    main()
