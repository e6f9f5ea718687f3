"""Functions that lower layers declare and higher layers implement."""

from __future__ import annotations

import inspect

import pytest

import vyre
from vyre.ir import late_binding

KINDS = inspect.Parameter


@pytest.mark.parametrize("name", sorted(late_binding.declared))
def test_the_implementation_takes_what_the_declaration_says(name: str) -> None:
    declaration = inspect.signature(late_binding.declared[name])
    by_position = [
        each
        for each in declaration.parameters.values()
        if each.kind in (KINDS.POSITIONAL_OR_KEYWORD, KINDS.VAR_POSITIONAL)
    ]
    by_name = [
        each.name for each in declaration.parameters.values() if each.kind is KINDS.KEYWORD_ONLY
    ]
    implementation = inspect.signature(late_binding.implementation(name))
    implementation.bind(*by_position, **dict.fromkeys(by_name))


def test_a_declaration_calls_its_implementation() -> None:
    before = vyre.Program.parse("program workgroup(1, 1, 1)\n")
    assert late_binding.to_text(before) == str(before)


def test_a_declaration_that_is_bound_anew_calls_the_new_one() -> None:
    def declaration(value: int) -> int: ...

    declaration = late_binding.late(declaration)
    try:
        late_binding.bind(declaration="builtins:abs")
        assert declaration(-3) == 3
        late_binding.bind(declaration="builtins:bool")
        assert declaration(-3) is True
    finally:
        del late_binding.declared["declaration"]
