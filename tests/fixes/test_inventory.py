"""No fix with code in it is without a case: neither one in the sources, nor one in a table."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from types import ModuleType

import numpy as np
import pytest

import vyre as vy
from tests.fixes.audit import repairs_of
from tests.fixes.cases import all_cases, execute, said_of, surroundings
from tests.fixes.code_in import code_in
from tests.fixes.inventory import HOLE, Inventory, Possible, inventory
from tests.fixes.repairs import default_device
from vyre.driver import registry
from vyre.front import advice
from vyre.front.scalars import BY_NUMPY_NAME

FORWARDED = {
    "D002": "what the device says of itself",
    "D005": "what to write for an array of another type, by the two types",
    "F026": "what the checker says of the types of a bitcast or of a reduction",
    "R013": "what to write for a group, by its kind",
    "T006": "what is wrong with a number, by its type",
    "T013": "what the constructor of a node says",
    "W009": "what the constructor of a node says",
    "X111": "how to guard a statement, as D009 says it",
}
"""Fixes that are taken over whole from elsewhere."""
KERNEL = "@vy.kernel\ndef k(x: vy.In[vy.{dtype}], y: vy.Out[vy.{result}]):\n    y[0] = {call}\n"


@lru_cache(maxsize=1)
def said() -> dict[str, set[str]]:
    """Everything that any case is told, by code."""
    found: dict[str, set[str]] = {}
    for case in all_cases().values():
        for diagnostic in case.said():
            found.setdefault(diagnostic.code, set()).add(diagnostic.fix)
    return found


def test_every_fix_with_code_in_the_sources_is_told_to_a_case() -> None:
    unseen = [
        possible.shown
        for possible in inventory()
        if possible.has_code and not any(map(possible.is_said_by, said().get(possible.code, ())))
    ]
    told = "add the program that is told this to more_refusals.txt, and its repair"
    assert unseen == [], told


def test_the_inventory_knows_the_sources() -> None:
    assert len(inventory()) > 400
    assert {one.code for one in inventory() if not one.text.strip(HOLE)} == set(FORWARDED)


def test_the_inventory_follows_tables_variables_callers_and_both_arms(tmp_path) -> None:
    (tmp_path / "sample.py").write_text(
        "from vyre.diagnostics.codes import front as codes\n"
        "TABLE = {'a': 'in a table: vy.f32', 'b': 'also there'}\n"
        "def table(key):\n"
        "    raise error(codes.STATEMENT, what=key, instead=TABLE[key])\n"
        "def arms(flag, name):\n"
        "    instead = f'one arm: {name}[i]' if flag else 'another arm'\n"
        "    raise error(codes.STATEMENT, what='x', instead=instead)\n"
        "def helper(form):\n"
        "    raise error(codes.CALL, name='f', problem='p', form=form)\n"
        "helper('passed(x)')\n"
        "def given():\n"
        "    return 'returned'\n"
        "def returned():\n"
        "    raise error(codes.UNKNOWN_NAME, name='n', fix=given())\n"
    )
    found = {(one.code, one.text) for one in Inventory(tmp_path).possible()}
    assert found == {
        ("F009", "in a table: vy.f32"),
        ("F009", "also there"),
        ("F009", f"one arm: {HOLE}[i]"),
        ("F009", "another arm"),
        ("F016", "write passed(x)"),
        ("F011", "returned"),
    }


def test_a_fix_with_holes_is_said_by_what_fills_them() -> None:
    possible = Possible("F009", f"write {HOLE}[i], or {HOLE}", "here")
    assert possible.has_code
    assert possible.is_said_by("write x[i], or nothing")
    assert not possible.is_said_by("write x[j], or nothing")


def test_what_other_languages_call_things_is_advised_and_repaired() -> None:
    repaired = {
        diagnostic.fix
        for case in all_cases().values()
        if repairs_of(case)
        for diagnostic in case.said()
    }
    for ours, names in advice._OTHER_NAMES.items():
        assert f"write {ours}" in repaired, ours
        for name in names.split():
            fix = advice.for_attribute("vy", name, dir(vy))
            assert fix == f"write {ours}", name


def test_what_numpy_knows_of_arrays_is_advised_and_repaired() -> None:
    told = {re.sub(r"\bx\b", "array", fix) for fix in said()["F017"]}
    for name, form in advice._OF_ARRAYS.items():
        parts = {"array": "array", "element": "array[i]", "loops": "loops"}
        fix = f"write {form.format(**parts)}"
        if code_in(fix):
            two = f"write {form.format(**parts | {'element': 'array[i, j]'})}"
            assert {fix, two} & told, name


def _calls(module: ModuleType, name: str) -> str | None:
    """A call of a function of numpy or `math` that kernels have under the same name or another."""
    ours = vars(vy.math).get(advice.NUMPY_NAMES.get(name, name))
    theirs = getattr(module, name, None)
    if not callable(ours) or not callable(theirs) or name.startswith("_") or name == "where":
        return None
    count = ours.__code__.co_argcount
    prefix = "np" if module is np else "math"
    return f"{prefix}.{name}({', '.join(f'x[{place}]' for place in range(count))})"


VALUES = (0.25, 0.75, 0.5)
FUNCTIONS = [
    (module, name)
    for module in (np, math)
    for name in [*vars(vy.math), *advice.NUMPY_NAMES]
    if _calls(module, name) is not None and (module, name) != (math, "fma")
]


@pytest.mark.parametrize(
    ("module", "name"), FUNCTIONS, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_function_that_is_advised_computes_what_the_refused_one_does(
    module: ModuleType, name: str
) -> None:
    call = _calls(module, name)
    assert call is not None
    (refused,) = said_of(KERNEL.format(dtype="f64", result="f64", call=call), f"{call}")
    assert refused.code == "F014"
    advised = refused.fix.removeprefix("write ").partition(", or ")[0]
    function, _, arguments = advised.partition("(")
    assert function.startswith("vy.math."), advised
    written = advised if arguments else f"{function}({call.partition('(')[2]}"
    expected = getattr(module, name)(*VALUES[: call.count("x[")])
    if isinstance(expected, (bool, np.bool_)):
        written = f"vy.f64({written})"
    names = surroundings()
    execute(KERNEL.format(dtype="f64", result="f64", call=written), f"repair of {call}", names)
    y = np.zeros(1)
    with default_device("reference"):
        names["k"](np.array(VALUES), y)
    assert math.isclose(y[0], expected, rel_tol=1e-12), (written, y[0], expected)


@pytest.mark.parametrize("name", BY_NUMPY_NAME)
def test_a_type_of_numpy_is_advised_as_the_type_of_kernels(name: str) -> None:
    ours = "bool_" if name == "bool" else str(BY_NUMPY_NAME[name])
    call = f"np.{name if name != 'bool' else 'bool_'}(x[0])"
    (refused,) = said_of(KERNEL.format(dtype="i32", result=ours, call=call), call)
    written = refused.fix.removeprefix("write ")
    names = surroundings()
    execute(KERNEL.format(dtype="i32", result=ours, call=written), f"repair of {call}", names)
    y = np.zeros(1, name)
    with default_device("reference"):
        names["k"](np.array([7], np.int32), y)
    assert y[0] == np.dtype(name).type(7)


def test_the_names_that_a_fix_lists_are_accepted() -> None:
    from vyre.conform.suite import AREAS
    from vyre.opt import OptimizerProfile, pass_by_name

    def listed(code: str) -> list[str]:
        (fix,) = said()[code]
        return re.sub(r" \([^)]*\)", "", re.split(r": ", fix)[-1]).split(", ")

    assert set(listed("D001")) <= {device.id for device in vy.devices()}
    assert {name.split(":")[0] for name in listed("D001")} <= set(registry.backend_names())
    assert [pass_by_name(name).metadata.name for name in listed("O006")] == listed("O006")
    assert [OptimizerProfile.parse(name).value for name in listed("O012")] == listed("O012")
    assert set(listed("D018")) == set(AREAS)
