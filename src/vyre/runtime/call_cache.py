"""The call cache of a kernel: argument signature -> prepared launch.

Loops call a kernel again and again: with the same arrays or with others, of one length or many,
with numbers and a grid that change. An entry holds what depends on the types of arguments alone:
the program, a launch function that takes the arrays as they are (and checks that they do not
overlap), and functions that find the grid and the parts of the outputs that have to be zeroed.
Lengths, numbers, `grid` and `elements` are arguments of the launch.

One level below, `dispatch_cache` maps the arrays of a program (not a kernel) to a bound launch. The
options of the two differ: a call names the device, a dispatch says whether arrays may be changed.
Both are plain tuples: these are built and compared in each call, and a class costs more than the
rest of the lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from vyre.config import config
from vyre.diagnostics import DispatchError, TrapError
from vyre.driver import grid as grids
from vyre.driver import routing
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, dispatch_keys
from vyre.record import dataclass
from vyre.runtime.argument_signature import ArgumentSignature, signature_of
from vyre.runtime.clearing import Outs, packed_runs
from vyre.runtime.dispatch_cache import is_bound_in_place, is_comparable, spent_on
from vyre.runtime.host_arrays import numbers as numbers_in_array
from vyre.runtime.kernel_grid import grid_plan, launch_grid
from vyre.runtime.kernel_outputs import coverage_of, outputs_of
from vyre.runtime.launch_sizes import given_grid, numbers_of, size_function
from vyre.runtime.memory_pool import Held
from vyre.runtime.traps import located

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Extents, Grid
    from vyre.front import KernelSource
    from vyre.front.capture_guards import Outside
    from vyre.ir import Program
    from vyre.runtime.argument_signature import BindingFunction, Number
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.launch_sizes import Shapes, SizeFunction
    from vyre.runtime.run import Dispatched

CallOptions = tuple[str | None, "Extents", "Extents", float | None]
"""`device`, `grid`, `elements` and `deadline` of a call."""

_MAX_ENTRIES: Final = 16
"""Entries of a kernel: enough for a few types, devices and static values."""
_MAX_RUNS: Final = 64
"""Sizes of calls for which an entry keeps what the general function found."""
_MAX_REPLAYS: Final = 256
"""Uses of an entry before an uncached call, which finds better code if there is some."""
_OPTION_TYPES: Final = (type(None), str, int, float, tuple)


_Functions = tuple["BindingFunction", "SizeFunction"]

_Sizes = tuple["Shapes", "Extents", "Extents", tuple[object, ...], int, tuple[object, ...]]
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
        last: _Sizes,
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
        self._is_varying = _is_varying(self.program, signature)
        self._clears_views = any(view.is_out for view in signature.views)
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
        if self._clears_views:
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
        return (*tail[:3], runs)

    def _sizes(
        self,
        shapes: Shapes,
        args: tuple[Any, ...],
        grid: Extents,
        elements: Extents,
        numbers: tuple[Number, ...],
    ) -> _Sizes | None:
        """The sizes of a launch; None if an uncached call is needed."""
        functions = self._functions
        if functions is None:
            functions = self._functions = self._made_functions()
        if self._signature.views:
            # What a program reads of views is not the same as of arrays without gaps.
            known = self._last
            return known if known[:3] == (shapes, grid, elements) else None
        given: Grid | None = None
        if grid is not None or elements is not None:
            given = given_grid(self.program, grid, elements)
            if given is None:
                return None
        found = functions[1](shapes, args, numbers, given, self)
        if found is None:
            return None
        launched, runs, touched = found
        buffers: tuple[object, ...] = ()
        if self._signature.shapes:
            buffers = _shape_buffers(self._signature, shapes)
        tail = (*launched, runs) if runs else launched
        return shapes, grid, elements, tail, touched, buffers

    def _made_functions(self) -> _Functions:
        signature = self._signature
        positions = {one.name: (one.position, k) for k, one in enumerate(signature.numbers)}
        others = sum(one.memory.nbytes for one in signature.numbers)
        others += sum(4 * signature.places[array].rank for array in signature.shapes)
        sized = size_function(self.program, signature.places, positions, others)
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
            runs = b"".join(_runs(self._signature.names, outs))
            if len(self._runs) >= _MAX_RUNS:
                self._runs = {}
            self._runs[key] = runs
        return runs


class CallCache:
    """The most recent calls of a kernel, newest first."""

    __slots__ = ("_entries", "_kernel", "_names", "_positional")

    def __init__(self, kernel: KernelSource) -> None:
        self._kernel = kernel
        self._names = tuple(kernel.parameters)
        self._positional = len(self._names) - len(kernel.keyword_only)
        self._entries: tuple[CachedCall, ...] = ()

    def positional(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[object, ...] | None:
        """All arguments by position; None if some are missing, unknown or keyword-only."""
        if len(args) > self._positional:
            return None
        if not kwargs:
            return args
        names = self._names[len(args) :]
        if len(names) != len(kwargs) or not all(name in kwargs for name in names):
            return None
        return (*args, *(kwargs[name] for name in names))

    def prepared(
        self,
        args: tuple[object, ...],
        device: str,
        grid: Extents,
        elements: Extents,
        held: list[Held],
    ) -> PreparedLaunch | None:
        """Look a call up, with whatever deadline: what it would launch; None on a miss.

        The memory of device arrays is appended to `held`.
        """
        if len(args) != len(self._names) or not (is_comparable(grid) and is_comparable(elements)):
            return None
        for call in self._entries:
            if call.matches(args, device, call.deadline, held):
                is_current = call.outside.same() or call.outside.means_the_same()
                return call.prepared(args, grid, elements, held) if is_current else None
            held.clear()
        return None

    def replay(self, args: tuple[object, ...], options: CallOptions) -> bool:
        """Look a call up and launch; False, with no effect, on a miss."""
        calls = self._entries
        if not calls or len(args) != len(self._names) or config().check:
            return False
        device, grid, elements, deadline = options
        held: list[Held] = []
        for call in calls:
            if call.matches(args, device, deadline, held):
                break
            held.clear()
        else:
            return False
        if not call.left:
            return False
        if not (call.outside.same() or call.outside.means_the_same()):
            # A global that the kernel reads has changed: it has to be translated again.
            return False
        if not (is_comparable(grid) and is_comparable(elements)):
            try:
                grid, elements = grids.given(call.program, grid, elements), None
            except DispatchError:
                return False
        try:
            return call.replay(args, grid, elements, held)
        except TrapError as error:
            raise located(error, call.program) from None
        finally:
            held.clear()  # an error would hold them with its frames

    def store(
        self,
        args: tuple[object, ...],
        made: Prepared,
        options: CallOptions,
        outs: Outs,
        compiled: CompiledProgram,
        done: Dispatched,
        outside: Outside,
    ) -> None:
        """Add an entry for a successful call, if all arrays are bound in place."""
        device, grid, elements, deadline = options
        if len(args) != len(self._names) or any(
            type(option) not in _OPTION_TYPES for option in (device, deadline)
        ):
            return
        if not is_bound_in_place(done.binding, made.given, done.grid, compiled.bound_names):
            return
        signature = signature_of(self._kernel, args, made, compiled)
        if signature is None:
            return
        if not (is_comparable(grid) and is_comparable(elements)):
            grid, elements = done.grid, None
        shapes: Shapes = [cast("Any", args[place.position]).shape for place in signature.places]
        if signature.views and (
            compiled.compilation.is_split or _is_varying(compiled.compilation.source, signature)
        ):
            return
        plain = {name: out for name, out in outs.items() if name not in made.layouts}
        tail = (*done.grid, *_runs(signature.names, plain))
        buffers = _shape_buffers(signature, shapes)
        last = shapes, grid, elements, tail, done.binding.touched, buffers
        call = CachedCall(
            self._kernel,
            compiled,
            signature,
            outside,
            (device, deadline),
            device or made.device,
            last,
        )
        others: list[CachedCall] = []
        for other in self._entries:
            if other.matches(args, device, deadline, []):
                call.take_functions_of(other)
            else:
                others.append(other)
        self._entries = (call, *others[: _MAX_ENTRIES - 1])


def _shape_buffers(signature: ArgumentSignature, shapes: Shapes) -> tuple[object, ...]:
    """The buffers that hold the shapes of arrays; the same ones for the same shapes."""
    return tuple([numbers_in_array(shapes[index]) for index in signature.shapes])


def _runs(names: tuple[str, ...], outs: Outs) -> tuple[bytes, ...]:
    """The ranges that a launch zeroes first, as one more argument, if there are any."""
    parts = [
        (names.index(name), out.array.shape, out.array.dtype.itemsize, out.cuts)
        for name, out in outs.items()
        if out.cuts
    ]
    return (packed_runs(parts),) if parts else ()


def _is_varying(program: Program, signature: ArgumentSignature) -> bool:
    """True if numbers have a say in the grid or in what is zeroed."""
    if grid_plan(program).numbers:
        return True
    filled = coverage_of(program)
    outs = [filled[one.name] for one in signature.places if one.is_out and one.name in filled]
    return any(numbers_of(each) for each in outs)


__all__ = ["CachedCall", "CallCache", "CallOptions", "PreparedLaunch"]
