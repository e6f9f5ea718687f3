"""What the API reference says of functions and of the members of classes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

INTERNAL = {
    "CompiledProgram": {
        "can_repeat",
        "is_bindable",
        "is_flat_split",
        "launch",
        "load",
        "prepare",
        "prove",
        "reads_its_grid",
        "takes_arrays",
    },
    "DeviceArray": {"held", "hold", "memory"},
    "Program": {"deferred", "memo", "memos"},
}
"""Members that are there for the runtime, not for callers."""
OPERATORS = {"__getitem__": "x[i]", "__setitem__": "x[i] = value", "__len__": "len(x)"}
"""How the operators of a value `x` are written."""
WIDTH = 100


@dataclass(frozen=True)
class Member:
    """A method, a property or a field of a class."""

    name: str
    form: str
    """What stands behind the name: parameters, the type of a field, or the value of a constant."""
    text: str

    @property
    def shown(self) -> str:
        """How the page lists it."""
        return OPERATORS.get(self.name, f"{self.name}{self.form}")

    @property
    def in_kernel(self) -> str:
        """How a kernel writes it, of an array `x`."""
        return OPERATORS.get(self.name, f"x.{self.name}{self.form.partition(':')[0]}")


def members(kind: type) -> dict[str, Member]:
    """The members of a class that callers use, in the order of its source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    (definition,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    found = {member.name: member for member in _members(kind, definition)}
    return {name: found[name] for name in found if name not in INTERNAL.get(kind.__name__, ())}


def _members(kind: type, definition: ast.ClassDef) -> Iterator[Member]:
    for node, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        match node:
            case ast.AnnAssign(target=ast.Name(name), annotation=wanted) if name[0] != "_":
                yield Member(name, f": {ast.unparse(wanted)}", _text_of(after))
            case ast.Assign(targets=[ast.Name(name)], value=value) if name.isupper():
                yield Member(name, f" = {ast.unparse(value)}", _text_of(after))
            case ast.FunctionDef(name) if name[0] != "_" or name in (*OPERATORS, "__call__"):
                text = " ".join((ast.get_docstring(node) or "").split())
                if text:  # overloads have none
                    yield Member(name, _form(inspect.getattr_static(kind, name)), text)
            case _:
                pass


def _text_of(node: ast.stmt | None) -> str:
    """The string below a field, which is its docstring."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
        case _:
            return ""


def _form(value: Any) -> str:
    function = getattr(value, "__func__", value)  # of a class method, what it wraps
    return signature(function, typed=False) if inspect.isfunction(function) else ""


def signature(function: Callable[..., Any], *, typed: bool) -> str:
    """The parameters of a function, and what it gives if types are wanted."""
    found = inspect.signature(function)
    parts: list[str] = []
    kinds = [parameter.kind for parameter in found.parameters.values()]
    for position, parameter in enumerate(found.parameters.values()):
        if parameter.name in ("self", "cls"):
            continue
        is_only_named = parameter.kind is parameter.KEYWORD_ONLY
        if is_only_named and not {parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL} & {
            *kinds[:position]
        }:
            parts.append("*")
        parts.append(_parameter(parameter, typed=typed))
        is_last = parameter.kind not in kinds[position + 1 :]
        if parameter.kind is parameter.POSITIONAL_ONLY and is_last:
            parts.append("/")
    result = f" -> {found.return_annotation}" if typed else ""
    line = f"({', '.join(parts)}){result}"
    if typed and len(line) > WIDTH:
        inner = "".join(f"    {part},\n" for part in parts)
        line = f"(\n{inner}){result}"
    return line


def written_signature(module: ModuleType, name: str) -> str:
    """The parameters that a type checker sees, of a function that at run time takes any."""
    tree = ast.parse(inspect.getsource(module))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    [node] = [node for node in found if node.name == name]
    for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    return f"({ast.unparse(node.args)})"


def _parameter(parameter: inspect.Parameter, *, typed: bool) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    has_type = typed and parameter.annotation is not parameter.empty
    if has_type:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}" if has_type else f"={parameter.default!r}"
    return text
