"""What arms may have, and what fusing makes of it: the results of the list, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from vyre.backends.reference import execute
from vyre.diagnostics import PlanError, TrapError
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.plan import Separation, fuse
from vyre.runtime import run
from vyre.target import Limits, Target

DEVICES = ("reference", "split", "cpu")
WAYS = (("reference", None), ("split", "megakernel"), ("cpu", None), ("cpu", "release"))
GRID = (4, 1, 1)
N = 64


@vy.kernel(workgroup=16)
def squares(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        y[i] = x[i] * x[i]


@vy.kernel(workgroup=16)
def sparse(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] % 3 == 0:
        y[i] += x[i] + 1


@vy.kernel(workgroup=16)
def swapped(y: vy.In[vy.u32], x: vy.Out[vy.u32]):
    i = vy.gid()
    if i % 2 == 0:
        x[i] = y[len(y) - 1 - i]


@vy.kernel(workgroup=16)
def tallied(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """Relies on memory that begins as zeros, shared and private."""
    counts = vy.shared(vy.u32, 8)
    mine = vy.local(vy.u32, 3)
    i = vy.gid()
    counts.atomic_add(x[i] % 8, 1)
    mine[i % 3] += 1
    vy.barrier()
    if i >= len(y):
        return
    y[i] += counts[i % 8] * 10 + mine[i % 3] + mine[(i + 1) % 3]


@vy.kernel(workgroup=16)
def reversed_tile(x: vy.In[vy.u32], z: vy.InOut[vy.u32], n: vy.u32):
    tile = vy.shared(vy.u32, 16)
    i, lane = vy.gid(), vy.lid()
    tile[lane] = x[i]
    vy.barrier()
    if i >= n:
        return
    z[i] = tile[15 - lane] + i


def sequential(programs, inputs, grid=GRID):
    state = {name: np.array(value) for name, value in inputs.items()}
    for one in programs:
        given = {d.name: state[d.name] for d in one.buffers if d.is_host_input}
        sizes = {d.name: len(state[d.name]) for d in one.buffers if d.is_device_allocated}
        state |= execute(one, given, grid, output_sizes=sizes).outputs
    return state


def check(programs, inputs, grid=GRID, **options):
    """The fused program, after its results were compared in several ways."""
    fused = fuse(programs, **options)
    fused.program.validate()
    expected = sequential(programs, inputs, grid)
    given = {d.name: inputs[d.name] for d in fused.program.buffers if d.is_host_input}
    sizes = {d.name: len(inputs[d.name]) for d in fused.program.buffers if d.is_device_allocated}
    for device, profile in WAYS:
        how = CompileOptions(profile, EmitOptions(tier="quick"))
        found = run(fused.program, given, grid=grid, sizes=sizes, device=device, options=how)
        for name, array in found.items():
            assert array.tolist() == expected[name].tolist(), (device, profile, name)
    return fused


def arrays(*names):
    return {name: np.arange(N, dtype=np.uint32) * 7 + len(name) for name in names}


def text(body, buffers="", size=16):
    """A program that changes x and y."""
    lines = [f"program workgroup({size}, 1, 1)", "buffer x: read_write u32[] @0"]
    return Program.parse("\n".join([*lines, "buffer y: read_write u32[] @1", buffers, body]))


# --- outputs that begin as zeros -----------------------------------------------------------------


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(
    "kernels",
    [
        [squares, sparse],
        [sparse, sparse],
        [squares, swapped],
        [squares, swapped, sparse],
        [tallied, sparse, tallied, sparse],
    ],
)
def test_the_out_of_a_later_arm_begins_as_zeros(kernels, flat):
    programs = [kernel.program() for kernel in kernels]
    check(programs, arrays("x", "y"), flat_grid=flat)


def test_an_out_that_is_zero_anyway_is_not_cleared():
    fused = check(
        [squares.program(), reversed_tile.program()],
        {**arrays("x", "y", "z"), "n": np.array([5], np.uint32)},
    )
    assert len(fused.arms) == 2


def test_what_is_cleared_is_told():
    fused = fuse([squares.program(), sparse.program()], ["one", "two"])
    assert fused.arms == ("one", "two.clear", "two")
    assert fused.explain().splitlines() == [
        "one: nothing before it",
        "two.clear: grid sync before it because of y (write after write)",
        "two: grid sync before it because of y (read after write)",
    ]


def test_a_cleared_buffer_may_be_longer_than_the_grid_is_wide():
    inputs = {"x": np.arange(500, dtype=np.uint32), "y": np.ones(500, np.uint32)}
    check([tallied.program(), sparse.program()], inputs, grid=(2, 1, 1))
    fill = Program.parse(
        """
program workgroup(4, 2, 1)
buffer y: read_write u32[] @0
y[gid.x + (gid.y + gid.z * 4) * 12] = 8
"""
    )
    every = Program.parse(
        """
program workgroup(4, 2, 1)
buffer y: read_write u32[] @0 output live_out
if gid.x == 5 { y[gid.x + (gid.y + gid.z * 4) * 12] = y[gid.x + (gid.y + gid.z * 4) * 12] + 3 }
"""
    )
    check([fill, every, fill, every], inputs, grid=(3, 2, 2))


@pytest.mark.parametrize("element", [DataType.NF4, DataType.VEC4_U32, DataType.BOOL, DataType.F16])
def test_elements_of_any_type_are_cleared(element):
    first = BufferDecl.read_write("x", 0, element).with_count(8)
    last = BufferDecl.output("x", 0, element).with_count(8)
    one = Program.wrapped([first], (4, 1, 1), [Node.store("x", Expr.u32(0), Expr.load("x", 1))])
    two = Program.wrapped([last], (4, 1, 1), [])
    program = fuse([one, two]).program
    given = np.ones(32 if element.is_vector else 8, np.uint8).astype(
        {
            DataType.VEC4_U32: np.uint32,
            DataType.BOOL: np.bool_,
            DataType.F16: np.float16,
        }.get(element, np.uint8)
    )
    for device in DEVICES:
        found = run(program, {"x": given}, grid=1, device=device)["x"]
        assert not found.view(np.uint8).any()


def test_scratch_that_a_later_arm_takes_for_its_out_is_cleared():
    sized = [
        kernel.program().with_rewritten_buffers(
            [d.with_count(N) if d.name == "y" else d for d in kernel.program().buffers]
        )
        for kernel in (squares, swapped, sparse)
    ]
    last = text("x[gid.x] = y[gid.x]")
    program = fuse([*sized, last], scratch=["y"]).program
    expected = sequential([*sized, last], arrays("x", "y"))
    for device in DEVICES:
        found = run(program, {"x": arrays("x")["x"]}, grid=GRID, device=device)
        assert found["x"].tolist() == expected["x"].tolist()


# --- names ---------------------------------------------------------------------------------------


def test_a_kernel_twice_has_its_memory_twice():
    fused = check([tallied.program(), tallied.program()], arrays("x", "y"))
    assert len({d.name for d in fused.program.buffers if d.is_workgroup}) == 2
    assert len(set(fused.arms)) == 2
    check([tallied.program()] * 3, arrays("x", "y"), names=["same"] * 3)


def test_memory_of_an_arm_never_gets_the_name_of_anything_else():
    one = text("x[gid.x] = b.c[lid.x] b.c[lid.x] = 7", "buffer b.c: workgroup u32[16]")
    two = text("y[gid.x] = c[lid.x] + 1", "buffer c: workgroup u32[16]")
    check([one, two], arrays("x", "y"), names=["a", "a.b"])
    three = text("let first.c = gid.x x[gid.x] = first.c")
    check([two, three], arrays("x", "y"), names=["first", "second"])
    check([three, two], arrays("x", "y"), names=["second", "first"])


@pytest.mark.parametrize("name", ["a kernel!", "<locals>", "", "9", "é", "x" * 300])
def test_any_name_of_an_arm_will_do(name):
    check([tallied.program(), tallied.program()], arrays("x", "y"), names=[name, name])


def test_a_variable_named_like_a_buffer_of_another_arm():
    other = Program.parse(
        """
program workgroup(16, 1, 1)
buffer a: read_write u32[] @0
buffer b: read_write u32[] @1
let y = gid.x
y = y + 1
for x in 0..3 { b[gid.x] = b[gid.x] * 5 + x + y }
a[gid.x] = y
"""
    )
    inputs = arrays("x", "y", "a", "b")
    check([squares.program(), other], inputs)
    check([other, squares.program()], inputs)
    check([other, squares.program(), other], inputs)


def test_names_of_arms_are_as_many_as_arms():
    with pytest.raises(PlanError) as caught:
        fuse([squares.program(), sparse.program()], ["one"])
    assert caught.value.code == "P008"


def test_a_name_of_scratch_that_no_arm_has_is_refused():
    with pytest.raises(PlanError) as caught:
        fuse([squares.program()], scratch=["yy"])
    assert caught.value.code == "P009"
    assert "'yy'" in str(caught.value)


# --- workgroup memory after a grid barrier -------------------------------------------------------


def test_workgroup_memory_is_zero_after_the_grid_barrier_that_fusing_puts():
    programs = [swapped.program(), tallied.program()]
    fused = check(programs, arrays("x", "y"))
    assert fused.decisions[-1].separation is Separation.GRID_SYNC
    check([squares.program(), tallied.program(), tallied.program()], arrays("x", "y"))


@pytest.mark.parametrize("count", [3, 16, 50])
def test_workgroup_memory_of_any_size_is_zero_after_a_grid_barrier(count):
    body = f"""
let total = 5
for k in 0..{count} {{ total = total + tile[k] }}
y[gid.x] = total
barrier seq_cst
for k in 0..{count} {{ if lid.x == 0 {{ tile[k] = 9 }} }}
"""
    one = text(body, f"buffer tile: workgroup u32[{count}]")
    check([one, text("barrier grid_sync"), one], arrays("x", "y"))


# --- returns -------------------------------------------------------------------------------------


def test_a_return_after_a_barrier():
    inputs = {**arrays("x", "y", "z"), "n": np.array([37], np.uint32)}
    check([reversed_tile.program(), squares.program()], inputs)
    check([reversed_tile.program(), reversed_tile.program(), tallied.program()], inputs)


BODIES = {
    "at the end": "x[i] = 1 return",
    "alone": "return",
    "in both arms": "if i < 9 { x[i] = 1 return } else { x[i] = 2 return } x[i] = 3",
    "in the else": "if i < 9 { x[i] = 1 } else { x[i] = 2 return } x[i] = x[i] + 3",
    "in one of two ifs": """
if i < 40 { if i < 9 { return } x[i] = 1 } else { if i > 50 { return } }
x[i] = x[i] + 3
""",
    "three in a row": """
if i < 9 { return }
x[i] = 1
if i < 20 { return }
x[i] = 2
if i < 50 { return }
x[i] = 4
""",
    "in a block": "{ if i < 9 { return } x[i] = 1 } x[i] = x[i] + 2",
    "in a region": 'region "r" { x[i] = 1 return } x[i] = 2',
    "in regions": 'region "r" { region "q" { if i < 9 { return } } x[i] = 1 } x[i] = x[i] + 2',
    "in a loop": "for k in 0..5 { x[i] = x[i] + 1 if k + i < 9 { return } } x[i] = x[i] + 100",
    "in loops": """
for j in 0..3 {
    for k in 0..5 { x[i] = x[i] + 1 if k * i > 99 { return } }
    x[i] = x[i] + 7
}
x[i] = x[i] + 100
""",
    "in a while": """
let k = 0
while k < 5 {
    k = k + 1
    if k > i { x[i] = 1 return } else { continue }
    x[i] = 50
}
x[i] = x[i] + 100
""",
    "before variables of the same name": """
if i < 9 { let v = i x[i] = v return } else { let v = i * 2 x[i] = v }
let v = i * 3
y[i] = v
""",
    "for all, before a barrier": "if x[0] > 1000 { return } x[i] = 5",
    "for the grid, before a barrier": "if num_workgroups.x < 4 { return } barrier seq_cst x[i] = 5",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_return_ends_its_arm_only(body):
    early, after = (
        text("let i = gid.x " + body),
        text("x[gid.x] = x[gid.x] + 1000 y[gid.x] = x[gid.x]"),
    )
    check([early, after], arrays("x", "y"))
    check([early, after], arrays("x", "y"), flat_grid=True)
    check([after, early, after, early], arrays("x", "y"))


def test_a_return_and_a_grid_barrier_are_fine_in_the_last_arm():
    both = text("if gid.x < 9 { return } x[gid.x] = 1 barrier grid_sync y[gid.x] = x[63 - gid.x]")
    check([squares.program(), both], arrays("x", "y"))
    with pytest.raises(PlanError) as caught:
        fuse([both, squares.program()], ["early", "late"])
    assert caught.value.code == "P005"
    assert "'early'" in str(caught.value)


# --- what is printed and raised ------------------------------------------------------------------


def test_lines_are_printed_in_the_order_of_the_arms(capsys):
    fused = fuse([text('print "one", gid.x'), text('print "two", gid.x')])
    assert fused.decisions[1].separation is Separation.GRID_SYNC
    for device in DEVICES:
        run(fused.program, arrays("x", "y"), grid=GRID, device=device)
        said = [line.split()[3].rstrip(":") for line in capsys.readouterr().out.splitlines()]
        assert said == ["one"] * N + ["two"] * N


def test_the_trap_of_the_first_arm_that_traps_is_raised():
    one, two = text('if gid.x == 60 { trap "one" }'), text('if gid.x == 3 { trap "two" }')
    for device in DEVICES:
        with pytest.raises(TrapError) as caught:
            run(fuse([one, two]).program, arrays("x", "y"), grid=GRID, device=device)
        assert caught.value.tag == "one"


# --- refusals name the arms ----------------------------------------------------------------------


def test_refusals_name_the_arms():
    wide = text("x[gid.x] = 1", size=32)
    other = Program.wrapped([BufferDecl.read_write("x", 0, DataType.I32)], (16, 1, 1), [])
    quick = text("x[gid.x] = 1").with_fast_math()
    for second, code in ((wide, "P002"), (other, "P003"), (quick, "P004")):
        with pytest.raises(PlanError) as caught:
            fuse([text("x[gid.x] = 1"), second], ["first", "second"])
        assert caught.value.code == code
        assert "'first'" in str(caught.value)
        assert "'second'" in str(caught.value)


def test_arms_that_are_valid_alone_but_not_together_are_refused():
    decls = [BufferDecl.read("x", 0, DataType.U32)]
    loop = Node.loop("k", 0, Expr.load("x", 0), [Node.barrier()])
    waiting = Program.wrapped(decls, (16, 1, 1), [loop])
    waiting.validate()
    with pytest.raises(PlanError) as caught:
        fuse([text("x[gid.x] = 1"), waiting], ["first", "second"])
    assert caught.value.code == "P010"
    assert "'second'" in str(caught.value)


def test_an_arm_that_is_not_valid_itself_is_named():
    wrong = text("x[gid.x] = nothing")
    with pytest.raises(PlanError) as caught:
        fuse([squares.program(), wrong], ["first", "second"])
    assert caught.value.code == "P011"
    assert "'second'" in str(caught.value)


@pytest.mark.parametrize(
    "arms", [None, "ab", b"ab", {1}, {1: 2}, 3, range(2), ["a"], [None], [[]], [print]], ids=repr
)
def test_what_is_no_list_of_programs_is_refused(arms):
    with pytest.raises(PlanError) as refused:
        fuse(arms)
    assert refused.value.code == "P012"


def test_a_fused_program_is_an_arm_though_it_returns_behind_its_barriers():
    early = text("if gid.x < 9 { return } y[gid.x] = x[63 - gid.x] + 5")
    after = text("x[gid.x] = y[63 - gid.x] * 3")
    first = fuse([swapped.program(), early])
    assert first.decisions[1].separation is Separation.GRID_SYNC
    check([first.program, after], arrays("x", "y"))
    check([first.program, first.program, after], arrays("x", "y"))


@pytest.mark.parametrize(
    "body",
    [
        "for k in 0..2 { barrier grid_sync if gid.x < 9 { return } x[gid.x] = k }",
        "if gid.x < 9 { return } barrier grid_sync",
    ],
)
def test_a_barrier_that_may_follow_a_return_is_refused(body: str):
    with pytest.raises(PlanError) as caught:
        fuse([text(body), squares.program()])
    assert caught.value.code == "P005"


@pytest.mark.parametrize("name", ["a\nb", "\x00", "a\ud800", "n" * 5000, 7, None])
def test_a_name_that_no_region_can_have_is_refused(name):
    with pytest.raises(PlanError) as caught:
        fuse([squares.program(), squares.program()], names=[name, "other"])
    assert caught.value.code == "P013"
    assert repr(name)[1:5] in str(caught.value)


def test_arms_with_too_much_workgroup_memory_together_are_named():
    def tile(name: str, nbytes: int) -> Program:
        buffers = [
            BufferDecl.read_write("x", 0, DataType.U32),
            BufferDecl.workgroup("tile", nbytes // 4, DataType.U32),
        ]
        body = [Node.store("tile", Expr.local_id(0), Expr.gid(0))]
        body.append(Node.store("x", Expr.gid(0), Expr.load("tile", Expr.local_id(0))))
        return Program.wrapped(buffers, (16, 1, 1), body, name)

    target = Target("small", limits=Limits(max_workgroup_bytes=32768))
    fused = fuse([tile(f"arm {n}", 12000) for n in "abc"]).program
    [wrong] = [each for each in fused.check(target) if each.code == "V411"]
    assert "run the programs one after the other" in wrong.fix
    assert "'arm a' 12000, 'arm b' 12000, 'arm c' 12000" in wrong.fix
    one_too_large = fuse([tile("a", 12000), tile("b", 40000)]).program
    [wrong] = [each for each in one_too_large.check(target) if each.code == "V411"]
    assert wrong.fix == "use smaller workgroup buffers ('b.tile' 40000, 'a.tile' 12000)"
