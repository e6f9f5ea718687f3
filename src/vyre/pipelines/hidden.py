"""Kernels that no one has written: small programs that a plan needs between stages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from vyre import ir
from vyre.diagnostics import Span
from vyre.front.capture_guards import Outside
from vyre.front.kernels import Specialisation, Translated
from vyre.front.parameters import ArrayParameter, Mode, Parameter
from vyre.front.source import Source
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.pipelines import tree
from vyre.pipelines.fused import GroupSource
from vyre.pipelines.stages import Site
from vyre.runtime.kernel import Kernel

_ONE = (1, 1, 1)


def hidden_kernel(program: Program, parameters: Mapping[str, Parameter]) -> Kernel[...]:
    """A kernel of a program that is called with these parameters, by position."""
    known: dict[object, Translated] = {Specialisation().key: Translated(program, Outside(()))}
    source = GroupSource(
        Source(_hidden), parameters, {}, program.workgroup_size, False, None, False, known
    )
    return Kernel(source, _hidden)


def _hidden() -> None:
    """The function that hidden kernels are said to have."""


def hidden_site(name: str, span: Span) -> Site:
    """Where a hidden launch stands: at the statement that needs it."""
    return Site(tree.Stage(tree.Captured((name,), span), (), (), None, None, (), span))


@lru_cache(maxsize=1)
def note_count() -> Kernel[...]:
    """`worst[0] = max(worst[0], count[0])`, before a count that was not read is overwritten."""
    u32, first = DataType.U32, Expr.u32(0)
    highest = Expr.max_(Expr.load("worst", first), Expr.load("count", first))
    store = Node.store("worst", first, highest)
    program = Program.wrapped(
        [BufferDecl.read("count", 0, u32), BufferDecl.read_write("worst", 1, u32)],
        _ONE,
        [ir.Node.if_(Expr.gid(0).eq(first), [store])],
    )
    given = {"count": ArrayParameter(Mode.IN, u32, 1), "worst": ArrayParameter(Mode.INOUT, u32, 1)}
    return hidden_kernel(program, given)
