"""The reference pages that follow from tables in the source: `make docs` writes them.

`tests/arch/test_docs.py` compares them with the tables, so a page cannot fall behind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from docs import api_page, border_page, cpu_page
from docs.said import found_by
from vyre.diagnostics.codes import Code, all_codes
from vyre.ir.opcodes import AtomicOp, BinOp, Opcode, ReduceOp, Result, Row, UnOp
from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES, SCALAR_TYPES, DataType

REFERENCE = Path(__file__).parent / "reference"
WIDTH = 100
"""Examples of texts that are too long or too deep are cut at this column."""
SAID = "IVTWFOPR"
"""Families whose messages are the same on every machine."""
FAMILIES = {
    "I": "Building a program",
    "V": "Checking a program",
    "T": "Reading program text",
    "W": "Reading program bytes",
    "F": "Kernels written in Python",
    "O": "Optimising",
    "L": "Lowering to a target",
    "P": "Joining and splitting programs, pipelines",
    "R": "Regular expressions",
    "D": "Launching",
    "B": "Backends",
    "X": "Running",
    "C": "Configuration and the command line",
}


def codes() -> str:
    """Every code with its meaning, an example that triggers it, and its fix."""
    families: defaultdict[str, list[Code]] = defaultdict(list)
    for row in all_codes().values():
        families[row.code[0]].append(row)
    lines = [
        "# Codes",
        "",
        "Every problem vyre reports has a code that keeps its meaning from version to version.",
        "Words in braces stand for what the message names; below an example stands what vyre says.",
    ]
    for letter in sorted(families, key=list(FAMILIES).index):
        lines += ["", f"## {letter}: {FAMILIES[letter]}"]
        for row in families[letter]:
            lines += _code(row)
    return "\n".join(lines) + "\n"


def _code(row: Code) -> Iterable[str]:
    yield from ("", f"### {row.code}: {row.title}", "")
    yield f"> {row.severity}: {row.message}"
    if not re.fullmatch(r"\{\w+\}", row.fix):
        yield from (">", f"> fix: {row.fix}")
    if row.explanation:
        yield from ("", row.explanation)
    if row.example:
        language = "" if row.example.startswith("program") else "python"
        yield from (
            "",
            f"```{language}",
            *map(_shortened, row.example.strip("\n").split("\n")),
            "```",
        )
    if row.example and row.code[0] in SAID:
        said = [str(found) for found in found_by(row.example) if found.code == row.code]
        yield from ("", "```text", *map(_shortened, said[0].split("\n")), "```")


def _shortened(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[:WIDTH]} ..."


def opcodes() -> str:
    """Every opcode with its spelling, operand types and meaning."""
    lines = [
        "# Opcodes",
        "",
        "All operands of an opcode have one type; its result has that type too, or is `bool`.",
        "*Laws*: c commutative, a associative, i idempotent. *≈*: carries an ULP bound instead of",
        "being correctly rounded; the bounds are in [floats](../spec/floats.md).",
    ]
    tables: dict[str, type[Opcode]] = {
        "Two operands": BinOp,
        "One operand": UnOp,
        "Atomic": AtomicOp,
        "Reductions of subgroups and collectives": ReduceOp,
    }
    for title, table in tables.items():
        lines += ["", f"## {title}", ""]
        lines += ["| opcode | in text | operands | result | laws | meaning |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        lines += [_opcode(opcode.name, opcode.row) for opcode in table]
    return "\n".join(lines) + "\n"


def _opcode(name: str, row: Row) -> str:
    flags = {"c": row.commutative, "a": row.associative, "i": row.idempotent, "≈": row.approximate}
    laws = " ".join(sign for sign, holds in flags.items() if holds)
    result = "bool" if row.result is Result.BOOL else "as operands"
    spelling = row.spelling.replace("|", "\\|")
    return f"| {name} | `{spelling}` | {_types(row.operands)} | {result} | {laws} | {row.meaning} |"


def _types(types: frozenset[DataType]) -> str:
    named = {
        "all scalars": frozenset(SCALAR_TYPES),
        "integers": frozenset(INTEGER_TYPES),
        "floats": frozenset(ARITHMETIC_FLOATS),
    }
    words: list[str] = []
    rest = types
    for word, group in named.items():
        if group <= rest:
            words.append(word)
            rest -= group
    words += [f"`{dtype}`" for dtype in SCALAR_TYPES if dtype in rest]
    return ", ".join(words)


PAGES: dict[str, Callable[[], str]] = {
    "api.md": api_page.page,
    "codes.md": codes,
    "host-border.md": border_page.page,
    "opcodes.md": opcodes,
    "cpu-passes.md": cpu_page.cpu_page,
    "cpu-tuning.md": cpu_page.tuning_page,
}


def main() -> None:
    """Write every page that changed."""
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        path, text = REFERENCE / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"docs: wrote {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
