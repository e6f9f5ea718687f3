"""Bugs at the seams, each planted by itself: in the split, in its launches, and in fusing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

from tests.conform.plants import Wrapped
from vyre.conform.fuzz import checks
from vyre.conform.fuzz.split_reference import split_reference
from vyre.driver import sequence
from vyre.driver.grid_sync import lowering, outline
from vyre.ir import Assign, Expr, Node, Program
from vyre.plan import arms, hazards, returns
from vyre.plan.hazards import Separation
from vyre.rewrite import unique_names

# Their packages have functions of the same names.
split = import_module("vyre.driver.grid_sync.split")
fuse = import_module("vyre.plan.fuse")
_CLEAR = split.Clear

SEAMS, LISTS = ("seams", "split"), ("lists", "lists@reference")
"""A mixture of programs, and the check that must see it."""


@dataclass(frozen=True)
class SeamPlant:
    """One bug, and where to look for it."""

    name: str
    planted: Callable[[], AbstractContextManager[Any]]
    where: tuple[str, str]


def _instead(owner: object, name: str, wrong: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, wrong)


# --- the split ---------------------------------------------------------------------------------


def _kept_between_segments_only(self: Any, uses: Any) -> Any:
    """Forgets that a loop launches a segment again."""
    found = _KEPT(self, uses)
    for name in self.locals:
        if sum(name in use.buffers for use in uses) < 2:
            found.pop(name, None)
    return found


_KEPT = split._Splitter.kept


def _nothing_kept_when_left(self: Any, how: int) -> Any:
    self.declare_shared("vyre.sync.exit")
    signal = Node.eval(Expr.atomic_or("vyre.sync.exit", 0, Expr.u32(how)))
    return Node.block([signal, Node.return_()])


def _only_a_sync(statement: Any) -> Iterator[Any]:
    yield outline.Sync()


def _whole_memory(self: Any, step: Any) -> None:
    source, target = self.argument(step.source).memory, self.argument(step.destination).memory
    size = min(source.nbytes, target.nbytes)
    self.steps.append(sequence.Copy(sequence.Place(source), sequence.Place(target), size))


def _first_come(self: Any, name: str) -> str:
    """Every variable keeps its name, even if another has it too."""
    return name


def _dirty_workgroup_memory(program: Program) -> Program:
    """As on a device that does not zero it again for the next segment."""
    shared = [decl for decl in program.buffers if decl.is_workgroup]
    if not shared or not program.entry:
        return program
    lane = Expr.local_id(0)
    value = {"bool": Expr.bool_(True)}
    dirt = [
        Node.store(d.name, lane, value.get(str(d.element)) or Expr.lit(1, d.element.value_type))
        for d in shared
    ]
    return program.with_rewritten_entry([*dirt, Node.barrier(), *program.entry])


@contextmanager
def _memory_not_zeroed() -> Iterator[None]:
    made = split_reference

    def wrapped() -> Wrapped:
        return Wrapped(made(), _dirty_workgroup_memory)

    with patch.object(checks, "split_reference", wrapped):
        yield


# --- fusing ------------------------------------------------------------------------------------


def _no_write_after_write(name: str, one: Any, two: Any) -> str | None:
    kind = _KIND(name, one, two)
    return None if kind == "write after write" else kind


def _no_write_after_read(name: str, one: Any, two: Any) -> str | None:
    kind = _KIND(name, one, two)
    return None if kind == "write after read" else kind


_KIND = hazards._kind


def _barrier_is_enough(*arguments: Any, **options: Any) -> Any:
    found = _HAZARDS(*arguments, **options)
    return [h.__class__(h.buffer, h.kind, min(h.separation, Separation.BARRIER)) for h in found]


_HAZARDS = hazards.hazards


def _wanted_name(self: Any, wanted: str) -> str:
    """Whatever is wanted, although something else has it; a kernel twice has one name."""
    return re.sub(r"\.\d+\.", ".", arms._NOT_IN_NAMES.sub("_", wanted))


def _never_over(self: Any, remember: bool) -> tuple[Assign, ...]:
    self.remembers |= remember
    return ()


PLANTS = (
    SeamPlant(
        "split: a private array begins anew in every iteration",
        _instead(split._Splitter, "kept", _kept_between_segments_only),
        SEAMS,
    ),
    SeamPlant(
        "split: what an iteration that is left has written is lost",
        _instead(split._Emitter, "leaving", _nothing_kept_when_left),
        SEAMS,
    ),
    SeamPlant(
        "split: returned invocations come back",
        _instead(split._Splitter, "must_remember_returns", lambda self, steps: False),
        SEAMS,
    ),
    SeamPlant("split: a collective is dropped", _instead(outline, "_event", _only_a_sync), SEAMS),
    SeamPlant(
        "split: namesakes share a variable",
        _instead(unique_names._Renamer, "fresh", _first_come),
        SEAMS,
    ),
    SeamPlant(
        "launch: a collective copies all of the memory",
        _instead(lowering._Lowering, "copy", _whole_memory),
        SEAMS,
    ),
    SeamPlant("device: workgroup memory is not zeroed after a sync", _memory_not_zeroed, SEAMS),
    SeamPlant(
        "split: a loop takes workgroup memory away",
        _instead(split, "outliving", lambda program, items: frozenset()),
        SEAMS,
    ),
    SeamPlant(
        "launch: a sync does not take workgroup memory away that is kept for a loop",
        _instead(split, "Clear", lambda buffers: _CLEAR(())),
        SEAMS,
    ),
    SeamPlant(
        "fuse: write after write is no hazard",
        _instead(hazards, "_kind", _no_write_after_write),
        LISTS,
    ),
    SeamPlant(
        "fuse: write after read is no hazard",
        _instead(hazards, "_kind", _no_write_after_read),
        LISTS,
    ),
    SeamPlant(
        "fuse: a workgroup barrier for the grid's",
        _instead(fuse, "hazards", _barrier_is_enough),
        LISTS,
    ),
    SeamPlant(
        "fuse: the output of a later arm is not cleared",
        _instead(fuse, "with_clearing", lambda found, buffers, fresh: list(found)),
        LISTS,
    ),
    SeamPlant(
        "fuse: a variable keeps the name of a buffer",
        _instead(arms, "rename_body", lambda body, changes: body),
        LISTS,
    ),
    SeamPlant("fuse: names collide", _instead(arms.FreshNames, "like", _wanted_name), LISTS),
    SeamPlant(
        "fuse: a return in a loop does not end its arm",
        _instead(returns._Lowering, "note", _never_over),
        LISTS,
    ),
)
