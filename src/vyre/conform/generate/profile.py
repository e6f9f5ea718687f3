"""What kind of random programs to make."""

from __future__ import annotations

from dataclasses import replace

from vyre.ir import DataType
from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES
from vyre.record import dataclass

Size = tuple[int, int, int]

_SMALL_GRIDS: tuple[Size, ...] = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 3))
_WORKGROUPS: tuple[Size, ...] = (
    *((1, 1, 1), (7, 1, 1), (8, 1, 1), (32, 1, 1), (64, 1, 1), (33, 1, 1)),
    *((4, 4, 1), (3, 2, 2), (16, 2, 1), (1, 5, 1)),
)
_STORAGE = (
    *(DataType.BYTES, DataType.F8E4M3, DataType.F8E5M2, DataType.I4, DataType.FP4, DataType.NF4),
    *(DataType.VEC2_U32, DataType.VEC4_U32),
    *(DataType.vec(DataType.F32, 3), DataType.vec(DataType.I16, 2)),
)
_WORDS = (DataType.BOOL, DataType.U32, DataType.I32)


@dataclass(frozen=True, slots=True)
class Profile:
    """Which parts of the language programs use, and how large they are.

    Frequencies are weights: 0 means never, 10 as often as an ordinary statement.
    """

    name: str
    types: tuple[DataType, ...] = SCALAR_TYPES
    """The scalar types that values have."""
    storage: tuple[DataType, ...] = _STORAGE
    """What else buffers may hold: vectors and types that are converted by load and store."""
    statements: tuple[int, int] = (8, 24)
    """The least and the greatest number of statements, not counting those in bodies."""
    nesting: int = 3
    expr_depth: int = 4
    workgroups: tuple[Size, ...] = _WORKGROUPS
    grids: tuple[Size, ...] = _SMALL_GRIDS
    max_storage_buffers: int = 16
    tame_floats: bool = False
    """Whether floats are kept to multiples of a quarter that every device computes exactly."""
    transcendental: int = 3
    barriers: int = 5
    atomics: int = 5
    float_atomics: bool = True
    subgroups: int = 0
    grid_sync: int = 0
    async_copies: int = 3
    local_arrays: int = 4
    returns: int = 3
    hostile_indices: int = 2
    """How many of ten indices are made to miss their buffer."""

    @property
    def integers(self) -> tuple[DataType, ...]:
        """The integer types among the scalars."""
        return tuple(dtype for dtype in self.types if dtype.is_integer)


def _tiny(profile: Profile, name: str) -> Profile:
    return replace(
        profile,
        name=name,
        statements=(1, 4),
        nesting=1,
        expr_depth=2,
        workgroups=((1, 1, 1), (4, 1, 1), (8, 1, 1), (19, 1, 1), (3, 2, 1)),
        grids=((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1)),
    )


def _small(name: str, **more: int) -> Profile:
    return replace(
        _DEFAULT,
        name=name,
        statements=(2, 6),
        nesting=2,
        expr_depth=3,
        workgroups=((1, 1, 1), (4, 1, 1), (8, 1, 1), (3, 2, 1)),
        grids=((2, 1, 1), (3, 1, 1), (2, 2, 1)),
        **more,
    )


_DEFAULT = Profile("default")
_WEBGPU = replace(
    _DEFAULT,
    name="webgpu",
    types=(DataType.BOOL, *INTEGER_TYPES, DataType.F32),
    storage=(DataType.F16, DataType.BF16, DataType.BYTES, DataType.VEC2_U32, DataType.VEC4_U32),
    max_storage_buffers=8,
    tame_floats=True,
    transcendental=2,
)
_HOSTILE = replace(_DEFAULT, name="hostile_indices", hostile_indices=9, local_arrays=8, atomics=8)
_PRESETS = (
    _DEFAULT,
    _WEBGPU,
    _tiny(_DEFAULT, "tiny"),
    _tiny(_WEBGPU, "webgpu_tiny"),
    replace(
        _DEFAULT,
        name="integers",
        types=(DataType.BOOL, *INTEGER_TYPES),
        storage=(DataType.BYTES, DataType.I4, DataType.VEC2_U32, DataType.VEC4_U32),
        float_atomics=False,
        transcendental=0,
    ),
    replace(
        _DEFAULT,
        name="floats_exact",
        types=(*_WORDS, DataType.U64, DataType.F16, DataType.BF16, DataType.F32, DataType.F64),
        transcendental=0,
        atomics=1,
        barriers=1,
    ),
    replace(_DEFAULT, name="memory", local_arrays=10, async_copies=8, hostile_indices=4),
    replace(_DEFAULT, name="barriers", barriers=25, async_copies=8, atomics=8, returns=1),
    replace(_DEFAULT, name="atomics", atomics=30, barriers=8),
    replace(_DEFAULT, name="subgroups", subgroups=25, barriers=5, returns=1),
    replace(
        _DEFAULT,
        name="grid_sync",
        grid_sync=15,
        barriers=4,
        async_copies=1,
        returns=6,
        grids=(*_SMALL_GRIDS, (5, 1, 1)),
    ),
    replace(_DEFAULT, name="large", statements=(70, 140), nesting=5, expr_depth=5, subgroups=3),
    _HOSTILE,
    replace(_tiny(_HOSTILE, "tiny_hostile"), statements=(1, 3), transcendental=0),
    _small("small"),
    _small("small_barriers", barriers=25, async_copies=6, atomics=8, returns=1),
    _small("small_atomics", atomics=30, subgroups=8, returns=1),
    _small("small_memory", local_arrays=12, hostile_indices=5, barriers=2),
    _small("small_grid_sync", grid_sync=15, returns=5),
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in _PRESETS}
"""The profiles by name."""
