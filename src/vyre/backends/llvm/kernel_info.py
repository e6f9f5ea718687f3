"""Metadata of CPU artifacts: what a launch needs besides the object file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

from vyre.backends.llvm.abi import ABI_VERSION
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import BAD_ARTIFACT
from vyre.record import dataclass
from vyre.signals import is_from_handler


@dataclass(frozen=True, slots=True)
class BufferSlot:
    """One entry of the launch's buffer array."""

    name: str
    dtype: str
    """Name of the element type, such as `f32`."""
    element_bytes: int
    writable: bool


@dataclass(frozen=True, slots=True)
class PrintFormat:
    """One print statement: its text with a `{}` for each argument, and the arguments' types."""

    text: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """Everything about a compiled kernel except its code."""

    buffers: tuple[BufferSlot, ...]
    workgroup_size: tuple[int, int, int]
    scratch_bytes: int = 0
    stack_bytes: int = 0
    """Upper bound of the stack of a call; 0 if unknown, as for hand-written kernels."""
    trap_tags: tuple[str, ...] = ()
    prints: tuple[PrintFormat, ...] = ()
    polls: bool = False
    """True if loops of unknown trip count poll the stop flag."""
    divergent: bool = False
    """Workgroups may differ much in cost: claim work in smaller chunks."""
    group_cost_ns: int = 0
    """Estimated time of one workgroup; 0 if unknown."""
    keeps: bool = False
    """Threads have privatised reductions, and are called once more to combine them."""
    any_order: bool = False
    """No observable result depends on the order of workgroups."""
    proving: tuple[str, ...] = ()
    """Buffers whose contents prove that indices computed from them are in bounds."""
    pipeline: str = "standard"
    """How much effort LLVM spent."""

    @property
    def proving_places(self) -> tuple[int, ...]:
        """Positions of the proving buffers in `buffers`."""
        return tuple(k for k, slot in enumerate(self.buffers) if slot.name in self.proving)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as an artifact's metadata holds them."""
        return {"abi": ABI_VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave, after a trip through JSON; BackendError for anything else."""
        fields = dict(values)
        version = fields.pop("abi", None)
        if version != ABI_VERSION:
            raise BackendError(BAD_ARTIFACT.at(problem=f"its version is {version}"))
        try:
            x, y, z = fields.pop("workgroup_size")
            return cls(
                buffers=tuple(BufferSlot(**slot) for slot in fields.pop("buffers")),
                workgroup_size=(int(x), int(y), int(z)),
                trap_tags=tuple(fields.pop("trap_tags")),
                proving=tuple(fields.pop("proving")),
                prints=tuple(
                    PrintFormat(entry["text"], tuple(entry["arguments"]))
                    for entry in fields.pop("prints")
                ),
                **fields,
            )
        except (ValueError, KeyError, TypeError) as error:
            if is_from_handler(error):
                raise
            raise BackendError(
                BAD_ARTIFACT.at(problem=f"its metadata is wrong, {error}")
            ) from error
