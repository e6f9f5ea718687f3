"""`@vyre.kernel`: a Python function that runs on a device when it is called."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, overload

from vyre.config import config
from vyre.diagnostics import (
    ArgumentError,
    Diagnostic,
    ExecutionError,
    SanitizerError,
    Severity,
    TrapError,
)
from vyre.diagnostics.codes import front as codes
from vyre.driver import grid as grids
from vyre.driver import routing
from vyre.front import KernelSource, Specialisation, kernel_source
from vyre.ir import Program
from vyre.ir.services import service
from vyre.runtime import kernel_arguments as arguments
from vyre.runtime import telemetry
from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.compiling import compile
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel_arguments import Prepared
from vyre.runtime.kernel_grid import axes_of, covering
from vyre.runtime.kernel_outputs import zero_outputs
from vyre.runtime.recall import Recall, Wish
from vyre.runtime.run import checked_dispatch, dispatch_anew
from vyre.runtime.traps import located

P = ParamSpec("P")
Grid = Sequence[int] | int | None

DEFAULT_WORKGROUP = 64


class Kernel(Generic[P]):
    """A kernel. Calling it runs it; the arrays that it writes are changed in place.

    Without `grid` and `elements` it runs once per element of the longest array it writes; if it
    asks for `vy.gid(1)` it covers the last two axes of that array, `vy.gid(0)` along the last.
    """

    def __init__(self, source: KernelSource, function: Callable[P, None]) -> None:
        self.source = source
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self._recall = Recall(source)

    def __repr__(self) -> str:
        return f"<vyre kernel {self.__name__}>"

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None: ...
    @overload
    def __call__(
        self,
        *args: Any,
        device: str | None,
        grid: Grid = None,
        elements: int | None = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: Any,
        grid: Grid,
        elements: int | None = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None: ...
    @overload
    def __call__(
        self, *args: Any, elements: int | None, deadline: float | None = None, **kwargs: Any
    ) -> None: ...
    @overload
    def __call__(self, *args: Any, deadline: float | None, **kwargs: Any) -> None: ...
    def __call__(
        self,
        *args: Any,
        device: str | None = None,
        grid: Grid = None,
        elements: int | None = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Run the kernel."""
        wish = (device, grid, elements, deadline)
        ordered = self._recall.in_order(args, kwargs)
        if ordered is None or not self._recall.again(ordered, wish, self._default_grid):
            self._call(args, kwargs, wish)

    def _call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], wish: Wish) -> None:
        """Run the kernel, looking at everything."""
        device, grid, elements, deadline = wish
        given = arguments.by_parameter(self.source, args, kwargs, partial=False)
        made = arguments.prepare(self.source, given)
        if made.views and not self.source.copies_whole:
            from vyre.runtime.kernel_views import place_views

            chosen = routing.choose(device or made.device).device
            made.layouts = place_views(made.views, made.given, made.written, chosen)
        program = self._program(given, made)
        if device is None:
            device = made.device
        arguments.keep_numbers(program, made)
        compiled = compile(program, device=device)
        if grid is None and elements is None:
            grid, elements = self._default_grid(program, made)
        cleared = zero_outputs(self.source, program, made, grid, elements)
        try:
            if config().check or compiled.takes_arrays is None:
                launch = checked_dispatch()
                launch(compiled, made.given, grid, elements, None, deadline, in_place=True)
                return
            done = dispatch_anew(compiled, made.given, grid, elements, None, deadline, True)
        except TrapError as error:
            raise located(error, program) from None
        if not made.layouts:
            ordered = tuple(given[name] for name in self.source.parameters)
            self._recall.remember(ordered, made, wish, cleared, compiled, done)
        done.finish()

    def _program(self, given: Mapping[str, Any], made: Prepared) -> Program:
        wanted = arguments.specialise(self.source, given, arguments.type_of_value, made.layouts)
        return self.source.program(wanted)

    def _default_grid(self, program: Program, made: Prepared) -> tuple[Grid, int | None]:
        """The grid for a call that says nothing about it: as `grid`, or as `elements`."""
        if not made.written or (axes_of(program) == 1 and not made.layouts):
            return None, None
        shape = max((array.shape for array in made.written.values()), key=math.prod)
        grid = covering(program, shape)
        return grid, None if grid is not None else math.prod(shape)

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The program for a call with these arguments.

        Types stand for arrays: `k.program(vy.f32)`, or `k.program(x=vy.f32)`. A kernel without
        generic types and static parameters needs no arguments.
        """
        return self.source.program(self._specialisation(args, kwargs))

    def _specialisation(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialisation:
        given = arguments.by_parameter(self.source, args, kwargs, partial=True)
        return arguments.specialise(self.source, given, arguments.type_of_value)

    def compile(self, *args: Any, device: str | None = None, **kwargs: Any) -> CompiledProgram:
        """The kernel, compiled for a device."""
        return compile(self.program(*args, **kwargs), device=device)

    def show(self, stage: str = "ir", *args: Any, device: str | None = None, **kwargs: Any) -> str:
        """The kernel at a stage of its way: `ir`, `opt`, `llvm`, `asm` or `wgsl`."""
        if stage == "ir":
            return str(self.program(*args, **kwargs))
        chosen = device or ("wgpu" if stage == "wgsl" else "cpu" if stage != "opt" else None)
        compiled = self.compile(*args, device=chosen, **kwargs)
        if stage == "opt":
            return str(compiled.program)
        sources = compiled.sources()
        if stage not in sources:
            others = ["wgsl"] if device is None else []
            known = ", ".join(["ir", "opt", *sources, *others])
            raise ArgumentError(codes.STAGE.at(name=stage, device=compiled.device, known=known))
        return sources[stage]

    def explain(self, *args: Any, device: str | None = None, **kwargs: Any) -> str:
        """Why it runs where it runs, and what the optimizer did."""
        return self.compile(*args, device=device, **kwargs).explain()

    def reference(
        self,
        *args: Any,
        grid: Grid = None,
        elements: int | None = None,
        deadline: float | None = None,
        sanitize: bool = True,
        schedule: int | None = None,
        **kwargs: Any,
    ) -> tuple[Diagnostic, ...]:
        """The same call on the reference, which looks for races and accesses out of bounds.

        Defects are raised as a `SanitizerError`; what is only suspicious is returned. A number for
        `schedule` runs the invocations in another order, the same one every time: a kernel whose
        results depend on it is wrong.
        """
        given = arguments.by_parameter(self.source, args, kwargs, partial=False)
        made = arguments.prepare(self.source, given)
        arguments.check_aliases(made)
        program = self._program(given, made)
        if grid is None and elements is None:
            grid, elements = self._default_grid(program, made)
        zero_outputs(self.source, program, made, grid, elements)
        from vyre.runtime.verify import snapshot

        inputs = snapshot(program, made.given)
        counts = {name: len(array) for name, array in inputs.items()}
        shape = grids.resolve(program, counts, grid, elements)
        sizes = {name: len(array.reshape(-1)) for name, array in inputs.items()}
        try:
            result = service("reference")(
                program,
                inputs,
                shape,
                sanitize=sanitize,
                schedule=schedule,
                deadline=deadline,
                output_sizes=sizes,
            )
        except ExecutionError as ended:
            telemetry.show(ended.printed)
            raise
        for name, array in made.written.items():
            found = result.outputs[name].view(array.dtype)
            if isinstance(array, DeviceArray):
                array.write(found)
            else:
                array[...] = found.reshape(array.shape)
        telemetry.show(result.printed)
        findings: tuple[Diagnostic, ...] = result.findings
        if any(found.severity is Severity.ERROR for found in findings):
            raise SanitizerError(findings)
        return findings


@overload
def kernel(function: Callable[P, None], /) -> Kernel[P]: ...
@overload
def kernel(
    *, workgroup: Sequence[int] | int = DEFAULT_WORKGROUP, fast_math: bool = False
) -> Callable[[Callable[P, None]], Kernel[P]]: ...
def kernel(
    function: Any = None,
    /,
    *,
    workgroup: Sequence[int] | int = DEFAULT_WORKGROUP,
    fast_math: bool = False,
) -> Any:
    """Make a typed Python function a kernel: `@vy.kernel` or `@vy.kernel(workgroup=256)`."""

    def decorate(wanted: Callable[..., None]) -> Kernel[...]:
        return Kernel(kernel_source(wanted, workgroup, fast_math), wanted)

    return decorate if function is None else decorate(function)
