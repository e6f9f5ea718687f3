"""Functions of subgroups by short names: `vy.subgroup.add` is `vy.subgroup_add`."""

from __future__ import annotations

from vyre.front.intrinsics import subgroup_add as add
from vyre.front.intrinsics import subgroup_and as and_
from vyre.front.intrinsics import subgroup_ballot as ballot
from vyre.front.intrinsics import subgroup_lane as lane
from vyre.front.intrinsics import subgroup_max as max
from vyre.front.intrinsics import subgroup_min as min
from vyre.front.intrinsics import subgroup_mul as mul
from vyre.front.intrinsics import subgroup_or as or_
from vyre.front.intrinsics import subgroup_shuffle as shuffle
from vyre.front.intrinsics import subgroup_size as size
from vyre.front.intrinsics import subgroup_xor as xor

__all__ = [
    "add",
    "and_",
    "ballot",
    "lane",
    "max",
    "min",
    "mul",
    "or_",
    "shuffle",
    "size",
    "xor",
]
