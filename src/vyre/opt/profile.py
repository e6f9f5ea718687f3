"""Profiles: which passes a build wants at all. Selection then decides by program and evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.opt.metadata import CostModelFamily, PassMetadata, PassPhase
from vyre.signals import is_from_handler


class OptimizerProfile(StrEnum):
    """What the result is for."""

    RELEASE = "release"
    """Everything that keeps the host's view of the program."""
    DEBUG = "debug"
    """Values and branches only: loops, memory, barriers and regions stay as they were written."""
    DATAFLOW = "dataflow"
    """Values and memory traffic; loops and kernels keep their shape."""
    MEGAKERNEL = "megakernel"
    """Everything, whatever it takes: for programs joined from many."""
    OFF = "off"
    """Nothing."""

    def accepts(self, metadata: PassMetadata) -> bool:
        """Whether a pass belongs to this profile."""
        if not metadata.preserves_abi and self is not OptimizerProfile.MEGAKERNEL:
            return False
        if self is OptimizerProfile.DEBUG and metadata.phase not in _DEBUG_PHASES:
            return False
        return metadata.cost_model_family in _FAMILIES[self]

    @classmethod
    def parse(cls, name: str) -> Self:
        """The profile of this name."""
        try:
            return cls(name)
        except ValueError as problem:
            if is_from_handler(problem):
                raise
            known = ", ".join(profile.value for profile in cls)
            raise OptimizerError(codes.UNKNOWN_PROFILE.at(name=name, known=known)) from None


_DEBUG_PHASES = (PassPhase.SCALAR_ALGEBRA, PassPhase.DATAFLOW, PassPhase.CONTROL_FLOW)
_F = CostModelFamily
_FAMILIES: dict[OptimizerProfile, frozenset[CostModelFamily]] = {
    OptimizerProfile.RELEASE: frozenset(_F),
    OptimizerProfile.DEBUG: frozenset({_F.SCALAR}),
    OptimizerProfile.DATAFLOW: frozenset({_F.SCALAR, _F.SYNC, _F.MEMORY, _F.DATAFLOW, _F.UNKNOWN}),
    OptimizerProfile.MEGAKERNEL: frozenset(_F),
    OptimizerProfile.OFF: frozenset(),
}
