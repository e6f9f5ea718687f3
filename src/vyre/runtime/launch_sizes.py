"""The sizes of a launch as a function of the shapes and numbers of a call.

A kernel that is called on arrays of ever new lengths needs its grid and the ranges of its outputs
that are zeroed every time. Both follow from expressions that are fixed once it is translated: the
plan of its grid and the coverage of its outputs. Python compiles a function from them, for one type
and rank of each array:

    n0 = s0_0                                 # the elements of the array
    if n0 == 0: return (0, 0, 0), ...         # nothing runs
    x = -(-n0 // 64)                          # from its plan
    e0 = min(x * 64, n0)                      # from its coverage
    if not 0 < e0 == n0: runs += ...          # elements that no invocation writes

The function gives up (None) where an uncached call may refuse the arguments, or does nothing. What
it gives is what `launch_grid` and `outputs_of` give.

For a kernel with one input and one output it takes 0.8 µs; closures that do the same take 3.0, more
than a call on new lengths may cost above a repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from vyre.analysis.coverage_types import ALL, NUMBER, SAFE_EXTENT, Along, At, UpTo
from vyre.analysis.default_grid.extents import FUNCTIONS, expression, parts
from vyre.analysis.default_grid.plan import END, LEAST
from vyre.front.extent_limit import NO_LIMIT, extents_below
from vyre.record import dataclass
from vyre.runtime.clearing import run_of_all, runs_around
from vyre.runtime.host_arrays import SAFE_LENGTH
from vyre.runtime.kernel_grid import grid_plan
from vyre.runtime.kernel_outputs import FEW_BYTES, coverage_of

if TYPE_CHECKING:
    from vyre.analysis.coverage_types import Coverage
    from vyre.analysis.default_grid.plan import Plan
    from vyre.driver.grid import Extents, Grid
    from vyre.ir import Program

Shapes = list[tuple[int, ...]]
Sized = tuple["Grid", bytes, int]
"""The grid, the runs of bytes to zero, and the bytes of all arrays."""
SizeFunction = Callable[
    [Shapes, tuple[Any, ...], Sequence[Any], "Grid | None", "Slow"], "Sized | None"
]
"""Takes the shapes of the arrays, the arguments, the memory of scalars, and a grid if there is one.
"""
_MOST_PARTS: Final = 64
"""Larger expressions are evaluated as they are: Python's parser limits how deep they nest."""
_TOO_MANY: Final = 1 << 63
"""Invocations of a grid are fewer."""


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """An array argument."""

    name: str
    position: int
    """Among the arguments."""
    buffer: int
    """Among the buffers of the launch."""
    rank: int
    itemsize: int
    is_out: bool
    """True if it begins as zeros."""


class Slow(Protocol):
    """The general functions, which are called where no expression is compiled."""

    def slow_grid(self, args: tuple[Any, ...], numbers: Sequence[Any]) -> Grid | None:
        """The default grid; None if a launch is refused, or has no invocations."""
        ...

    def slow_runs(
        self, shapes: Shapes, args: tuple[Any, ...], numbers: Sequence[Any], grid: Grid
    ) -> bytes:
        """The runs of bytes to zero."""
        ...


def given_grid(program: Program, grid: Extents, elements: Extents) -> Grid | None:
    """The grid of a caller's integers; None if a launch is refused."""
    wanted = elements if grid is None else grid
    x = y = z = 1
    if type(wanted) is int:
        x = wanted
    else:
        assert isinstance(wanted, tuple)
        if not 1 <= len(wanted) <= 3:
            return None
        x, y, z = (*wanted, 1, 1)[:3]
    if x < 0 or y < 0 or z < 0 or (grid is not None and elements is not None):
        return None
    sx, sy, sz = program.workgroup_size
    if grid is None:
        x, y, z = -(-x // sx), -(-y // sy), -(-z // sz)
    below = extents_below(program)
    if x * sx >= below or y * sy >= below or z * sz >= below:
        return None
    return (x, y, z) if x * y * z * sx * sy * sz < _TOO_MANY else None


def size_function(
    program: Program,
    arrays: Sequence[ArrayPlace],
    numbers: Mapping[str, tuple[int, int]],
    other_bytes: int,
    views: Container[str] = (),
) -> SizeFunction:
    """The function for calls with arrays of these types and ranks.

    `numbers` are the scalar arguments: the position of each, and that of its memory. `other_bytes`
    is how much the buffers hold that are no array arguments. Where `views` with strides are to be
    zeroed follows from their strides, and is left out.
    """
    writer = _Writer(program, arrays, numbers, views)
    touched = " + ".join([*(f"n{i} * {one.itemsize}" for i, one in enumerate(arrays)), "0"])
    nothing = f"return (0, 0, 0), {writer.runs_of_all()}, {touched}"
    lines = [*writer.lengths(), *writer.grid(nothing), *writer.runs()]
    lines.append(f"return (x, y, z), runs, {touched} + {other_bytes}")
    source = "def sized(shapes, args, numbers, grid, slow):\n" + "".join(
        f"    {line}\n" for line in lines
    )
    scope: dict[str, Any] = {
        **FUNCTIONS,
        "run_of_all": run_of_all,
        "runs_around": runs_around,
    }
    exec(source, scope)
    return scope["sized"]


class _Writer:
    """Writes the lines of a function."""

    def __init__(
        self,
        program: Program,
        arrays: Sequence[ArrayPlace],
        numbers: Mapping[str, tuple[int, int]],
        views: Container[str],
    ) -> None:
        self._program = program
        self._arrays = arrays
        self._index = {one.name: index for index, one in enumerate(arrays)}
        self._numbers = numbers
        self._views = views

    def length(self, buffer: str) -> str:
        """The number of elements of an array."""
        index = self._index[buffer]
        return f"s{index}_0" if self._arrays[index].rank == 1 else f"n{index}"

    def extent(self, buffer: str, axis: int) -> str:
        """How long an array is along an axis."""
        index = self._index[buffer]
        if not 0 <= axis < self._arrays[index].rank:
            raise KeyError(buffer)
        return f"s{index}_{axis}"

    def number(self, name: str) -> str:
        """The value of a parameter that is one integer."""
        position, _ = self._numbers[name]
        return f"int(args[{position}])"

    def lengths(self) -> Iterator[str]:
        """Reads shapes; gives up on arrays with more elements than is safe."""
        most = min(extents_below(self._program), SAFE_LENGTH)
        for index, one in enumerate(self._arrays):
            axes = [f"s{index}_{axis}" for axis in range(one.rank)]
            yield f"shape{index} = shapes[{index}]"
            yield f"if len(shape{index}) != {one.rank}: return None"
            if axes:
                yield f"{', '.join(axes)}, = shape{index}"
            yield f"n{index} = {' * '.join(axes) or '1'}"
            yield f"if n{index} >= {most}: return None"

    def grid(self, nothing: str) -> Iterator[str]:
        """Computes the default grid, if none is given; gives up on empty arrays that are used."""
        yield "if grid is None:"
        plan = grid_plan(self._program)
        try:
            lines = list(self._default_grid(plan, nothing))
        except KeyError:
            lines = []
        yield from (f"    {line}" for line in lines or ("grid = slow.slow_grid(args, numbers)",))
        if not lines:
            yield "    if grid is None: return None"
            yield "    x, y, z = grid"
        yield "else:"
        yield "    x, y, z = grid"
        yield f"    if x == 0 or y == 0 or z == 0: {nothing}"
        if self._arrays:
            lengths = " and ".join(f"n{index}" for index in range(len(self._arrays)))
            yield f"if not ({lengths}): return None"

    def _default_grid(self, plan: Plan, nothing: str) -> Iterator[str]:
        if plan.needs is None or sum(1 for _ in _parts_of(plan)) > _MOST_PARTS:
            return
        below = min(extents_below(self._program), NO_LIMIT)
        yield "try:"
        found: list[list[str]] = [[], [], []]
        empty: list[str] = []
        for number, need in enumerate(plan.needs):
            asked: list[str] = []
            for axis, extent in zip("xyz", need, strict=True):
                if extent is not None:
                    found["xyz".index(axis)].append(f"{axis}{number}")
                    asked.append(f"{axis}{number}")
                    yield f"    {axis}{number} = {expression(extent, self)}"
            empty.append(" or ".join(f"{one} <= 0" for one in asked) or "False")
        yield "    pass"
        yield "except ZeroDivisionError: return None"
        names = [name for names in found for name in names]
        if names:
            yield f"if not ({' and '.join(f'0 < {name} < {END}' for name in names)}):"
            for name in names:
                yield f"    if not {LEAST} <= {name} < {END}: return None"
            # Where only some effects need nothing, the others do not say how much all need.
            yield f"    if not ({' and '.join(f'({one})' for one in empty)}): return None"
            yield f"    {nothing}"
        for axis, names, size in zip("xyz", found, self._program.workgroup_size, strict=True):
            wanted = f"max({', '.join(names)})" if len(names) > 1 else names[0] if names else "1"
            # Where one effect has no id along an axis, it needs one invocation: no more than all.
            yield f"{axis} = {wanted}" if size == 1 else f"{axis} = -(-{wanted} // {size})"
            if names:
                yield f"if {_times(axis, size)} >= {below}: return None"
        sx, sy, sz = self._program.workgroup_size
        if sum(map(bool, found)) > 1:
            yield f"if {_times('x * y * z', sx * sy * sz)} >= {_TOO_MANY}: return None"

    def runs_of_all(self) -> str:
        """The runs of a launch without invocations."""
        outs = [
            f"run_of_all({one.buffer}, n{index} * {one.itemsize})"
            for index, one in enumerate(self._arrays)
            if one.is_out and one.name not in self._views
        ]
        return " + ".join(outs) or "b''"

    def runs(self) -> Iterator[str]:
        """Finds what is to be zeroed."""
        filled = coverage_of(self._program)
        lines = ["runs = b''"]
        try:
            for index, one in enumerate(self._arrays):
                if one.is_out and one.name not in self._views:
                    lines += self._runs_of(index, one, filled.get(one.name))
        except KeyError:
            lines = ["runs = slow.slow_runs(shapes, args, numbers, (x, y, z))"]
        return iter(lines)

    def _runs_of(self, index: int, one: ArrayPlace, filled: Coverage | None) -> Iterator[str]:
        everything = f"run_of_all({one.buffer}, n{index} * {one.itemsize})"
        if filled is None:
            yield f"runs += {everything}"
            return
        tests, box = self._box(index, one, filled)
        ends = [f"e{axis}" for axis in range(one.rank)]
        for end, (_, bounds) in zip(ends, box, strict=True):
            yield f"{end} = {bounds[0]}"
            # Comparisons are quicker than `min`.
            for bound in bounds[1:]:
                yield f"if {bound} < {end}: {end} = {bound}"
        # No array is empty, and neither is the grid: what begins at 0 ends behind that, unless its
        # end is a number, or has a margin.
        tests += [
            f"{first} < {end}"
            for end, (first, bounds) in zip(ends, box, strict=True)
            if first or not all(map(self._is_above_zero, bounds))
        ]
        axes = [f"s{index}_{axis}" for axis in range(one.rank)]
        inside = [f"{end} < {axis}" for end, axis in zip(ends, axes, strict=True)]
        if any(first for first, _ in box):
            inside = ["True"]
        yield f"if not ({' and '.join(tests)}): runs += {everything}"
        pairs = "".join(f"({first}, {e}), " for e, (first, _) in zip(ends, box, strict=True))
        around = f"runs_around({one.buffer}, {one.itemsize}, shape{index}, ({pairs}))"
        yield f"elif {' or '.join(inside)}: runs += {around}"

    def _box(
        self, index: int, one: ArrayPlace, filled: Coverage
    ) -> tuple[list[str], list[tuple[int, list[str]]]]:
        """What holds where a box is surely written, and its first and its ends along each axis."""
        if len(filled.places) != one.rank or () not in filled.parts:
            raise KeyError(one.name)
        tests = [f"n{index} < {SAFE_EXTENT}"]
        if numbers_of(filled):
            # Small arrays are cleared sooner.
            tests.append(f"n{index} * {one.itemsize} >= {FEW_BYTES}")
        for axis, size in enumerate(filled.sizes, 1):
            found = str(size) if isinstance(size, int) else self._bound(size)
            if found != f"s{index}_{axis}":
                tests.append(f"{found} == s{index}_{axis}")
        firsts = [0, 0, 0]
        sizes = self._program.workgroup_size
        ends = [[_times(axis, size)] for axis, size in zip("xyz", sizes, strict=True)]
        for limit in filled.limits:
            firsts[limit.axis] = max(firsts[limit.axis], limit.first)
            if limit.extent is not None:
                bound = self._bound(limit.extent)
                if limit.extent[0] != one.name:
                    tests.append(f"{bound} < {SAFE_EXTENT}")
                ends[limit.axis].append(f"{bound} - {limit.margin}" if limit.margin else bound)
        tests += [
            f"{first} < {end}"
            for first, along in zip(firsts, ends, strict=True)
            for end in along
            if first or not self._is_above_zero(end)
        ]
        box: list[tuple[int, list[str]]] = []
        for axis, place in enumerate(filled.places):
            whole = f"s{index}_{axis}"
            match place:
                case Along(along):
                    box.append((firsts[along], [whole, *(e for e in ends[along] if e != whole)]))
                case UpTo(_, end):
                    box.append((0, [whole, self._bound(end)]))
                case At():
                    raise KeyError(one.name)
        return list(dict.fromkeys(tests)), box

    def _is_above_zero(self, text: str) -> bool:
        """Whether an end is the number of invocations, or the extent of an array."""
        return text[0] in "xyz" or (text[0] in "sn" and " - " not in text and "(" not in text)

    def _bound(self, extent: tuple[str, int]) -> str:
        buffer, along = extent
        if along == NUMBER:
            _, memory = self._numbers[buffer]
            return f"int(numbers[{memory}].memory[0])"
        if along == ALL and buffer in self._views:
            # A program that has views counts what they span.
            raise KeyError(buffer)
        return self.length(buffer) if along == ALL else self.extent(buffer, along)


def _times(axis: str, size: int) -> str:
    return axis if size == 1 else f"{axis} * {size}"


def _parts_of(plan: Plan) -> Iterator[object]:
    for need in plan.needs or ():
        for extent in need:
            if extent is not None:
                yield from parts(extent)


def numbers_of(filled: Coverage) -> list[str]:
    """The parameters whose values have a say in what is written."""
    sizes = [*filled.sizes, *(limit.extent for limit in filled.limits)]
    sizes += [place.end for place in filled.places if isinstance(place, UpTo)]
    return [size[0] for size in sizes if isinstance(size, tuple) and size[1] == NUMBER]


__all__ = [
    "ArrayPlace",
    "Shapes",
    "SizeFunction",
    "Slow",
    "given_grid",
    "numbers_of",
    "size_function",
]
