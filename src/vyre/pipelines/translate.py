"""From the source of a function to the tree of a pipeline.

What a pipeline cannot do is refused when the function is decorated, with its line and what to
write. Nothing is traced: a branch, a loop and a swap of names are in the tree as they are in the
source.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.parameters import ArrayParameter, Parameter
from vyre.front.source import MISSING, Source
from vyre.pipelines import language, tree
from vyre.pipelines.host_expressions import Names, extents, host_expr
from vyre.pipelines.stages import is_stage, resolve
from vyre.runtime.kernel import Kernel

_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "catch errors around the call of the pipeline"),
    ast.With: ("with", "write the statements of the block directly"),
    ast.Raise: ("raise", "check arguments before the call"),
    ast.Assert: ("assert", "check arguments before the call"),
    ast.FunctionDef: ("a nested function", "define it outside, decorated with @vy.pipeline"),
    ast.ClassDef: ("a class", "define it outside"),
    ast.Global: ("global", "return the array, and assign it after the call"),
    ast.Nonlocal: ("nonlocal", "return the array, and assign it after the call"),
    ast.Import: ("import", "import outside of the pipeline"),
    ast.ImportFrom: ("import", "import outside of the pipeline"),
    ast.Delete: ("del", "leave it out: scratch ends with its last use"),
    ast.Match: ("match", "write if, elif and else"),
    ast.Break: ("break", "write the loop's range, or while vy.again(flag, most=n)"),
    ast.Continue: ("continue", "put the rest of the body under an if"),
    ast.AnnAssign: ("an annotated variable", "leave the annotation out"),
}
_MAKERS = (language.scratch, language.scratch_like, language.flag)


def translate(source: Source, parameters: Mapping[str, Parameter]) -> tree.Body:
    """The tree of a pipeline's function."""
    body = source.tree.body
    found = _kinds(source, parameters)
    return _Translator(found, parameters).body(body, is_outermost=True)


def _kinds(source: Source, parameters: Mapping[str, Parameter]) -> Names:
    """Which names are arrays and which are numbers: each is one of them, everywhere."""
    arrays = {name for name, one in parameters.items() if isinstance(one, ArrayParameter)}
    numbers = set(parameters) - arrays
    names = Names(source, arrays, numbers)
    pending = [node for node in ast.walk(source.tree) if isinstance(node, (ast.Assign, ast.For))]
    pending.sort(key=lambda node: (node.lineno, node.col_offset))
    for _ in range(len(pending) + 1):
        before = len(arrays) + len(numbers)
        for node in pending:
            _add_kinds(names, node, arrays, numbers)
        if len(arrays) + len(numbers) == before:
            break
    for node in pending:
        for name in sorted(_target_names(node) & arrays & numbers):
            what = f"the name {name!r} for an array and for a number"
            raise names.refuse(node, what, "use two names")
    return names


def _target_names(node: ast.Assign | ast.For) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {
        each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
    }


def _add_kinds(
    names: Names, node: ast.Assign | ast.For, arrays: set[str], numbers: set[str]
) -> None:
    if isinstance(node, ast.For):
        if isinstance(node.target, ast.Name):
            numbers.add(node.target.id)
        return
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        elif isinstance(target, ast.Tuple):
            pairs = [(each, node.value) for each in target.elts]
        else:
            pairs = [(target, node.value)]
        for name, value in pairs:
            if not isinstance(name, ast.Name):
                continue
            if _is_array(names, value):
                arrays.add(name.id)
            elif not (isinstance(value, ast.Name) and value.id not in names.numbers):
                numbers.add(name.id)


def _is_array(names: Names, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Name) and value.id in names.arrays
    meant = _meant(names, value)
    return is_stage(meant) or any(meant is maker for maker in _MAKERS)


def _meant(names: Names, call: ast.Call) -> object:
    """What a call calls, if that is a name from outside of the function."""
    callee = names.captured(call.func)
    return MISSING if callee is None else resolve(names.source, callee)


class _Translator:
    """Translates the statements of one function."""

    def __init__(self, names: Names, parameters: Mapping[str, Parameter]) -> None:
        self._names = names
        self._parameters = parameters

    def body(self, nodes: Sequence[ast.stmt], *, is_outermost: bool = False) -> tree.Body:
        found: list[tree.Statement] = []
        for position, node in enumerate(nodes):
            if isinstance(node, ast.Return):
                is_last = is_outermost and position == len(nodes) - 1
                found.append(self._return(node, is_last))
            else:
                found += self._statement(node)
        return tuple(found)

    def _statement(self, node: ast.stmt) -> list[tree.Statement]:
        names = self._names
        match node:
            case ast.Pass() | ast.Expr(ast.Constant(str())):
                return []
            case ast.Expr(ast.Call() as call):
                return [self._call(call, ())]
            case ast.Assign([target], value):
                return self._assign(node, target, value)
            case ast.Assign():
                instead = "write an assignment for each name"
                raise names.refuse(node, "an assignment to several names", instead)
            case ast.AugAssign(ast.Name(name) as target, operator, value):
                left = ast.copy_location(ast.Name(name, ast.Load()), target)
                whole = ast.copy_location(ast.BinOp(left, operator, value), node)
                return [tree.Assign((name,), (host_expr(names, whole),))]
            case ast.For():
                return [self._for(node)]
            case ast.While():
                return [self._while(node)]
            case ast.If():
                return [self._if(node)]
            case _:
                what, instead = _REFUSED.get(type(node), (f"{ast.unparse(node)!r}", _WHAT_THERE_IS))
                raise names.refuse(node, what, instead)

    def _assign(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> list[tree.Statement]:
        names = self._names
        targets = self._targets(target)
        if isinstance(value, ast.Call) and is_stage(meant := _meant(names, value)):
            if isinstance(meant, Kernel):
                what = f"the result of {ast.unparse(value.func)}, a kernel, which returns nothing"
                instead = "make scratch with vy.scratch, and pass it to the kernel"
                raise names.refuse(node, what, instead)
            return [self._call(value, targets)]
        values = list(value.elts) if isinstance(value, ast.Tuple) else [value]
        if len(values) != len(targets):
            instead = "write as many values as names: a, b = b, a"
            raise names.refuse(node, "this assignment", instead)
        made = [self._made(name, each) for name, each in zip(targets, values, strict=True)]
        if all(made):
            return [each for each in made if each is not None]
        if any(made):
            raise names.refuse(node, "this assignment", "make scratch on a line of its own")
        return [tree.Assign(targets, tuple(self._argument(each) for each in values))]

    def _made(self, name: str, value: ast.expr) -> tree.Statement | None:
        """The statement that makes an array, if a value does."""
        if not isinstance(value, ast.Call):
            return None
        meant, span = _meant(self._names, value), self._names.source.span(value)
        if meant is language.flag:
            self._arrays_of(value, 0, "flag = vy.flag()")
            return tree.Flag(name, span)
        if meant is language.scratch:
            return self._scratch(name, value)
        if meant is language.scratch_like:
            [like] = self._arrays_of(value, 1, "t = vy.scratch_like(x)")
            return tree.Scratch(name, None, (), like.name, span)
        return None

    def _targets(self, target: ast.expr) -> tuple[str, ...]:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        found = [each.id for each in parts if isinstance(each, ast.Name)]
        if len(found) == len(parts):
            return tuple(found)
        what = f"an assignment to {ast.unparse(target)}"
        if isinstance(target, ast.Subscript):
            raise self._names.refuse(target, what, "write a kernel that stores it, and call that")
        raise self._names.refuse(target, what, "assign to names: a, b = b, a")

    def _scratch(self, name: str, call: ast.Call) -> tree.Scratch:
        names = self._names
        span = names.source.span(call)
        match call:
            case ast.Call(_, [element, size], keywords):
                found = names.captured(element)
                limit = self._flag_of(size, language.at_most)
                if found is not None and limit is not None:
                    counted = self._counted(call, limit, keywords)
                    return tree.Scratch(name, found, (), None, span, counted)
                if found is not None and not keywords:
                    return tree.Scratch(name, found, extents(names, size), None, span)
                if found is not None:
                    raise names.refuse(call, ast.unparse(call), _COUNTED)
            case _:
                pass
        raise names.refuse(
            call, ast.unparse(call), "write the type and the size: vy.scratch(vy.f32, len(x))"
        )

    def _counted(
        self, call: ast.Call, limit: ast.Call, keywords: Sequence[ast.keyword]
    ) -> tree.Counted:
        """The length of scratch that a stage counts."""
        names = self._names
        match limit, keywords:
            case ast.Call(_, [most], ([] | [ast.keyword("start")]) as starts), [
                ast.keyword("count", value)
            ]:
                count = names.array(value)
                if count is not None:
                    found = [tree.limits_of(host_expr(names, each.value)) for each in starts]
                    start = found[0] if found else None
                    return tree.Counted(tree.limits_of(host_expr(names, most)), start, count)
            case _:
                pass
        raise names.refuse(call, ast.unparse(call), _COUNTED)

    def _arrays_of(self, call: ast.Call, count: int, form: str) -> list[tree.ArrayName]:
        found = [each for node in call.args if (each := self._names.array(node)) is not None]
        if len(found) != count or len(call.args) != count or call.keywords:
            raise self._names.refuse(call, ast.unparse(call), f"name the arrays: {form}")
        return found

    def _call(self, call: ast.Call, results: tuple[str, ...]) -> tree.Statement:
        names = self._names
        span = names.source.span(call)
        callee = names.captured(call.func)
        if callee is None:
            name = ast.unparse(call.func)
            what, instead = f"{name} on the host", "call a kernel, an operation or a pipeline"
            raise names.refuse(call, what, instead)
        meant = resolve(names.source, callee)
        if meant is language.copy:
            source, target = self._arrays_of(call, 2, "vy.copy(a, b)")
            return tree.Copy(source, target, span)
        if meant is language.keep:
            [kept] = self._arrays_of(call, 1, "vy.keep(t)")
            return tree.Keep(kept)
        if meant is not MISSING and not is_stage(meant):
            raise self._no_stage(call, callee, meant)
        return self._stage(call, callee, results)

    def _no_stage(self, call: ast.Call, callee: tree.Captured, meant: object) -> PlanError:
        if meant is print:
            what, instead = "print", "print the arrays after the call, or vy.print in a kernel"
            return self._names.refuse(call, what, instead)
        kind = type(meant).__name__
        found = f"a plain {kind}" if kind == "function" else f"a {kind}"
        instead = "decorate it with @vy.kernel or @vy.pipeline, or call it before the pipeline"
        if is_stage(getattr(meant, "__self__", None)):
            instead = (
                f"call it as {'.'.join(callee.path[:-1])}({', '.join(map(ast.unparse, call.args))})"
            )
        elif getattr(meant, "__module__", "").startswith("vyre."):
            instead = "use it in a kernel, and call that"
        return self._names.error(
            call, codes.NOT_A_STAGE, name=str(callee), found=found, instead=instead
        )

    def _stage(self, call: ast.Call, callee: tree.Captured, results: tuple[str, ...]) -> tree.Stage:
        names = self._names
        grid: tuple[tree.HostExpr, ...] | None = None
        elements: tuple[tree.HostExpr, ...] | None = None
        named: list[tuple[str, tree.Argument]] = []
        for keyword in call.keywords:
            if keyword.arg == "grid":
                grid = extents(names, keyword.value)
            elif keyword.arg == "elements":
                elements = extents(names, keyword.value)
            elif keyword.arg is None or keyword.arg in ("device", "deadline"):
                what = ast.unparse(keyword)
                raise names.refuse(call, what, "pass it to the call of the pipeline")
            else:
                named.append((keyword.arg, self._argument(keyword.value)))
        return tree.Stage(
            callee,
            tuple(self._argument(each) for each in call.args),
            tuple(named),
            grid,
            elements,
            results,
            names.source.span(call),
        )

    def _argument(self, node: ast.expr) -> tree.Argument:
        if isinstance(node, ast.Starred):
            raise self._names.refuse(node, "a starred argument", "write the arguments one by one")
        found = self._names.array(node)
        return host_expr(self._names, node) if found is None else found

    def _for(self, node: ast.For) -> tree.For:
        names = self._names
        match node:
            case ast.For(ast.Name(variable), ast.Call(ast.Name("range"), bounds, []), body, []):
                found = [host_expr(names, each) for each in bounds]
                if 1 <= len(found) <= 3:
                    start: tree.HostExpr = tree.Number(0)
                    step: tree.HostExpr = tree.Number(1)
                    if len(found) == 1:
                        [stop] = found
                    else:
                        start, stop = found[:2]
                        step = found[2] if len(found) == 3 else step
                    span = names.source.span(node)
                    return tree.For(variable, start, stop, step, self.body(body), span)
            case _:
                pass
        if node.orelse:
            raise names.refuse(node.orelse[0], "else after a loop", "write it after the loop")
        raise names.refuse(node, "this loop", "go through numbers: for step in range(n)")

    def _flag_of(self, test: ast.expr, form: object) -> ast.Call | None:
        """The call of `vy.again` or `vy.when` that a condition is."""
        if isinstance(test, ast.Call):
            callee = self._names.captured(test.func)
            if callee is not None and resolve(self._names.source, callee) is form:
                return test
        return None

    def _while(self, node: ast.While) -> tree.Again:
        names = self._names
        call = self._flag_of(node.test, language.again)
        if call is None or node.orelse:
            instead = "write while vy.again(flag, most=n), or for step in range(n)"
            raise names.refuse(node, "this loop", instead)
        flag = names.array(call.args[0]) if len(call.args) == 1 else None
        most = [each.value for each in call.keywords if each.arg == "most"]
        if flag is None or len(most) != 1 or len(call.keywords) != 1:
            what = ast.unparse(call)
            raise names.refuse(call, what, "name a flag and a limit: vy.again(flag, most=1000)")
        span = names.source.span(call)
        return tree.Again(flag, host_expr(names, most[0]), self.body(node.body), span)

    def _if(self, node: ast.If) -> tree.If | tree.When:
        names = self._names
        then, otherwise = self.body(node.body), self.body(node.orelse)
        span = names.source.span(node.test)
        call = self._flag_of(node.test, language.when)
        if call is None:
            return tree.If(host_expr(names, node.test), then, otherwise, span)
        [flag] = self._arrays_of(call, 1, "if vy.when(flag)")
        return tree.When(flag, then, otherwise, span)

    def _return(self, node: ast.Return, is_last: bool) -> tree.Return:
        names = self._names
        if not is_last:
            instead = "write it as the last statement; put what it skips under an if"
            raise names.refuse(node, "return before the end", instead)
        value = node.value
        parts = value.elts if isinstance(value, ast.Tuple) else [] if value is None else [value]
        found: list[tree.ArrayName] = []
        for part in parts:
            array = names.array(part)
            if array is None:
                raise names.error(part, codes.RETURNED, what=f"the value {ast.unparse(part)}")
            if array.name in self._parameters:
                what = f"the argument {array.name!r}, which its caller has"
                raise names.error(part, codes.RETURNED, what=what)
            found.append(array)
        return tree.Return(tuple(found), isinstance(value, ast.Tuple), names.source.span(node))


_COUNTED = (
    "write an upper limit and name the scratch that counts: "
    "vy.scratch(vy.u32, vy.at_most(n, start=m), count=c)"
)
_WHAT_THERE_IS = (
    "a pipeline has scratch, calls of kernels, for over range, while vy.again, if, assignments to "
    "names, and return"
)
