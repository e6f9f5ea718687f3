"""Early returns as branches: at any number of them, within what may nest."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from vyre.backends.llvm.passes.structure_returns import StructureReturns
from vyre.check import check
from vyre.ir import Program
from vyre.rewrite.unique_names import with_unique_names

HEAD = "program workgroup(64, 1, 1)\nbuffer out: read_write u32[] @0\n"


def chain(guards: int) -> Program:
    """Guards one after the other; invocation k returns at the k-th."""
    lines = [f"if gid.x == {k}u32 {{ out[gid.x] = {k + 100}u32 return }}" for k in range(guards)]
    return Program.parse("\n".join((HEAD, *lines, "out[gid.x] = 7u32\n")))


@pytest.mark.parametrize("guards", [1, 40, 63, 64, 90])
def test_guards_nest_only_as_deep_as_programs_may(guards: int) -> None:
    program = with_unique_names(chain(guards))
    after = StructureReturns().apply(program).program
    assert (after is program) == (guards > 63)
    assert not list(check(after))


@pytest.mark.parametrize("guards", [3, 90])
def test_long_chains_of_guards_run(guards: int) -> None:
    outputs = vy.run(chain(guards), {"out": np.zeros(128, np.uint32)}, device="cpu")
    wanted = [k + 100 if k < guards else 7 for k in range(128)]
    assert outputs["out"].tolist() == wanted
