"""Kernels whose code depends on a tuning constant of the CPU backend.

    python -m benchmarks.sensitivity                              # all constants, some minutes
    python -m benchmarks.sensitivity --only MAX_VECTOR_LANES,SPIN_NS --enough 1000
    python -m benchmarks.sensitivity --kernels survey/bfs,kernels/triad --targets aarch64

Each constant of `vyre.backends.llvm.heuristics` that is read while a kernel's code is emitted is
halved, doubled, decremented and incremented. A kernel depends on it if its LLVM IR changes, its
stack probes, its launch metadata, or the pipeline that LLVM runs. A constant on which no kernel
depends is a limit that no benchmark reaches, or is superfluous.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from hashlib import blake2b
from types import ModuleType

from benchmarks.emitted_text import TARGETS, segments
from benchmarks.programs import all_programs, plain_programs
from benchmarks.survey import CASES
from benchmarks.survey.case import Case
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.frames import with_probes
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.tiers import pipeline_at_first, pipeline_when_hot
from vyre.cli.demo_examples import EXAMPLES, Example
from vyre.conform.fuzz import case_of
from vyre.conform.python.case import PythonCase
from vyre.ir import Program

Value = int | tuple[int, ...]
BATCH = 16


def main() -> None:
    """Prints, for each constant, the kernels that depend on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="constants, comma-separated")
    parser.add_argument("--kernels", default="", help="kernels, comma-separated")
    parser.add_argument("--targets", default="x86-64-v3", help="comma-separated")
    parser.add_argument("--first", action="store_true", help="code for a first launch")
    parser.add_argument("--enough", type=int, default=3, help="kernels to find for each constant")
    given = parser.parse_args()
    names = frozenset(given.only.split(",")) if given.only else frozenset(constants())
    wanted = given.kernels.split(",") if given.kernels else list(kernels())
    found: defaultdict[str, list[str]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for some in batches(wanted):
            left = frozenset(name for name in names if len(found[name]) < given.enough)
            look = partial(
                constants_of,
                names=left,
                targets=given.targets.split(","),
                thorough=not given.first,
            )
            for kernel, depends in zip(some, pool.map(look, some), strict=True):
                for name in depends:
                    found[name].append(kernel)
    for name in constants():
        if name in names:
            print(name, *found[name] or ["none"])


def batches(names: list[str]) -> Iterator[list[str]]:
    """Kernels of every kind first, so that most constants are settled soon."""
    mixed = sorted(names, key=lambda name: blake2b(name.encode()).digest())
    for start in range(0, len(mixed), BATCH):
        yield mixed[start : start + BATCH]


@cache
def constants() -> dict[str, Value]:
    """The tuning constants and their values."""
    return {row.name: row.value for row in heuristics.rows()}


@cache
def kernels() -> dict[str, Callable[[], list[Program]]]:
    """The kernels of the survey, the benchmarks and the examples, by name."""
    single: dict[str, Callable[[], list[Program]]] = {
        **{
            f"kernels/{name}": partial(list[Program], [each])
            for name, each in all_programs().items()
        },
        **{
            f"plain/{name}": partial(list[Program], [each])
            for name, each in plain_programs().items()
        },
    }
    survey = {f"survey/{case.name}": partial(_of_case, case) for case in CASES}
    examples = {f"examples/{each.name}": partial(_of_example, each) for each in EXAMPLES}
    return {**survey, **single, **examples}


def _of_case(case: Case) -> list[Program]:
    return [kernel.program() for kernel in case.kernels]


def _of_example(example: Example) -> list[Program]:
    return [example.call(example.small).program()]


@cache
def programs_of(kernel: str) -> tuple[bytes, ...]:
    """What the backend gets for a kernel: optimised programs, here in the wire format."""
    programs = kernels()[kernel]() if kernel in kernels() else [_random(kernel)]
    return tuple(part.to_wire() for program in programs for _, part in segments("", program))


def _random(name: str) -> Program:
    """A program of the fuzzer: `random/tiny-187` is number 187 of the mixture `tiny`."""
    mixture, number = name.removeprefix("random/").split("-")
    case = case_of(int(number), mixture)
    return case.translated() if isinstance(case, PythonCase) else case.program


def constants_of(
    kernel: str, names: frozenset[str], targets: Iterable[str], *, thorough: bool
) -> list[str]:
    """The constants, among these, on which a kernel's code depends."""
    depends: list[str] = []
    for target in targets:
        for wire in programs_of(kernel):
            with reads() as read:
                usual = emitted(wire, TARGETS[target], thorough=thorough)
            depends += [
                name
                for name in sorted((names & read).difference(depends))
                if any(
                    differs(usual, wire, TARGETS[target], name, value, thorough=thorough)
                    for value in perturbed(constants()[name])
                )
            ]
    return depends


def differs(
    usual: str, wire: bytes, host: Host, name: str, value: Value, *, thorough: bool = True
) -> bool:
    """True if a program's code is another one with another value of a constant."""
    with changed(name, value):
        try:
            return emitted(wire, host, thorough=thorough) != usual
        except Exception:  # noqa: BLE001  a value may be impossible: that shows no dependence
            return False


def emitted(wire: bytes, host: Host, *, thorough: bool = True) -> str:
    """What is compiled, how, and how it is launched; the program must be new to the backend."""
    program = Program.from_wire(wire)
    code = generate(program, host, thorough=thorough)
    pipelines = pipeline_at_first(program, code.text).name, pipeline_when_hot(code.text).name
    return f"{with_probes(code.text, host)}\n{code.info}\n{pipelines}"


def perturbed(value: Value) -> list[Value]:
    """Halved, doubled, one less and one more; tuples also in another order."""
    if isinstance(value, tuple):
        scaled = [tuple(2 * each for each in value), tuple(max(each // 2, 1) for each in value)]
        return [value[::-1], value[1:] + value[:1], *scaled]
    return [each for each in (value // 2, 2 * value, value - 1, value + 1) if each > 0]


@contextmanager
def changed(name: str, value: Value) -> Iterator[None]:
    """The backend with another value of one constant."""
    usual = getattr(heuristics, name)
    setattr(heuristics, name, value)
    try:
        yield
    finally:
        setattr(heuristics, name, usual)


@contextmanager
def reads() -> Iterator[set[str]]:
    """Collects the names of constants that are read."""
    names: set[str] = set()

    class Watched(ModuleType):
        def __getattribute__(self, name: str) -> object:
            names.add(name)
            return super().__getattribute__(name)

    table = heuristics
    table.__class__ = Watched  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield names
    finally:
        table.__class__ = ModuleType  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    main()
