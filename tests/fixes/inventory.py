"""Every fix that the sources can say, found by reading them.

A fix is the template of a code's row, filled at the place that raises the error. What fills it is
followed backwards through the sources: constants, f-strings, both arms of a conditional, tables,
variables, what functions return and what their callers pass. A part that cannot be followed is a
hole, which stands for any text.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from string import Formatter

import vyre
from tests.fixes.code_in import code_in
from vyre.diagnostics import codes
from vyre.diagnostics.codes import Code

HOLE = "\0"
SOURCES = Path(vyre.__file__).parent
_DEEPEST = 8
_UNCHANGED = frozenset(("replace", "format", "removeprefix", "removesuffix"))
"""Methods of strings that leave most of a text as it is."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Possible:
    """A fix that may be said."""

    code: str
    text: str
    """With holes."""
    where: str

    @property
    def has_code(self) -> bool:
        """Whether it contains code whatever stands in the holes."""
        return bool(code_in(self.text.replace(HOLE, "x")))

    @property
    def shown(self) -> str:
        """As people read it."""
        return f"{self.where}: {self.code}: {self.text.replace(HOLE, '{}')}"

    def is_said_by(self, fix: str) -> bool:
        """Whether a fix that was said is this one."""
        pattern = ".*".join(map(re.escape, self.text.split(HOLE)))
        return re.fullmatch(pattern, fix, re.DOTALL) is not None


class Module:
    """A source file, and what its names mean."""

    def __init__(self, path: Path, source: str) -> None:
        self.path = path
        self.tree = ast.parse(source)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.functions: dict[str, list[Function]] = {}
        self._given: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.Call):
                self.calls.setdefault(_called(node), []).append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault(node.name, []).append(node)

    @cached_property
    def families(self) -> dict[str, str]:
        """The modules of codes that it imports, by the names it has for them."""
        return {
            alias.asname or alias.name: alias.name
            for node in self.parents
            if isinstance(node, ast.ImportFrom) and node.module == "vyre.diagnostics.codes"
            for alias in node.names
        }

    def before(self, node: ast.AST) -> list[ast.stmt]:
        """The statements before a statement in its own block."""
        parent = self.parents.get(node)
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(parent, block, None)
            if isinstance(statements, list) and node in statements:
                return statements[: statements.index(node)]
        return []

    def function_of(self, node: ast.AST) -> Function | None:
        """The function around a node."""
        found: ast.AST | None = self.parents.get(node)
        while found is not None and not isinstance(found, Function):
            found = self.parents.get(found)
        return found

    def given(self, statement: ast.AST, name: str) -> list[ast.expr]:
        """What a variable is given in a statement."""
        if statement not in self._given:
            found: dict[str, list[ast.expr]] = {}
            for node in ast.walk(statement):
                for one, value in _bindings(node):
                    found.setdefault(one, []).append(value)
            self._given[statement] = found
        return self._given[statement].get(name, [])

    def assigned(self, name: ast.Name) -> list[ast.expr]:
        """What a variable may hold here: what it was given before, here or in what is around."""
        found: list[ast.expr] = []
        node: ast.AST | None = name
        while node is not None:
            for statement in reversed(self.before(node)):
                given = self.given(statement, name.id)
                found += given
                if given and isinstance(statement, ast.Assign | ast.AnnAssign):
                    return found
            node = self.parents.get(node)
        at_top = (self.given(one, name.id) for one in self.tree.body if _binds(one))
        return found or [value for values in at_top for value in values]


class Inventory:
    """All sources, and the fixes they can say."""

    def __init__(self, folder: Path = SOURCES) -> None:
        self.folder = folder
        files = [path for path in sorted(folder.rglob("*.py")) if "codes" not in path.parts]
        self.sources = {path: path.read_text(encoding="utf-8") for path in files}
        self.rows = _rows_by_name()
        self._parsed: dict[Path, Module] = {}

    def containing(self, text: str) -> list[Module]:
        """The modules whose source contains a text."""
        found: list[Module] = []
        for path, source in self.sources.items():
            if text in source:
                if path not in self._parsed:
                    self._parsed[path] = Module(path, source)
                found.append(self._parsed[path])
        return found

    def possible(self) -> list[Possible]:
        """Every fix, at every place that may say it."""
        found: dict[tuple[str, str], Possible] = {}
        for module in self.containing("vyre.diagnostics.codes import"):
            for node in [call for calls in module.calls.values() for call in calls]:
                for one in self._said_at(module, node):
                    found.setdefault((one.code, one.text), one)
        return list(found.values())

    def _said_at(self, module: Module, call: ast.Call) -> Iterator[Possible]:
        where = f"{module.path.relative_to(self.folder)}:{call.lineno}"
        for row in self._rows_of(module, call):
            holes = {name for _, name, _, _ in Formatter().parse(row.fix) if name}
            given = {word.arg: word.value for word in call.keywords if word.arg in holes}
            texts = {
                name: _few(self.texts(module, given[name])) if name in given else [HOLE]
                for name in holes
            }
            for chosen in product(*texts.values()):
                yield Possible(
                    row.code, _filled(row.fix, dict(zip(texts, chosen, strict=True))), where
                )

    def _rows_of(self, module: Module, call: ast.Call) -> list[Code]:
        """The rows that a call mentions: `codes.ROW.at(…)`, or `error(node, codes.ROW, …)`."""
        candidates = list(call.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "at":
            candidates.append(call.func.value)
        rows: list[Code] = []
        for one in candidates:
            given = module.assigned(one) if isinstance(one, ast.Name) else [one]
            for value in given:
                arms = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                rows += [row for arm in arms if (row := self._row(module, arm)) is not None]
        return rows

    def _row(self, module: Module, node: ast.expr) -> Code | None:
        match node:
            case ast.Attribute(ast.Name(alias), name):
                return self.rows.get((module.families.get(alias, ""), name))
            case _:
                return None

    def texts(self, module: Module, node: ast.expr, depth: int = 0) -> list[str]:
        """The texts that an expression may have."""
        if depth > _DEEPEST:
            return [HOLE]
        deeper = depth + 1
        match node:
            case ast.Constant(str(value)):
                return [value]
            case ast.JoinedStr(values):
                return [_filled_string(values)]
            case ast.IfExp(_, body, orelse):
                return self.texts(module, body, deeper) + self.texts(module, orelse, deeper)
            case ast.BinOp(left, ast.Add(), right):
                sides = (self.texts(module, one, deeper) for one in (left, right))
                return ["".join(pair) for pair in product(*sides)]
            case ast.Name():
                return self._of_variable(module, node, deeper)
            case ast.Subscript(ast.Name() as table):
                return _in_table(module, table)
            case ast.Call(ast.Attribute(ast.Name() as table, "get"), args):
                default = [text for one in args[1:] for text in self.texts(module, one, deeper)]
                return _in_table(module, table) + default
            case ast.Call(ast.Attribute(inner, method)) if method in _UNCHANGED:
                return [_braces_open(text) for text in self.texts(module, inner, deeper)]
            case ast.Call():
                return self._returned(module, node, deeper)
            case _:
                return [HOLE]

    def _of_variable(self, module: Module, name: ast.Name, depth: int) -> list[str]:
        given = module.assigned(name)
        if given:
            return _few([text for value in given for text in self.texts(module, value, depth)])
        function = module.function_of(name)
        if function is None or name.id not in _parameters(function):
            return [HOLE]
        return self._passed(function, name.id, depth)

    def _passed(self, function: Function, parameter: str, depth: int) -> list[str]:
        """What callers pass for a parameter."""
        names = _parameters(function)
        found: list[str] = []
        for module, call in self._callers(function):
            position = names.index(parameter) - (names[0] in ("self", "cls"))
            named = {word.arg: word.value for word in call.keywords}
            if parameter in named:
                found += self.texts(module, named[parameter], depth)
            elif 0 <= position < len(call.args):
                found += self.texts(module, call.args[position], depth)
        return _few(found) or [HOLE]

    def _callers(self, function: Function) -> list[tuple[Module, ast.Call]]:
        """The calls of a function: in its own module, or anywhere if no other has its name."""
        name = getattr(function, "name", "")
        alike = self._named(name)
        own = [module for module, one in alike if one is function]
        where = self.containing(f"{name}(") if len(alike) == 1 else own
        return [(module, call) for module in where for call in module.calls.get(name, [])]

    def _named(self, name: str) -> list[tuple[Module, Function]]:
        """The functions of a name."""
        homes = self.containing(f"def {name}(")
        return [(module, one) for module in homes for one in module.functions.get(name, [])]

    def _returned(self, module: Module, call: ast.Call, depth: int) -> list[str]:
        """What the function that is called returns, if it is clear which one that is."""
        alike = self._named(_called(call))
        meant = alike if len(alike) == 1 else [one for one in alike if one[0] is module]
        found: list[str] = []
        for home, function in meant:
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    found += self.texts(home, node.value, depth)
        return _few(found) or [HOLE]


def _rows_by_name() -> dict[tuple[str, str], Code]:
    """The rows of codes by module and name."""
    found: dict[tuple[str, str], Code] = {}
    for family in pkgutil.iter_modules(codes.__path__):
        module = importlib.import_module(f"{codes.__name__}.{family.name}")
        for name, value in vars(module).items():
            if isinstance(value, Code):
                found[family.name, name] = value
    return found


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _binds(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables that an assignment gives values, and these."""
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, value
                elif isinstance(target, ast.Tuple):
                    yield from _unpacked(target, value)
        case ast.AnnAssign(ast.Name(name), _, value) if value is not None:
            yield name, value
        case _:
            pass


def _unpacked(target: ast.Tuple, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    alike = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
    for number, one in enumerate(target.elts):
        if isinstance(one, ast.Name):
            yield one.id, value.elts[number] if alike and isinstance(value, ast.Tuple) else value


def _in_table(module: Module, table: ast.Name) -> list[str]:
    """The texts in a table that is written down, or in what a variable holds of one."""
    found: list[str] = []
    for value in module.assigned(table):
        for node in ast.walk(value):
            if isinstance(node, ast.Dict):
                found += [
                    _braces_open(leaf.value)
                    for each in node.values
                    for leaf in ast.walk(each)
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
                ]
    return found or [HOLE]


def _braces_open(text: str) -> str:
    return re.sub(r"\{[^{}]*\}", HOLE, text)


def _filled_string(values: list[ast.expr]) -> str:
    return "".join(
        one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else HOLE
        for one in values
    )


def _filled(template: str, values: dict[str, str]) -> str:
    found = ""
    for literal, name, _, _ in Formatter().parse(template):
        found += literal + ("" if name is None else values.get(name, HOLE))
    return found


def _few(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


@lru_cache(maxsize=1)
def inventory() -> list[Possible]:
    """Every fix that the sources can say."""
    return Inventory().possible()
