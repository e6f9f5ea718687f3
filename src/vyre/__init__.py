"""vyre: compute kernels in Python, checked, optimised, and run on whatever device is there."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from vyre.config import vyre_version
from vyre.diagnostics import VyreError
from vyre.ir import late_binding as _late

if TYPE_CHECKING:
    from vyre.front import group, math, subgroup
    from vyre.front.device_functions import func
    from vyre.front.intrinsics import (
        add_sat,
        async_load,
        async_store,
        async_wait,
        barrier,
        bitcast,
        byte_swap,
        clz,
        ctz,
        gid,
        grid_sync,
        group_size,
        lid,
        local,
        mul_hi,
        num_groups,
        popcount,
        print,
        reverse_bits,
        rotl,
        rotr,
        select,
        shared,
        sub_sat,
        subgroup_add,
        subgroup_and,
        subgroup_ballot,
        subgroup_lane,
        subgroup_max,
        subgroup_min,
        subgroup_mul,
        subgroup_or,
        subgroup_shuffle,
        subgroup_size,
        subgroup_xor,
        wid,
    )
    from vyre.front.parameters import In, InOut, Out, generic, static
    from vyre.front.scalars import (
        bf16,
        bool_,
        f16,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        u8,
        u16,
        u32,
        u64,
    )
    from vyre.ir import Program
    from vyre.pipelines.language import (
        Array,
        again,
        at_most,
        copy,
        flag,
        keep,
        scratch,
        scratch_like,
        when,
    )
    from vyre.pipelines.pipeline import Pipeline, pipeline
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.compiling import compile
    from vyre.runtime.device_array import DeviceArray, array, zeros
    from vyre.runtime.device_list import devices
    from vyre.runtime.kernel import Kernel, kernel
    from vyre.runtime.run import run
    from vyre.runtime.telemetry import profile

_late.bind(
    to_text="vyre.text:to_text",
    parse="vyre.text:parse",
    statement_line="vyre.text:statement_line",
    expr_text="vyre.text:expr_text",
    to_wire="vyre.wire:to_wire",
    from_wire="vyre.wire:from_wire",
    digest="vyre.wire:digest",
    check="vyre.check:check",
    validate="vyre.check:validate",
    execute_reference="vyre.backends.reference.execute:execute",
    run_graph="vyre.runtime.graphs:run_graph",
    compare_outputs="vyre.conform.compare:compare_outputs",
    cached_note="vyre.runtime.translation_store:note",
    store_note="vyre.runtime.translation_store:keep_note",
    cached_program="vyre.runtime.translation_store:program",
    store_program="vyre.runtime.translation_store:keep_program",
    tolerance="vyre.conform.compare:Tolerance",
)

_HOMES = {
    "vyre.front.device_functions": "func",
    "vyre.front.intrinsics": (
        "add_sat async_load async_store async_wait barrier bitcast byte_swap clz ctz gid "
        "grid_sync group_size lid local mul_hi "
        "num_groups popcount print reverse_bits rotl rotr select shared sub_sat subgroup_add "
        "subgroup_and subgroup_ballot subgroup_lane subgroup_max subgroup_min subgroup_mul "
        "subgroup_or subgroup_shuffle subgroup_size subgroup_xor wid"
    ),
    "vyre.front.parameters": "In InOut Out generic static",
    "vyre.front.scalars": "bf16 bool_ f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64",
    "vyre.ir": "Program",
    "vyre.pipelines.language": "Array again at_most copy flag keep scratch scratch_like when",
    "vyre.pipelines.pipeline": "Pipeline pipeline",
    "vyre.runtime.compiled": "CompiledProgram",
    "vyre.runtime.compiling": "compile",
    "vyre.runtime.device_array": "DeviceArray array zeros",
    "vyre.runtime.device_list": "devices",
    "vyre.runtime.kernel": "Kernel kernel",
    "vyre.runtime.run": "run",
    "vyre.runtime.telemetry": "profile",
}
"""Where public names are defined; a module is loaded when one of its names is first used."""

_PARTS = ("analysis", "backends", "conform", "diagnostics", "ir", "opt", "plan", "target")
"""Packages that people use by `vyre.NAME`, without importing them first."""

_NAMESPACES = ("group", "math", "subgroup")
"""Modules of functions that kernels call, `vyre.NAME.function`."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        value = importlib.import_module(f"vyre.front.{name}")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    elif name in _PARTS:
        value = importlib.import_module(f"vyre.{name}")
    else:
        raise AttributeError(f"module 'vyre' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Array",
    "CompiledProgram",
    "DeviceArray",
    "In",
    "InOut",
    "Kernel",
    "Out",
    "Pipeline",
    "Program",
    "VyreError",
    "add_sat",
    "again",
    "array",
    "async_load",
    "async_store",
    "async_wait",
    "at_most",
    "barrier",
    "bf16",
    "bitcast",
    "bool_",
    "byte_swap",
    "clz",
    "compile",
    "copy",
    "ctz",
    "devices",
    "f16",
    "f32",
    "f64",
    "flag",
    "func",
    "generic",
    "gid",
    "grid_sync",
    "group",
    "group_size",
    "i8",
    "i16",
    "i32",
    "i64",
    "keep",
    "kernel",
    "lid",
    "local",
    "math",
    "mul_hi",
    "num_groups",
    "pipeline",
    "popcount",
    "print",
    "profile",
    "reverse_bits",
    "rotl",
    "rotr",
    "run",
    "scratch",
    "scratch_like",
    "select",
    "shared",
    "static",
    "sub_sat",
    "subgroup",
    "subgroup_add",
    "subgroup_and",
    "subgroup_ballot",
    "subgroup_lane",
    "subgroup_max",
    "subgroup_min",
    "subgroup_mul",
    "subgroup_or",
    "subgroup_shuffle",
    "subgroup_size",
    "subgroup_xor",
    "u8",
    "u16",
    "u32",
    "u64",
    "when",
    "wid",
    "zeros",
]
__version__ = vyre_version()
