"""Hostile bytes at the decoders: mutated programs and graphs, and what only looks like them.

    python -m vyre.conform.fuzz_wire --seconds 60 --seed 1

Whatever the bytes, the decoder gives a program or a `WireError` with a code and an offset inside
the data. A program that it gives encodes to the very bytes it came from.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field

from vyre.analysis import ProgramFacts
from vyre.conform.generate import PROFILES, generate
from vyre.diagnostics import WireError
from vyre.ir import Program
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.plan.graph_wire import MAGIC as GRAPH_MAGIC
from vyre.record import dataclass
from vyre.wire.encode import encode_payload
from vyre.wire.envelope import HEAD_SIZE, MAGIC, seal
from vyre.wire.tags import SECTIONS, TREE_TAGS
from vyre.wire.varints import varint

_SMALL_PROFILES = (*["tiny"] * 17, "subgroups", "memory", "grid_sync")
_SEED_PROGRAMS = 60
_SEED_GRAPHS = 20
_INTERESTING = (0, 1, 2, 6, 31, 32, 38, 63, 64, 71, 88, 127, 128, 129, 254, 255)
_TAGS = tuple(TREE_TAGS.values())


@dataclass
class Report:
    """What a run of the fuzzer saw."""

    inputs: int = 0
    accepted: int = 0
    """Inputs that are programs after all."""
    seconds: float = 0.0
    codes: Counter[str] = field(default_factory=Counter[str])
    failures: list[tuple[bytes, str]] = field(default_factory=list[tuple[bytes, str]])
    """Inputs that brought anything else than a program or a `WireError`, and what it was."""

    def __str__(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        codes = ", ".join(f"{code} {count}" for code, count in sorted(self.codes.items()))
        lines = [
            f"{self.inputs} inputs in {self.seconds:.1f} s ({rate:.0f}/s): "
            f"{self.accepted} programs, {self.inputs - self.accepted} refused, "
            f"{len(self.failures)} failures",
            f"codes: {codes}",
        ]
        lines += [f"failure: {problem}\n  input: {data.hex()}" for data, problem in self.failures]
        return "\n".join(lines)


def fuzz_wire(seconds: float, seed: int = 0, inputs: int | None = None) -> Report:
    """Decode hostile bytes, up to a number of seconds or of inputs."""
    report = Report()
    start = time.monotonic()
    for data in _hostile(random.Random(seed), seed):
        _try(data, report)
        report.seconds = time.monotonic() - start
        if report.seconds >= seconds or report.inputs == inputs:
            break
    return report


def _try(data: bytes, report: Report) -> None:
    report.inputs += 1
    kind = Graph if data[: len(GRAPH_MAGIC)] == GRAPH_MAGIC else Program
    try:
        program = kind.from_wire(data)
    except WireError as error:
        report.codes[error.code] += 1
        if not 0 <= error.offset <= len(data):
            report.failures.append((data, f"{error.code} at offset {error.offset}"))
    except Exception as error:  # noqa: BLE001  anything that comes here is what is looked for
        report.failures.append((data, f"{type(error).__name__}: {error}"))
    else:
        report.accepted += 1
        if program.to_wire() != data:
            report.failures.append((data, "accepted, but encodes to other bytes"))


def _hostile(dice: random.Random, seed: int) -> Iterator[bytes]:
    """Inputs without end."""
    payloads = [_seed_payload(seed, number) for number in range(_SEED_PROGRAMS)]
    graphs = [_seed_graph(seed, number) for number in range(_SEED_GRAPHS)]
    makers: list[Callable[[], bytes]] = [
        *[lambda: seal(_mutated(dice, dice.choice(graphs)), GRAPH_MAGIC)] * 2,
        lambda: seal(_spliced(dice, graphs), GRAPH_MAGIC),
        *[lambda: seal(_mutated(dice, dice.choice(payloads)))] * 6,
        *[lambda: seal(_spliced(dice, payloads))] * 2,
        *[lambda: seal(_made_up(dice))] * 3,
        lambda: _broken_envelope(dice, seal(dice.choice(payloads))),
        lambda: MAGIC[: dice.randrange(9)] + dice.randbytes(dice.randrange(80)),
    ]
    while True:
        yield dice.choice(makers)()


def _seed_payload(seed: int, number: int) -> bytes:
    profile = _SMALL_PROFILES[number % len(_SMALL_PROFILES)]
    return encode_payload(generate(seed * 1000 + number, PROFILES[profile]).program)


def _seed_graph(seed: int, number: int) -> bytes:
    """The payload of a graph whose only node is a random program."""
    program = generate(seed * 1000 + number, PROFILES["tiny"]).program
    written = ProgramFacts.of(program).written_buffers
    buffers = [
        GraphBuffer(decl.name, Role.INOUT if decl.name in written else Role.INPUT, decl.element)
        for decl in program.buffers
        if decl.binding is not None
    ]
    graph = Graph.of("one", buffers, [GraphNode.of("node", program, grid=(1, 1, 1))])
    return graph.to_wire()[HEAD_SIZE:]


def _mutated(dice: random.Random, payload: bytes) -> bytes:
    """A program with a few bytes changed, added, moved or left out."""
    data = bytearray(payload)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(7):
            case 0 if place < len(data):
                data[place] ^= 1 << dice.randrange(8)
            case 1 if place < len(data):
                data[place] = dice.choice(_INTERESTING)
            case 2 if place < len(data):
                data[place] = dice.choice(_TAGS)
            case 3:
                data[place:place] = dice.randbytes(dice.randrange(1, 5))
            case 4:
                del data[place : place + dice.randrange(1, 9)]
            case 5:
                data[place:place] = data[place : place + dice.randrange(1, 33)]
            case _:
                data[place : place + 1] = varint(
                    dice.choice((1 << 31, (1 << 64) - 1, 1 << 63, 300))
                )
    return bytes(data)


def _spliced(dice: random.Random, payloads: list[bytes]) -> bytes:
    """The beginning of one program and the end of another."""
    first, second = dice.choice(payloads), dice.choice(payloads)
    return first[: dice.randrange(len(first))] + second[dice.randrange(len(second)) :]


def _made_up(dice: random.Random) -> bytes:
    """Sections in order, filled with tags and numbers at random."""
    strings = dice.choice((b"\x00", b"\x01\x01a", b"\x02\x01a\x02bc", b"\xff\xff\xff\x7f"))
    contents = (
        strings,
        b"\x00\x01\x01\x01",
        dice.choice((b"\x00", b"\x01\x00\x01\x02\x08\x06\x00\x00")),
    )
    body = bytearray()
    for _ in range(dice.randrange(1, 60)):
        body.append(dice.choice(_TAGS))
        for _ in range(dice.randrange(4)):
            body.append(dice.choice((0, 1, 2, 3, 5, 6, 12, dice.randrange(256))))
    sections = zip(SECTIONS, (*contents, bytes(body)), strict=True)
    return b"".join(varint(tag) + varint(len(part)) + part for tag, part in sections)


def _broken_envelope(dice: random.Random, data: bytes) -> bytes:
    """A stored program with something wrong in its head, or cut off."""
    if dice.randrange(2):
        return data[: dice.randrange(len(data))]
    broken = bytearray(data)
    broken[dice.randrange(min(HEAD_SIZE, len(broken)))] ^= 1 << dice.randrange(8)
    return bytes(broken)


def main() -> int:
    """Run from the command line; the exit code says whether something was found."""
    parser = argparse.ArgumentParser("python -m vyre.conform.fuzz_wire")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = fuzz_wire(options.seconds, options.seed)
    sys.stdout.write(f"{report}\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
