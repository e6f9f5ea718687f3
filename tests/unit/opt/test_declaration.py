"""Declaring, registering and finding passes."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from vyre.diagnostics import OptimizerError
from vyre.opt import (
    CostModelFamily,
    OptimizerProfile,
    Pass,
    PassBoundaryClass,
    PassMetadata,
    PassPhase,
    PassResult,
    pass_by_name,
    registered_passes,
    vyre_pass,
)
from vyre.opt.registry import load_entry_point


class Sound(Pass):
    """Does nothing. Legal always."""

    def transform(self, program, context):
        return PassResult(program)


class Silent(Pass):
    """Does nothing."""

    def transform(self, program, context):
        return PassResult(program)


class Lazy(Pass):
    """Does nothing. Legal always."""


class Stray:
    """Not a pass. Legal never."""


@pytest.mark.parametrize(
    ("cls", "given"),
    [
        (Sound, {"name": "Not Snake"}),
        (Stray, {"name": "stray"}),
        (Lazy, {"name": "lazy"}),
        (Silent, {"name": "silent"}),
        (Sound, {"name": "sound", "requires": ("a", "a")}),
        (Sound, {"name": "sound", "requires": "abc"}),
    ],
)
def test_wrong_declarations_are_refused_when_declared(cls, given) -> None:
    with pytest.raises(OptimizerError) as error:
        vyre_pass(phase=PassPhase.CLEANUP, **given)(cls)
    assert error.value.code == "O005"


def test_a_declaration_gives_metadata() -> None:
    made = vyre_pass(
        name="sound",
        phase=PassPhase.MEMORY,
        family=CostModelFamily.MEMORY,
        requires=("dce",),
        invalidates=("facts",),
        boundary=PassBoundaryClass.ABI_CHANGING,
    )(Sound)
    assert made.metadata == PassMetadata(
        name="sound",
        requires=("dce",),
        invalidates=("facts",),
        phase=PassPhase.MEMORY,
        boundary_class=PassBoundaryClass.ABI_CHANGING,
        requires_caps=(),
        preserves_abi=False,
        cost_model_family=CostModelFamily.MEMORY,
    )
    assert made.describe() == ("Does nothing.", "Legal always.")
    assert made() == made()


def test_every_registered_pass_says_what_it_does_and_when_it_is_legal() -> None:
    for each in registered_passes():
        does, legal = each.describe()
        assert does.endswith(".")
        assert legal.startswith("Legal ")


def test_no_registered_pass_changes_the_hosts_slots() -> None:
    assert all(each.metadata.preserves_abi for each in registered_passes())


def test_requirements_of_registered_passes_exist() -> None:
    names = {each.metadata.name for each in registered_passes()}
    assert all(set(each.metadata.requires) <= names for each in registered_passes())


def test_passes_are_found_by_name() -> None:
    assert pass_by_name("dce").metadata.name == "dce"
    with pytest.raises(OptimizerError, match="simplify") as error:
        pass_by_name("magic")
    assert error.value.code == "O006"


@pytest.mark.parametrize("value", ["math:pi", "no.such.module:X", "math:nothing", "vyre.opt:Pass"])
def test_an_entry_point_that_is_no_pass_is_refused(value) -> None:
    with pytest.raises(OptimizerError) as error:
        load_entry_point(EntryPoint("mine", value, "vyre.passes"))
    assert error.value.code == "O011"


def test_an_entry_point_that_is_a_pass_is_loaded() -> None:
    point = EntryPoint("mine", "vyre.opt.passes.dce:Dce", "vyre.passes")
    assert load_entry_point(point).metadata.name == "dce"


def test_profiles_are_found_by_name() -> None:
    assert OptimizerProfile.parse("release") is OptimizerProfile.RELEASE
    with pytest.raises(OptimizerError) as error:
        OptimizerProfile.parse("turbo")
    assert error.value.code == "O012"


def test_the_debug_profile_keeps_loops_memory_and_barriers() -> None:
    debug = {p.metadata.name for p in registered_passes() if _accepts(p, OptimizerProfile.DEBUG)}
    assert {"simplify", "propagate", "dce"} <= debug
    assert debug.isdisjoint({"unroll", "hoist_invariants", "promote_to_workgroup"})
    assert debug.isdisjoint({"coalesce_barriers", "inline_regions", "merge_regions"})


def _accepts(each: Pass, profile: OptimizerProfile) -> bool:
    return profile.accepts(each.metadata)
