"""Random programs before and after optimising, as many as one likes, on all cores.

    python -m tests.unit.opt.fuzz FIRST LAST [PROCESSES]

Judges the seeds from FIRST to LAST, LAST excluded, as `test_trust` does: passes alone and whole
profiles, reference before against reference after, the checker after every pass. Every difference
is printed with its seed; the last line counts.
"""

# ruff: noqa: T201  a command talks

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from multiprocessing import get_context

from tests.unit.opt.test_trust import judge

SLICE = 50


def judged(first: int, last: int) -> tuple[int, Counter[str], list[str]]:
    """How many programs, how often each pass and profile changed one, and what is wrong."""
    changed: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in range(first, last):
        try:
            judge(seed, changed)
        except Exception as problem:  # noqa: BLE001  anything raised is what is looked for
            wrong.append(f"seed {seed}: {type(problem).__name__}: {problem}")
    return last - first, changed, wrong


def _slice(ends: tuple[int, int]) -> tuple[int, Counter[str], list[str]]:
    return judged(*ends)


def main(first: int, last: int, processes: int) -> int:
    """Judge all of them; 1 when something differs."""
    slices = [(at, min(at + SLICE, last)) for at in range(first, last, SLICE)]
    programs, differences = 0, 0
    changed: Counter[str] = Counter()
    start = time.monotonic()
    with get_context("spawn").Pool(processes) as pool:
        for count, found, wrong in pool.imap_unordered(_slice, slices):
            programs += count
            changed += found
            differences += len(wrong)
            for problem in wrong:
                print(problem, flush=True)
    seconds = time.monotonic() - start
    print("changed:", ", ".join(f"{name} {count}" for name, count in changed.most_common()))
    print(
        f"{programs} programs, {changed.total()} results compared, {differences} differences, "
        f"{seconds:.0f} s, {programs / seconds:.0f} programs per second"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    if len(given) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(given[0], given[1], given[2] if len(given) == 3 else os.cpu_count() or 1))
