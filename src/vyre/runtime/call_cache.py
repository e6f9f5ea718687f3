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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from vyre.config import config
from vyre.diagnostics import DispatchError, TrapError
from vyre.driver import grid as grids
from vyre.runtime.argument_signature import signature_of
from vyre.runtime.cached_call import CachedCall, PreparedLaunch, is_idle, runs_of, shape_buffers
from vyre.runtime.clearing import Outs
from vyre.runtime.dispatch_cache import is_bound_in_place, is_comparable
from vyre.runtime.memory_pool import Held
from vyre.runtime.traps import located

if TYPE_CHECKING:
    from vyre.driver.grid import Extents
    from vyre.front import KernelSource
    from vyre.front.capture_guards import Outside
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.launch_sizes import Shapes
    from vyre.runtime.run import Dispatched

CallOptions = tuple[str | None, "Extents", "Extents", float | None]
"""`device`, `grid`, `elements` and `deadline` of a call."""

_MAX_ENTRIES: Final = 16
"""Entries of a kernel: enough for a few types, devices and static values."""
_OPTION_TYPES: Final = (type(None), str, int, float, tuple)


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
        if not (
            (grid is None or is_comparable(grid)) and (elements is None or is_comparable(elements))
        ):
            try:
                grid, elements = grids.given(call.program, grid, elements), None
            except DispatchError:
                return False
        try:
            return call.replay(args, grid, elements, held)
        except TrapError as error:
            held.clear()
            raise located(error, call.program) from None
        except BaseException:
            held.clear()  # the error would hold them with its frames
            raise

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
        if not is_bound_in_place(done.binding, made.given, compiled.bound_names):
            return
        if 0 in done.grid and not is_idle(compiled):
            return
        signature = signature_of(self._kernel, args, made, compiled)
        if signature is None:
            return
        if not (is_comparable(grid) and is_comparable(elements)):
            grid, elements = done.grid, None
        shapes: Shapes = [cast("Any", args[place.position]).shape for place in signature.places]
        plain = {name: out for name, out in outs.items() if name not in made.layouts}
        tail = (*done.grid, *runs_of(signature.names, plain))
        buffers = shape_buffers(signature, shapes)
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


__all__ = ["CallCache", "CallOptions", "PreparedLaunch"]
