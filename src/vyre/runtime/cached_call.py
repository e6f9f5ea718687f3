"""An entry of the call cache: a launch, prepared for arguments of certain types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from vyre.diagnostics import DispatchError
from vyre.driver import routing
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, dispatch_keys
from vyre.record import dataclass
from vyre.runtime.argument_signature import ArgumentSignature
from vyre.runtime.clearing import Outs, packed_runs
from vyre.runtime.dispatch_cache import spent_on
from vyre.runtime.host_arrays import numbers as numbers_in_array
from vyre.runtime.kernel_grid import grid_plan, launch_grid
from vyre.runtime.kernel_outputs import coverage_of, outputs_of
from vyre.runtime.launch_sizes import given_grid, numbers_of, size_function
from vyre.runtime.memory_pool import Held

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Extents, Grid
    from vyre.front import KernelSource
    from vyre.front.capture_guards import Outside
    from vyre.ir import Program
    from vyre.runtime.argument_signature import BindingFunction, Number
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.launch_sizes import Shapes, SizeFunction

_MAX_RUNS: Final = 64
"""Sizes of calls for which an entry keeps what the general function found."""
_MAX_REPLAYS: Final = 256
"""Uses of an entry before an uncached call, which finds better code if there is some."""

_Functions = tuple["BindingFunction", "SizeFunction"]

Sizes = tuple["Shapes", "Extents", "Extents", tuple[object, ...], int, tuple[object, ...]]
"""Shapes, `grid` and `elements` of a call, and what follows from them: the grid and the ranges to
zero as the launch takes them, the bytes of all arrays, and the buffers that hold shapes."""


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """A call as the launch of a program."""

    compiled: CompiledProgram
    operands: tuple[object, ...]
    """For each buffer the position of an argument, or the array of a number or a shape."""
    grid: Grid
    clearing: bytes
    """The runs of bytes to zero, as a launch on arrays takes them."""
    touched: int
    """Bytes of all arrays."""
    keys: tuple[str, ...]
    """What its time is recorded under."""


class CachedCall:
    """An entry of the cache: a launch, prepared for arguments of certain types."""

    __slots__ = (
        *(
            "_clears_views",
            "_compiled",
            "_functions",
            "_is_varying",
            "_kernel",
            "_keys",
            "_last",
            "_launch",
        ),
        *("_options", "_positions", "_route", "_runs", "_signature", "left", "outside", "program"),
    )

    def __init__(
        self,
        kernel: KernelSource,
        compiled: CompiledProgram,
        signature: ArgumentSignature,
        outside: Outside,
        options: tuple[str | None, float | None],
        device: str | None,
        last: Sizes,
    ) -> None:
        self._kernel = kernel
        self._compiled = compiled
        self._signature = signature
        self.outside = outside
        """Globals and closure variables that the program was translated with."""
        self.program = compiled.compilation.source
        """The program of the kernel."""
        # Several device options may select the device that a program was compiled for.
        self._options = options
        self._route = device, routing.choose(device)
        self._keys = dispatch_keys(self.program)
        self._launch: Callable[..., LaunchRecord | None] | None = None
        """Made at the second call: many kernels are called once."""
        self._functions: _Functions | None = None
        """Made at the second call, too."""
        self._positions = [place.position for place in signature.places]
        self._last = last
        """Those of the latest call: replaced, not changed, as several threads may read them."""
        self._runs: dict[object, bytes] = {}
        """Ranges to zero that the general function found."""
        self._is_varying = is_varying(self.program, signature)
        self.left = _MAX_REPLAYS
        """How often the entry may still be used."""

    def matches(
        self, args: tuple[Any, ...], device: str | None, deadline: float | None, held: list[Held]
    ) -> bool:
        """True if a call may use this entry; the memory of device arrays is appended to `held`."""
        if (device, deadline) != self._options:
            return False
        if not self._signature.match(args, held):
            return False
        # The device option may select another device by now.
        wanted, route = self._route
        return routing.choose.cache.get(wanted) is route

    @property
    def deadline(self) -> float | None:
        """The deadline of its launches."""
        return self._options[1]

    def take_functions_of(self, other: CachedCall) -> None:
        """Reuse what was compiled for an entry that this one replaces."""
        if other.program is self.program and self._signature.has_layout_of(other._signature):
            self._functions = other._functions

    def replay(
        self, args: tuple[Any, ...], grid: Extents, elements: Extents, held: list[Held]
    ) -> bool:
        """Launch with these arguments; False, with no effect, if an uncached call is needed."""
        signature = self._signature
        if not signature.numbers:
            return self._replay(args, grid, elements, held, ())
        numbers = signature.taken()
        try:
            for each in numbers:
                if not each.take(args[each.position]):
                    return False
            return self._replay(args, grid, elements, held, numbers)
        finally:
            signature.idle.append(numbers)

    def _replay(
        self,
        args: tuple[Any, ...],
        grid: Extents,
        elements: Extents,
        held: list[Held],
        numbers: tuple[Number, ...],
    ) -> bool:
        shapes = [args[position].shape for position in self._positions]
        sizes = self._last
        if (
            shapes != sizes[0]
            or grid != sizes[1]
            or elements != sizes[2]
            or self._is_varying
            or self._functions is None
        ):
            found = self._sizes(shapes, args, grid, elements, numbers)
            if found is None:
                return False
            sizes = self._last = found
        _, _, _, tail, touched, buffers = sizes
        functions, launch = self._functions, self._launch
        assert functions is not None
        if launch is None:
            taking = self._compiled.takes_arrays
            assert taking is not None
            strided = tuple([view.buffer for view in self._signature.views])
            launch = self._launch = taking.on_arrays((1, 1, 1), self._options[1], strided)
        if self._signature.views:
            tail = self._with_cleared_views(tail, args)
        arguments = (*functions[0](args, held, numbers, buffers), *tail)
        spent = spent_on(launch, arguments, self._keys, touched)
        self.left -= 1
        if spent is None or (spent >= DEFAULT_HOT_THRESHOLD_NS and not self._compiled.is_for_hot):
            self.left = 0
        return spent is not None

    def prepared(
        self, args: tuple[Any, ...], grid: Extents, elements: Extents, held: list[Held]
    ) -> PreparedLaunch | None:
        """What `replay` would launch; None if an uncached call is needed."""
        signature = self._signature
        if signature.views:
            return None
        numbers = tuple([number.anew() for number in signature.numbers])
        if not all(each.take(args[each.position]) for each in numbers):
            return None
        shapes = [args[position].shape for position in self._positions]
        found = self._sizes(shapes, args, grid, elements, numbers)
        if found is None:
            return None
        _, _, _, tail, touched, buffers = found
        assert self._functions is not None
        bound = self._functions[0](args, held, numbers, buffers)
        places = {place.name: place.position for place in signature.places}
        operands = tuple(
            places.get(name, array) for name, array in zip(signature.names, bound, strict=True)
        )
        x, y, z, *runs = cast("tuple[Any, ...]", tail)
        if not (x and y and z):
            return None
        clearing: bytes = runs[0] if runs else b""
        return PreparedLaunch(self._compiled, operands, (x, y, z), clearing, touched, self._keys)

    def _with_cleared_views(
        self, tail: tuple[object, ...], args: tuple[Any, ...]
    ) -> tuple[object, ...]:
        """The end of a launch's arguments, with the elements of output views to zero."""
        runs = cast("bytes", tail[3]) if len(tail) > 3 else b""
        for view in self._signature.views:
            if view.is_out:
                runs += view.clearing(args[view.position])
        return (*tail[:3], runs) if runs else tail

    def _sizes(
        self,
        shapes: Shapes,
        args: tuple[Any, ...],
        grid: Extents,
        elements: Extents,
        numbers: tuple[Number, ...],
    ) -> Sizes | None:
        """The sizes of a launch; None if an uncached call is needed."""
        functions = self._functions
        if functions is None:
            functions = self._functions = self._made_functions()
        given: Grid | None = None
        if grid is not None or elements is not None:
            given = given_grid(self.program, grid, elements)
            if given is None:
                return None
        found = functions[1](shapes, args, numbers, given, self)
        if found is None:
            return None
        launched, runs, touched = found
        if 0 in launched:
            arrays = {id(args[position]) for position in self._positions}
            # One array for two parameters is refused even if it is empty.
            if not is_idle(self._compiled) or len(arrays) < len(shapes):
                return None
        buffers: tuple[object, ...] = ()
        if self._signature.shapes:
            buffers = shape_buffers(self._signature, shapes)
        tail = (*launched, runs) if runs else launched
        return shapes, grid, elements, tail, touched, buffers

    def _made_functions(self) -> _Functions:
        signature = self._signature
        positions = {one.name: (one.position, k) for k, one in enumerate(signature.numbers)}
        others = sum(one.memory.nbytes for one in signature.numbers)
        others += sum(4 * signature.places[array].rank for array in signature.shapes)
        views = [view.name for view in signature.views]
        sized = size_function(self.program, signature.places, positions, others, views)
        return signature.binding_function(), sized

    def slow_grid(self, args: tuple[Any, ...], numbers: Sequence[Number]) -> Grid | None:
        """The default grid; None if a launch is refused, or has no invocations."""
        try:
            found = launch_grid(self.program, self._signature.prepared(args, numbers), None, None)
        except DispatchError:
            return None
        return None if 0 in found else found

    def slow_runs(
        self, shapes: Shapes, args: tuple[Any, ...], numbers: Sequence[Number], grid: Grid
    ) -> bytes:
        """The runs of bytes to zero."""
        values = [one.memory.tobytes() for one in numbers] if self._is_varying else ()
        key = (grid, *shapes, *values)
        runs = self._runs.get(key)
        if runs is None:
            made = self._signature.prepared(args, numbers)
            outs = outputs_of(self._kernel, self.program, made, grid, frozenset())
            plain = {name: out for name, out in outs.items() if name not in made.layouts}
            runs = b"".join(runs_of(self._signature.names, plain))
            if len(self._runs) >= _MAX_RUNS:
                self._runs = {}
            self._runs[key] = runs
        return runs


def shape_buffers(signature: ArgumentSignature, shapes: Shapes) -> tuple[object, ...]:
    """The buffers that hold the shapes of arrays; the same ones for the same shapes."""
    return tuple([numbers_in_array(shapes[index]) for index in signature.shapes])


def runs_of(names: tuple[str, ...], outs: Outs) -> tuple[bytes, ...]:
    """The ranges that a launch zeroes first, as one more argument, if there are any."""
    parts = [
        (names.index(name), out.array.shape, out.array.dtype.itemsize, out.cuts)
        for name, out in outs.items()
        if out.cuts
    ]
    return (packed_runs(parts),) if parts else ()


def is_idle(compiled: CompiledProgram) -> bool:
    """True if it does nothing on an empty grid: no collectives, and no loops around barriers."""
    return not (compiled.compilation.is_split or compiled.acts_without_invocations)


def is_varying(program: Program, signature: ArgumentSignature) -> bool:
    """True if numbers have a say in the grid or in what is zeroed."""
    if grid_plan(program).numbers:
        return True
    filled = coverage_of(program)
    outs = [filled[one.name] for one in signature.places if one.is_out and one.name in filled]
    return any(numbers_of(each) for each in outs)


__all__ = ["CachedCall", "PreparedLaunch", "is_idle", "is_varying", "runs_of", "shape_buffers"]
