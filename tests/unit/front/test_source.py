"""The lines of a function are found whatever stands in and after it."""

from __future__ import annotations

import inspect
import linecache
import textwrap

import pytest

import vyre as vy
from vyre.front.source import Source

FUNCTIONS = {
    "comment at the margin": """
        def f(x):
            y = x
        # not indented
            return y
        z = 1
        """,
    "text at the margin": '''
        def f(x):
            y = x
            """
        text
        def g(): pass
        """
        z = 1
        ''',
    "bracket at the margin": """
        def f(x):
            return (x,
        x)
        z = 1
        """,
    "only an annotation after the code": """
        def f(x):
            y = x
            z: (int,
        float)
        z = 1
        """,
    "inner function": """
        def f(x):
            def g(y):
                return (
                    y
                )
            pass

        z = 1
        """,
    "end of the file": """
        def f(x):
            return x
        """,
    "one line": """
        def f(x): return x
        z = 1
        """,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_what_the_tokens_say(name: str):
    text = textwrap.dedent(FUNCTIONS[name]).lstrip("\n")
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, object] = {}
    exec(compile(text, file, "exec"), space)
    function = space["f"]
    assert inspect.isfunction(function)
    found = Source(function)
    block = "".join(inspect.getblock(linecache.getlines(file)))
    assert compile(block, "", "exec").co_code  # what the tokens say is a whole function
    expected = len(block.splitlines())
    assert found.tree.body[-1].end_lineno is not None
    assert found.tree.body[-1].end_lineno <= expected
    assert "\n".join(found.lines).startswith(block.rstrip("\n"))


@vy.kernel(
    workgroup=(
        64,
        1,
    )
)
def long_decorator(
    x: vy.InOut[vy.u32],
):
    i = vy.gid()
    if i < len(x):
        x[i] = 7


def test_a_decorator_of_many_lines():
    source = long_decorator.source.source
    assert source.tree.name == "long_decorator"
    assert source.lines[0] == "@vy.kernel("
    assert source.lines[source.tree.body[-1].lineno].strip() == "x[i] = 7"
