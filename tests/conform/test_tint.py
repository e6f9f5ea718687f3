"""The shaders of the conformance suite and of random programs are WGSL to Tint, too.

Tint is the compiler of Chromium, and stricter than the one of the drivers. It is asked at WebGPU's
default limits, about both texts of a shader: the one for small grids and buffers, and the general
one.
"""

from __future__ import annotations

import dataclasses

import pytest

from tests.unit.backends.wgsl import tint
from vyre import compiler
from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.shader import Shader
from vyre.backends.wgsl.subgroups import NATIVE
from vyre.backends.wgsl.targets import PORTABLE
from vyre.conform.fuzz import case_of
from vyre.conform.suite import AREAS
from vyre.diagnostics import CapabilityError, CheckError
from vyre.diagnostics.codes import check as codes
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.ir import Program
from vyre.target import Target

WITH_SUBGROUPS = dataclasses.replace(PORTABLE, details=(NATIVE,))
SEED = 8_200_000
"""Where random programs begin; the one with number 120 divides by a constant false."""


def shaders(program: Program, target: Target, profile: str | None) -> list[str]:
    """Every text that a program becomes; none if the target lacks what the program needs."""
    options = CompileOptions(profile, EmitOptions())
    try:
        made = compiler.compile_program(program, WgpuBackend(), target, options)
    except (CapabilityError, CheckError) as refused:
        if set(refused.codes) <= {codes.MISSING_FEATURE.code, codes.TARGET_LIMIT.code}:
            return []
        raise
    loaded = [Shader.from_bytes(artifact.payload) for artifact in made.artifacts]
    return [text for shader in loaded for text in dict.fromkeys((shader.text, shader.general))]


def refusals(name: str, texts: list[str]) -> list[str]:
    """What Tint says against some shaders of a program, with their texts."""
    found = ((tint.problems(text), text) for text in texts)
    return [f"{name}: {problem}\n{text}" for problem, text in found if problem is not None]


@pytest.mark.parametrize("area", [area for area in AREAS if area != "refusals"])
def test_the_suite_is_wgsl(area: str) -> None:
    targets = (PORTABLE, WITH_SUBGROUPS) if area == "subgroups" else (PORTABLE,)
    count = 0
    found: list[str] = []
    for target in targets:
        for trial in AREAS[area](target):
            texts = shaders(trial.program, target, None)
            found += refusals(trial.name, texts)
            count += len(texts)
    assert found[:3] == []
    assert count >= 30


@pytest.mark.parametrize(("start", "stop", "profile"), [(0, 60, "release"), (60, 150, None)])
def test_random_programs_are_wgsl(start: int, stop: int, profile: str | None) -> None:
    count = 0
    found: list[str] = []
    for number in range(start, stop):
        case = case_of(SEED + number, "webgpu")
        texts = shaders(case.program, WITH_SUBGROUPS if number % 2 else PORTABLE, profile)
        found += refusals(case.label, texts)
        count += len(texts)
    assert found[:3] == []
    assert count >= stop - start
