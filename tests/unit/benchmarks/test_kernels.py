"""Every kernel at its smallest size: the definition, C and numpy agree, and programs are valid."""

import shutil

import numpy as np
import pytest

from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS, automaton, kernel_named, kernels_named
from benchmarks.kernels.launch import LAUNCH
from benchmarks.peers import PEERS
from benchmarks.peers.c import Compiler
from benchmarks.programs import all_programs

ALL = (*KERNELS, LAUNCH)


@pytest.fixture(scope="module")
def gcc() -> Compiler:
    assert shutil.which("gcc"), "the yardstick needs gcc: apt-get install gcc"
    return Compiler()


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.name)
def test_c_agrees_with_the_definition(kernel: Kernel, gcc: Compiler) -> None:
    data = kernel.data(kernel.sizes["tiny"])
    run = kernel.peers["c"](gcc, data)
    run.prepare()
    run.launch()
    assert kernel.check(kernel.define(data), run.outputs) is None


@pytest.mark.parametrize(
    "kernel", [k for k in ALL if "numpy" in k.peers], ids=lambda kernel: kernel.name
)
def test_numpy_agrees_with_the_definition(kernel: Kernel) -> None:
    data = kernel.data(kernel.sizes["tiny"])
    run = kernel.peers["numpy"](np, data)
    run.prepare()
    run.launch()
    assert kernel.check(kernel.define(data), run.outputs) is None


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.name)
def test_a_launch_is_repeatable(kernel: Kernel, gcc: Compiler) -> None:
    """Timed launches all do the same work: the second gives what the first gave."""
    data = kernel.data(kernel.sizes["tiny"])
    run = kernel.peers["c"](gcc, data)
    for _ in range(2):
        run.prepare()
        run.launch()
    assert kernel.check(kernel.define(data), run.outputs) is None


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.name)
def test_data_is_the_same_every_time(kernel: Kernel) -> None:
    first, second = (kernel.data(kernel.sizes["tiny"]) for _ in range(2))
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_only_rows_for_one_comparison_leave_peers_out() -> None:
    names = {peer.name for peer in PEERS}
    partial = {"nbody_fast_math", "matmul_tuned"}
    assert {k.name for k in ALL if set(k.peers) != names} == partial


@pytest.mark.parametrize("name", sorted(all_programs()))
def test_programs_are_valid(name: str) -> None:
    program = all_programs()[name]
    assert program.check() == []
    assert program.parse(str(program)) == program


def test_a_wrong_result_is_described() -> None:
    kernel = kernel_named("sum_u32")
    expected = kernel.define(kernel.data(16))
    wrong = {"sum": expected["sum"] + np.uint32(1)}
    assert kernel.check(expected, wrong) == "sum: 1 of 1 elements differ"
    assert kernel.check(expected, {}) == "sum is missing"
    narrow = {"sum": expected["sum"].astype(np.uint8)}
    assert kernel.check(expected, narrow) == "sum is uint8(1,), expected uint32(1,)"


def test_names_select_kernels_and_families() -> None:
    assert [k.name for k in kernels_named(["sum"])] == ["sum_u32", "sum_f32"]
    assert [k.name for k in kernels_named(["dfa", "triad"])] == ["triad", "dfa"]
    with pytest.raises(KeyError, match="su"):
        kernels_named(["su"])


def test_the_automaton_is_not_vacuous() -> None:
    chunks = automaton.text(64 * automaton.CHUNK).reshape(64, -1)
    found = automaton.count_word_ends(chunks)
    assert np.array_equal(found, automaton.count_matches(chunks))
    assert found.min() > 0
