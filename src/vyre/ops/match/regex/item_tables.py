"""Position automata as flat arrays, for the subset construction.

An item is a position with the kinds of byte that may stand behind the boundary in front of it, as
bits. For each position and each kind of byte that it may consume, the row of items that follow is
resolved beforehand, so that a step of the construction is a gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from vyre.ops.match.regex.boundaries import ALWAYS, ANY_KIND, KINDS, kind_of_bytes, kinds_after
from vyre.ops.match.regex.byte_classes import byte_classes, membership
from vyre.ops.match.regex.dfa import kind_of_symbols
from vyre.ops.match.regex.positions import Edge, PositionAutomaton
from vyre.record import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Items:
    """One automaton; items and positions are numbered from zero."""

    items: list[tuple[int, int]]
    rows: list[list[int]]
    """By position and kind; the start comes last."""
    classes: NDArray[np.uint8]
    kinds: list[int]
    """By symbol."""
    accepts: NDArray[np.bool_]
    """Position × symbol."""


def _items_of(automaton: PositionAutomaton) -> _Items:
    numbers: dict[tuple[int, int], int] = {}
    rows: list[list[int]] = []
    kinds = range(KINDS) if automaton.has_assertions else range(1)
    for edges in (*automaton.follow, automaton.first):
        if all(relation == ALWAYS for _, relation in edges):
            rows += [_row(automaton, edges, 0, numbers)] * len(kinds)
        else:
            rows += [_row(automaton, edges, kind, numbers) for kind in kinds]
    classes = byte_classes(automaton.sets, automaton.has_assertions)
    symbols = kind_of_symbols(classes, kind_of_bytes())
    return _Items(list(numbers), rows, classes, symbols, _accepts(automaton, classes))


def _row(
    automaton: PositionAutomaton,
    edges: Sequence[Edge],
    kind: int,
    numbers: dict[tuple[int, int], int],
) -> list[int]:
    """The items of edges behind a byte of this kind, in order, as numbers."""
    row: dict[int, None] = {}
    for position, relation in edges:
        allowed = kinds_after(relation, kind)
        if allowed:
            row[numbers.setdefault((position, allowed), len(numbers))] = None
            if automaton.is_ordered and position == automaton.end and allowed == ANY_KIND:
                break
    return list(row)


def _accepts(automaton: PositionAutomaton, classes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    count = int(classes.max()) + 1
    _, first = np.unique(classes, return_index=True)
    accepts = np.zeros((len(automaton.sets) + 1, count + 2), np.bool_)
    if automaton.sets:
        distinct = {bits: number for number, bits in enumerate(dict.fromkeys(automaton.sets))}
        by_class = membership(distinct)[:, first]
        rows = by_class[[distinct[bits] for bits in automaton.sets]]
        accepts[:-1, :count] = rows
        accepts[:-1, count] = rows[:, int(classes[ord("\n")])]
    return accepts


@dataclass(frozen=True, slots=True)
class ItemTables:
    """Automata side by side; positions, items and rows are numbered through all of them."""

    item_position: Ints
    item_kinds: Ints
    item_is_end: NDArray[np.bool_]
    first_row: Ints
    """By position: its row of `follow` for the first kind."""
    by_kind: Ints
    """By automaton: 1 if rows are by kind, 0 if one row serves all kinds."""
    follow: Ints
    follow_start: Ints
    """Rows of `follow`, as offsets."""
    accepts: NDArray[np.bool_]
    kinds: Ints
    """Automaton × symbol."""
    widths: Ints
    """The number of symbols of each automaton."""
    classes: tuple[NDArray[np.uint8], ...]
    start_rows: Ints
    """By automaton: the row of its start for the first kind."""


def item_tables(automata: Sequence[PositionAutomaton]) -> ItemTables:
    """The tables of several automata."""
    prepared = [_items_of(automaton) for automaton in automata]
    item_base = _offsets([len(one.items) for one in prepared])
    row_base = _offsets([len(one.rows) for one in prepared])
    position_base = _offsets([len(one.accepts) for one in prepared])
    item_position: list[int] = []
    item_is_end: list[bool] = []
    first_row: list[int] = []
    follow: list[list[int]] = []
    start_rows: list[int] = []
    for number, (automaton, one) in enumerate(zip(automata, prepared, strict=True)):
        stride = KINDS if automaton.has_assertions else 1
        item_position += [int(position_base[number]) + position for position, _ in one.items]
        item_is_end += [position == automaton.end for position, _ in one.items]
        first_row += [int(row_base[number]) + stride * n for n in range(len(one.accepts))]
        start_rows.append(first_row[-1])
        base = int(item_base[number])
        follow += [[base + item for item in row] for row in one.rows]
    width = max(len(one.kinds) for one in prepared)
    return ItemTables(
        np.array(item_position, np.int64),
        np.array([kinds for one in prepared for _, kinds in one.items], np.int64),
        np.array(item_is_end, np.bool_),
        np.array(first_row, np.int64),
        np.array([automaton.has_assertions for automaton in automata], np.int64),
        np.fromiter(chain.from_iterable(follow), np.int64),
        _offsets([len(row) for row in follow]),
        np.concatenate([_widened(one.accepts, width) for one in prepared]),
        np.array([one.kinds + [0] * (width - len(one.kinds)) for one in prepared], np.int64),
        np.array([len(one.kinds) for one in prepared], np.int64),
        tuple(one.classes for one in prepared),
        np.array(start_rows, np.int64),
    )


def _offsets(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _widened(rows: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
