"""Debts of the code, counted: each number of debt.toml may only fall."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.arch import ratchet

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/vyre"
LLVM = "vyre.backends.llvm"
TABLE = "tests/arch/debt.toml"
FACTS = "tests/arch/facts.toml"
pytestmark = pytest.mark.filterwarnings("default:lower the number:UserWarning")
MOST_FIELDS = 15
MOST_LINES = 400
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
FIELD = re.compile(r"^ +(\w+): |\bself\.(\w+)", re.MULTILINE)

Trees = Mapping[str, ast.Module]
"""Syntax trees by module name."""


@cache
def trees() -> Trees:
    """The modules of vyre in which there may be debts."""
    found: dict[str, ast.Module] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        # Parsing takes long, and outside of the backend only classes are counted.
        if name.startswith(LLVM) or len(set(FIELD.findall(text))) > MOST_FIELDS:
            found[name] = ast.parse(text, path)
    return found


def below(modules: Trees, package: str) -> Iterable[tuple[str, ast.AST]]:
    """All nodes of a package's modules, with where they are."""
    for name, tree in modules.items():
        if f"{name}.".startswith(f"{package}."):
            for node in nodes_of(tree):
                yield f"{name}:{getattr(node, 'lineno', 0)}", node


@cache
def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Nodes that the counters look at."""
    return [n for n in ast.walk(tree) if isinstance(n, (ast.Call, ast.Import, ast.ImportFrom))]


def identity_keys(modules: Trees) -> list[str]:
    """Calls of `id`."""
    return [
        where
        for where, node in below(modules, LLVM)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]


def wide_classes(modules: Trees) -> list[str]:
    """Classes with more fields than a reader remembers: annotated or set on `self`."""
    return [
        f"{name}:{node.lineno} {node.name}"
        for name, tree in modules.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and len(fields_of(node)) > MOST_FIELDS
    ]


def fields_of(node: ast.ClassDef) -> set[str]:
    """Names of a class's fields."""
    found = {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        if "ClassVar" not in ast.dump(each.annotation)
    }
    return found | {
        each.attr
        for method in node.body
        if isinstance(method, ast.FunctionDef)
        for each in ast.walk(method)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        if isinstance(each.value, ast.Name) and each.value.id == "self"
    }


def long_files(_: Trees) -> list[str]:
    """Files that are longer than a few screens."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCE.rglob("*.py")
    }
    return [f"{name} {lines}" for name, lines in sorted(lengths.items()) if lines > MOST_LINES]


def mutual_imports(modules: Trees) -> list[str]:
    """Pairs of modules that import each other, for types or at run time."""
    imports: dict[str, set[str]] = {}
    for where, node in below(modules, LLVM):
        targets = imports.setdefault(where.rpartition(":")[0], set())
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            targets.update(name if name in modules else str(node.module) for name in full)
    return [
        f"{name} <-> {other}"
        for name, targets in sorted(imports.items())
        for other in sorted(targets)
        if name < other and name in imports.get(other, ())
    ]


def regexes_over_text(modules: Trees) -> list[str]:
    """Calls of functions of `re` where LLVM IR is emitted."""
    return [
        where
        for where, node in below(modules, f"{LLVM}.emit")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
    ]


def inspected_spellings(modules: Trees) -> list[str]:
    """Tests whether the text of an operand starts with a percent sign."""
    return [
        where
        for where, node in below(modules, LLVM)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "startswith"
        and any(isinstance(arg, ast.Constant) and arg.value == "%" for arg in node.args)
    ]


def tuning_constants(modules: Trees) -> list[str]:
    """Named numbers that neither the table of tuning constants nor that of facts has."""
    facts = tomllib.loads((ROOT / FACTS).read_text(encoding="utf-8")).values()
    formats = {each for row in facts for each in row.get("modules", ())} | {"heuristics"}
    known = {each for row in facts for each in row.get("names", ())}
    return [
        f"{LLVM}.{module}:{line} {name}"
        for module, line, name in named_numbers(modules)
        if module.partition(".")[0] not in formats and f"{module}.{name}" not in known
    ]


def named_numbers(modules: Trees) -> list[tuple[str, int, str]]:
    """Numbers with a name at the top of a module of the backend: module, line and name."""
    return [
        (name.removeprefix(f"{LLVM}."), node.lineno, each.id)
        for name, tree in modules.items()
        if name.startswith(f"{LLVM}.")
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_number(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for each in (target.elts if isinstance(target, ast.Tuple) else [target])
        if isinstance(each, ast.Name) and CONSTANT.fullmatch(each.id)
    ]


def is_number(node: ast.expr | None) -> bool:
    """True if an expression is a number, or numbers, or computed from such constants."""
    match node:
        case ast.Constant(value):
            return type(value) in (int, float)
        case ast.UnaryOp(_, operand):
            return is_number(operand)
        case ast.BinOp(left, _, right):
            pair = [side for side in (left, right) if not isinstance(side, ast.Name)]
            return bool(pair) and all(map(is_number, pair))
        case ast.Tuple(elements):
            return bool(elements) and all(map(is_number, elements))
        case _:
            return False


COUNTERS: dict[str, Callable[[Trees], list[str]]] = {
    each.__name__: each
    for each in (
        identity_keys,
        wide_classes,
        long_files,
        mutual_imports,
        regexes_over_text,
        inspected_spellings,
        tuning_constants,
    )
}


@pytest.mark.parametrize("name", COUNTERS)
def test_a_debt_only_falls(name: str) -> None:
    row = tomllib.loads((ROOT / TABLE).read_text(encoding="utf-8"))[name]
    found = COUNTERS[name](trees())
    print(*found, sep="\n")  # noqa: T201  shown on failure
    ratchet.check({name: len(found)}, {name: row["count"]}, TABLE, row["how"])


def test_the_table_has_these_rows() -> None:
    assert set(tomllib.loads((ROOT / TABLE).read_text(encoding="utf-8"))) == set(COUNTERS)


def test_every_fact_exists() -> None:
    numbers = named_numbers(trees())
    there = {f"{module}.{name}" for module, _, name in numbers}
    modules = {module.partition(".")[0] for module, _, _ in numbers}
    for row in tomllib.loads((ROOT / FACTS).read_text(encoding="utf-8")).values():
        assert set(row.get("names", ())) <= there
        assert set(row.get("modules", ())) <= modules


PLANTED = """
import re
from vyre.backends.llvm.emit import two
MOST, FEW = 1, 2
WIDTHS = (8, 4)
HALF: int = WIDTHS // 2
NAMES = ("a",)
kept[id(node)] = re.sub("a", "b", text)
text.startswith("%")
class Wide:
    {fields}
"""


def test_each_debt_is_seen_when_planted() -> None:
    fields = "\n    ".join(f"f{n}: int" for n in range(MOST_FIELDS + 1))
    modules = {
        f"{LLVM}.emit.one": ast.parse(PLANTED.format(fields=fields)),
        f"{LLVM}.emit.two": ast.parse(f"if TYPE_CHECKING:\n  from {LLVM}.emit.one import Wide"),
    }
    counts = {name: len(count(modules)) for name, count in COUNTERS.items() if name != "long_files"}
    assert counts == {
        "identity_keys": 1,
        "wide_classes": 1,
        "mutual_imports": 1,
        "regexes_over_text": 1,
        "inspected_spellings": 1,
        "tuning_constants": 4,
    }
