"""Kernels that no one has written: small programs that a plan needs between stages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from vyre import ir
from vyre.front.capture_guards import Outside
from vyre.front.kernels import Specialisation, Translated
from vyre.front.parameters import ArrayParameter, Mode, Parameter
from vyre.front.source import Source
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.pipelines.fused import GroupSource
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


def _word(name: str, binding: int, *, is_written: bool) -> BufferDecl:
    kind = BufferDecl.read_write if is_written else BufferDecl.read
    return kind(name, binding, DataType.U32)


def _of_words(read: tuple[str, ...], written: tuple[str, ...], body: ir.AnyStmt) -> Kernel[...]:
    """A kernel of one invocation on arrays of one `u32`."""
    names = (*read, *written)
    decls = [_word(name, at, is_written=name in written) for at, name in enumerate(names)]
    parameters = {
        name: ArrayParameter(Mode.INOUT if name in written else Mode.IN, DataType.U32, 1)
        for name in names
    }
    first = Expr.gid(0).eq(Expr.u32(0))
    return hidden_kernel(Program.wrapped(decls, _ONE, [Node.if_(first, [body])]), parameters)


def _load(name: str) -> ir.AnyExpr:
    return Expr.load(name, Expr.u32(0))


def _one_if(condition: ir.AnyExpr) -> ir.AnyExpr:
    return Expr.select(condition, Expr.u32(1), Expr.u32(0))


@lru_cache(maxsize=1)
def begin_loop() -> Kernel[...]:
    """`going[0] = 1`."""
    return _of_words((), ("going",), Node.store("going", 0, Expr.u32(1)))


@lru_cache(maxsize=1)
def begin_inner_loop() -> Kernel[...]:
    """`going[0] = outer[0]`."""
    return _of_words(("outer",), ("going",), Node.store("going", 0, _load("outer")))


@lru_cache(maxsize=1)
def end_iteration() -> Kernel[...]:
    """Counts an iteration that ran, and says whether the next one does."""
    is_set = _one_if(_load("flag").ne(Expr.u32(0)))
    count = Node.store("iterations", 0, _load("iterations") + _load("going"))
    go_on = Node.store("going", 0, _load("going") & is_set)
    return _of_words(("flag",), ("going", "iterations"), ir.Block((count, go_on)))


@lru_cache(maxsize=1)
def choose() -> Kernel[...]:
    """`then[0] = flag[0] != 0`, `otherwise[0] = flag[0] == 0`."""
    return _choice(())


@lru_cache(maxsize=1)
def choose_inside() -> Kernel[...]:
    """The same where neither branch runs unless `outer[0]` says so."""
    return _choice(("outer",))


def _choice(outer: tuple[str, ...]) -> Kernel[...]:
    sides: list[ir.AnyStmt] = []
    is_zero = _load("flag").eq(Expr.u32(0))
    for name, side in (
        ("then", Expr.select(is_zero, Expr.u32(0), Expr.u32(1))),
        ("otherwise", _one_if(is_zero)),
    ):
        value: ir.AnyExpr = side
        for each in outer:
            value = value & _load(each)
        sides.append(Node.store(name, 0, value))
    return _of_words(("flag", *outer), ("then", "otherwise"), ir.Block(tuple(sides)))


@lru_cache(maxsize=64)
def clear_if(dtype: DataType, rank: int) -> Kernel[...]:
    """Fills an array with zeros if `going[0]` says so."""
    at, zero = Expr.gid(0), BufferDecl.local("zero", 1, dtype)
    store = Node.store("target", at, Expr.load("zero", 0))
    return _elementwise({"target": ArrayParameter(Mode.INOUT, dtype, rank)}, store, (zero,))


@lru_cache(maxsize=64)
def copy_if(dtype: DataType, rank: int) -> Kernel[...]:
    """Copies an array to another if `going[0]` says so."""
    store = Node.store("target", Expr.gid(0), Expr.load("source", Expr.gid(0)))
    parameters = {
        "source": ArrayParameter(Mode.IN, dtype, rank),
        "target": ArrayParameter(Mode.INOUT, dtype, rank),
    }
    return _elementwise(parameters, store, ())


def _elementwise(
    arrays: Mapping[str, ArrayParameter], store: ir.AnyStmt, more: tuple[BufferDecl, ...]
) -> Kernel[...]:
    decls = [_word("going", 0, is_written=False)]
    for name, parameter in arrays.items():
        assert isinstance(parameter.dtype, DataType)
        kind = BufferDecl.read if parameter.mode is Mode.IN else BufferDecl.read_write
        decls.append(kind(name, len(decls), parameter.dtype))
    inside = Node.if_(Expr.gid(0) < Expr.buf_len("target"), [store])
    body = [Node.if_(_load("going").ne(Expr.u32(0)), [inside])]
    program = Program.wrapped([*decls, *more], (64, 1, 1), body)
    going: dict[str, Parameter] = {"going": ArrayParameter(Mode.IN, DataType.U32, 1)}
    return hidden_kernel(program, {**going, **arrays})
