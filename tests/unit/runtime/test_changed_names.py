"""What a kernel reads outside of itself is compared on every call, as Python looks names up."""

from __future__ import annotations

import linecache
import math
import threading
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, FrontError

_NUMBERS = count()
ONE = np.ones(1, np.float32)


def scope_of(source: str, **names: Any) -> dict[str, Any]:
    """The names that a piece of Python defines; they are its globals."""
    file = f"<names {next(_NUMBERS)}>"
    linecache.cache[file] = (0, None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"vy": vy, **names}
    exec(compile(source, file, "exec"), scope)
    return scope


def value_of(kernel: Any, *args: Any) -> float:
    """What a kernel stores, the same in its first and its repeated calls, and on the reference."""
    found = set()
    y = np.zeros(1, np.float32)
    for _ in range(4):
        kernel(ONE, y, *args, grid=1)
        found.add(float(y[0]))
    y[0] = 0
    kernel.reference(ONE, y, *args, grid=1)
    found.add(float(y[0]))
    assert len(found) == 1, found
    return found.pop()


KERNEL = """
@vy.kernel(workgroup=1)
def k(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    y[0] = {}
"""


def test_a_global_that_changes() -> None:
    names = scope_of(KERNEL.format("x[0] * N"), N=3.0)
    kernel = names["k"]
    assert value_of(kernel) == 3.0
    names["N"] = 4.0
    assert value_of(kernel) == 4.0
    names["N"] = 3.0
    assert value_of(kernel) == 3.0
    names["N"] = (5.0, 6.0)
    with pytest.raises(FrontError):
        value_of(kernel)
    del names["N"]
    with pytest.raises(FrontError) as caught:
        value_of(kernel)
    assert caught.value.codes == ("F011",)
    names["N"] = np.float32(7.0)
    assert value_of(kernel) == 7.0


def test_equal_values_that_are_not_the_same() -> None:
    source = KERNEL.format("vy.f32(x[0] + N)") + KERNEL.format(
        "vy.math.copysign(1.0, Z + x[0] * 0.0 if vy.math.isnan(x[0]) else vy.f32(Z))"
    ).replace("def k", "def z")
    names = scope_of(source, N=1, Z=0.0)
    assert value_of(names["k"]) == 2.0
    assert value_of(names["z"]) == 1.0
    names["Z"] = -0.0
    assert value_of(names["z"]) == -1.0
    names["N"] = True  # which is no number to add
    with pytest.raises(FrontError) as caught:
        value_of(names["k"])
    assert caught.value.codes == ("F024",)


def test_another_object_that_means_the_same_is_not_translated_again() -> None:
    names = scope_of(KERNEL.format("x[0] * N + T[1]"), N=300.5, T=(1.0, 2.0))
    kernel = names["k"]
    assert value_of(kernel) == 302.5
    before = kernel.program()
    names["N"], names["T"] = float("300.5"), (float("1"), float("2"))
    assert value_of(kernel) == 302.5
    assert kernel.program() is before


def test_a_variable_of_a_function_around_it() -> None:
    source = """
def made(n):
    @vy.func
    def scaled(v):
        return v * n

    @vy.kernel(workgroup=1)
    def k(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
        y[0] = scaled(x[0]) + n + later

    def change(value):
        nonlocal n
        n = value

    later = 100.0
    return k, change
"""
    kernel, change = scope_of(source)["made"](2.0)
    other, _ = scope_of(source)["made"](5.0)
    assert value_of(kernel) == 104.0
    assert value_of(other) == 110.0
    change(3.0)
    assert value_of(kernel) == 106.0
    assert value_of(other) == 110.0


def test_what_device_functions_read_in_their_own_module() -> None:
    inner = scope_of("@vy.func\ndef inner(v):\n    return v + DEEP\n", DEEP=1.0)
    outer = scope_of("@vy.func\ndef outer(v):\n    return inner(v) * N\n", N=2.0, **{})
    outer["inner"] = inner["inner"]
    names = scope_of(KERNEL.format("outer(x[0])"), outer=outer["outer"])
    kernel = names["k"]
    assert value_of(kernel) == 4.0
    inner["DEEP"] = 2.0
    assert value_of(kernel) == 6.0
    outer["N"] = 10.0
    assert value_of(kernel) == 30.0
    outer["inner"] = scope_of("@vy.func\ndef inner(v):\n    return v - 1.0\n")["inner"]
    assert value_of(kernel) == 0.0
    names["outer"] = scope_of("@vy.func\ndef outer(v):\n    return v * 9.0\n")["outer"]
    assert value_of(kernel) == 9.0


def test_defaults_of_device_functions() -> None:
    source = "@vy.func\ndef f(v, a=2.0, *, b=3.0):\n    return v * a + b\n"
    names = scope_of(source + KERNEL.format("f(x[0])"))
    kernel, function = names["k"], names["f"].function
    assert value_of(kernel) == 5.0
    function.__defaults__ = (4.0,)
    assert value_of(kernel) == 7.0
    function.__kwdefaults__["b"] = 5.0
    assert value_of(kernel) == 9.0
    function.__kwdefaults__ = {"b": 6.0}
    assert value_of(kernel) == 10.0


def test_attributes_of_modules_and_of_anything() -> None:
    module: Any = ModuleType("settings")
    module.N = 2.0
    space = SimpleNamespace(N=10.0)

    class Settings:
        N = 100.0

        @property
        def fresh(self) -> float:
            return float("1000")

    names = scope_of(
        KERNEL.format("x[0] * m.N + space.N + Settings.N + s.fresh"),
        m=module,
        space=space,
        Settings=Settings,
        s=Settings(),
    )
    kernel = names["k"]
    assert value_of(kernel) == 1112.0
    module.N = 3.0
    assert value_of(kernel) == 1113.0
    space.N = 20.0
    assert value_of(kernel) == 1123.0
    Settings.N = 200.0
    assert value_of(kernel) == 1223.0
    other: Any = ModuleType("settings")
    other.N = 4.0
    names["m"] = other
    assert value_of(kernel) == 1224.0


def test_a_name_that_hides_a_function_of_python() -> None:
    source = "@vy.func\ndef mine(v):\n    return v + 10.0\n" + KERNEL.format("abs(x[0] - 3.0)")
    names = scope_of(source)
    kernel = names["k"]
    assert value_of(kernel) == 2.0
    names["abs"] = names["mine"]
    assert value_of(kernel) == 8.0
    del names["abs"]
    assert value_of(kernel) == 2.0


def test_a_branch_that_another_value_leads_to() -> None:
    names = scope_of(KERNEL.format("A if FLAG else B"), FLAG=True, A=1.0, B=2.0)
    kernel = names["k"]
    assert value_of(kernel) == 1.0
    names["B"] = 3.0
    assert value_of(kernel) == 1.0
    names["FLAG"] = False
    assert value_of(kernel) == 3.0
    names["B"] = 4.0
    assert value_of(kernel) == 4.0


def test_a_kernel_that_was_translated_before() -> None:
    source = (
        "@vy.func\ndef f(v, a=2.0):\n    return v * a + N\n"
        + KERNEL.format("f(x[0])")
        + "second = vy.kernel(workgroup=1)(k.__wrapped__)\n"
    )
    names = scope_of(source, N=1.0)
    assert value_of(names["k"]) == 3.0
    kernel = names["second"]
    assert value_of(kernel) == 3.0
    names["N"] = 2.0
    assert value_of(kernel) == 4.0
    names["f"].function.__defaults__ = (3.0,)
    assert value_of(kernel) == 5.0


STATIC = """
@vy.kernel(workgroup=1)
def k(x: vy.In[vy.f32], y: vy.InOut[vy.f32], s: vy.static[float]):
    y[0] = vy.math.copysign(1.0, s * x[0]) if s == 0.0 else s
"""


def test_zeros_of_both_signs_are_two_static_values() -> None:
    kernel = scope_of(STATIC)["k"]
    for _ in range(2):
        assert value_of(kernel, 0.0) == 1.0
        assert value_of(kernel, -0.0) == -1.0
        assert value_of(kernel, np.float32(-0.0)) == -1.0
        assert value_of(kernel, 0) == 1.0
    assert kernel.program(s=0.0) is not kernel.program(s=-0.0)


def test_all_nans_are_one_static_value() -> None:
    kernel = scope_of(STATIC)["k"]
    y = np.zeros(1, np.float32)
    programs = {id(kernel.program(s=float("nan"))) for _ in range(3)}
    programs.add(id(kernel.program(s=-math.nan)))
    assert len(programs) == 1
    for _ in range(4):
        kernel(ONE, y, float("nan"), grid=1)
        assert math.isnan(y[0])


def test_static_values_of_other_types_are_refused() -> None:
    source = STATIC.replace("vy.static[float]", "vy.static[int]").replace("0.0", "0")
    kernel = scope_of(source)["k"]
    for value in (True, 1.0):
        with pytest.raises(ArgumentError):
            kernel.program(s=value)


def test_threads_that_change_and_call() -> None:
    names = scope_of(KERNEL.format("x[0] * N + x[0] * N"), N=1.0)
    kernel = names["k"]
    stop = threading.Event()
    odd: list[float] = []

    def call() -> None:
        y = np.zeros(1, np.float32)
        while not stop.is_set():
            kernel(ONE, y, grid=1)
            if float(y[0]) not in (2.0, 4.0):
                odd.append(float(y[0]))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        names["N"] = 1.0 + turn % 2
        stop.wait(0.005)
    stop.set()
    for thread in threads:
        thread.join()
    assert odd == []
    names["N"] = 3.0
    assert value_of(kernel) == 6.0
