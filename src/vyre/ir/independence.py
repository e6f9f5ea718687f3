"""Which invocations are independent: no barriers, atomics, subgroups or collective copies."""

from __future__ import annotations

from vyre.ir.expr import Atomic, Ballot, Shuffle, SubgroupReduce
from vyre.ir.stmt import (
    Assign,
    Block,
    Body,
    Break,
    Continue,
    If,
    Let,
    Loop,
    Region,
    Return,
    Store,
    While,
)
from vyre.ir.walk import walk_all_exprs, walk_stmts

_QUIET = (Let, Assign, Store, If, Loop, While, Break, Continue, Return, Block, Region)
_TALKING = (Atomic, Ballot, Shuffle, SubgroupReduce)


def are_apart(body: Body) -> bool:
    """Whether invocations neither wait for each other, nor talk, trap, print or copy together."""
    if not all(isinstance(statement, _QUIET) for statement in walk_stmts(body)):
        return False
    return not any(isinstance(node, _TALKING) for node in walk_all_exprs(body))


__all__ = ["are_apart"]
