"""Compiled patterns: the program, the DFAs of the whole pattern, and those of its pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vyre.ops.match.regex.dfa import Dfa
from vyre.ops.match.regex.factors import Bounds, Factor
from vyre.ops.match.regex.limits import MAX_STATES, MAX_WHOLE_STATES
from vyre.ops.match.regex.normal_form import simplified
from vyre.ops.match.regex.parse import Pattern, parse
from vyre.ops.match.regex.pieces import Piece, pieces_of
from vyre.ops.match.regex.positions import PositionAutomaton, position_automaton
from vyre.ops.match.regex.program import Program, compile_program, compile_reversed
from vyre.ops.match.regex.subset_construction import determinize
from vyre.ops.match.regex.syntax import lengths
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class CompiledPiece:
    """A piece with its anchor and the DFAs that verify it, one in each direction."""

    gap: Bounds
    anchor: Factor | None
    tail: Dfa | None
    """Forwards from the part that the anchor starts in; None if it has too many states."""
    head: Dfa | None
    """Backwards from there."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A compiled pattern. It needs no syntax tree: `encode` stores all of it."""

    text: str
    dialect: str
    names: tuple[str | None, ...]
    least: int
    """Length of the shortest match."""
    most: int | None
    """Length of the longest match; None is unbounded."""
    program: Program
    forward: Dfa | None
    """Leftmost-first ends from a given start; None if it has too many states."""
    backward: Dfa | None
    """Starts from a given end."""
    pieces: tuple[CompiledPiece, ...]


def compile(pattern: str | bytes, dialect: str = "go", most_states: int = MAX_STATES) -> Regex:
    """Compile one pattern."""
    return compile_all([pattern], dialect, most_states)[0]


def compile_all(
    patterns: Sequence[str | bytes], dialect: str = "go", most_states: int = MAX_STATES
) -> list[Regex]:
    """Compile patterns together, which is faster than one by one; the first refusal is raised."""
    return compile_parsed([parse(pattern, dialect) for pattern in patterns], most_states)


def compile_parsed(patterns: Sequence[Pattern], most_states: int = MAX_STATES) -> list[Regex]:
    """Compile patterns that were read before."""
    trees = [simplified(pattern.root) for pattern in patterns]
    pieces = [pieces_of(tree) for tree in trees]
    whole = _dfas(
        [
            automaton
            for tree in trees
            for automaton in (
                position_automaton(compile_program(tree)),
                position_automaton(compile_reversed(tree), ordered=False),
            )
        ],
        min(most_states, MAX_WHOLE_STATES),
    )
    parts = _dfas(
        [
            automaton
            for some in pieces
            for piece in some
            for automaton in (
                position_automaton(compile_program(piece.tail)),
                position_automaton(compile_reversed(piece.head), ordered=False),
            )
        ],
        most_states,
    )
    return [
        Regex(
            pattern.text,
            pattern.dialect,
            pattern.names,
            *lengths(tree),
            compile_program(tree, pattern.groups),
            next(whole),
            next(whole),
            tuple(_compiled(piece, next(parts), next(parts)) for piece in some),
        )
        for pattern, tree, some in zip(patterns, trees, pieces, strict=True)
    ]


def _dfas(automata: Sequence[PositionAutomaton | None], most_states: int) -> Iterator[Dfa | None]:
    built = iter(determinize([one for one in automata if one is not None], most_states))
    return iter([None if one is None else next(built) for one in automata])


def _compiled(piece: Piece, tail: Dfa | None, head: Dfa | None) -> CompiledPiece:
    return CompiledPiece(piece.gap, piece.anchor, tail, head)
