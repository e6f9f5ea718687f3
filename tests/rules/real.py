"""Fast-math rules as statements about real numbers, where they must hold exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from vyre.ir import BinOp, UnOp, literal
from vyre.rewrite.term import Term, TermKind

Formula = Any


def refutation(left: Term, right: Term, when: Term | None) -> Formula:
    """What would have to be true for the rule to be wrong."""
    env = {hole.name: z3.Real(hole.name) for hole in left.holes()}
    facts: list[Formula] = []
    differ = _encode(left, env, facts) != _encode(right, env, facts)
    if when is not None:
        facts.append(_encode(when, env, facts))
    return z3.And(*facts, differ)


def satisfiable(when: Term) -> bool:
    """Whether the guard can hold."""
    env = {hole.name: z3.Real(hole.name) for hole in when.holes()}
    solver = z3.Solver()
    solver.add(_encode(when, env, []))
    return solver.check() == z3.sat


def _encode(term: Term, env: Mapping[str, Formula], facts: list[Formula]) -> Formula:
    args = [_encode(arg, env, facts) for arg in term.args]
    match term.kind, term.op:
        case TermKind.HOLE, _:
            return env[term.name]
        case TermKind.LITERAL, _:
            return z3.RealVal(literal.decode(term.bits, term.dtype))
        case TermKind.FMA, _:
            return args[0] * args[1] + args[2]
        case _, UnOp.NEG:
            return -args[0]
        case _, UnOp.SQRT:
            # The root is the number that is not negative and whose square is the operand.
            root = z3.Real(f"root{len(facts)}")
            facts.extend((root >= 0, z3.Implies(args[0] >= 0, root * root == args[0])))
            return root
        case _, BinOp.ADD:
            return args[0] + args[1]
        case _, BinOp.SUB:
            return args[0] - args[1]
        case _, BinOp.MUL:
            return args[0] * args[1]
        case _, BinOp.DIV:
            return args[0] / args[1]
        case _, BinOp.NE:
            return args[0] != args[1]
        case _, BinOp.GE:
            return args[0] >= args[1]
        case _:
            raise NotImplementedError(term)
