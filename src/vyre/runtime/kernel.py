"""`@vyre.kernel`: a Python function that runs on a device when it is called."""

from __future__ import annotations

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
from vyre.driver import routing
from vyre.driver.loading import refuse_while_loading
from vyre.front import KernelSource, Specialisation, kernel_source
from vyre.ir import Program
from vyre.ir import late_binding as late
from vyre.runtime import kernel_arguments as arguments
from vyre.runtime import telemetry
from vyre.runtime.call_cache import CallCache, CallOptions
from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.compiling import compile
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel_arguments import Prepared
from vyre.runtime.kernel_grid import deciding_numbers, launch_grid
from vyre.runtime.kernel_outputs import outputs_of
from vyre.runtime.run import check_deadline, checked_dispatch, dispatch_anew
from vyre.runtime.specialisation import specialise, type_of_value
from vyre.runtime.traps import located

P = ParamSpec("P")
Grid = Sequence[int] | int | None
"""Along x, or along x, y and z."""

DEFAULT_WORKGROUP = 64


class Kernel(Generic[P]):
    """A kernel. Calling it runs it; the arrays that it writes are changed in place.

    Without `grid` (workgroups) and `elements` (invocations; along x, or along x, y and z) it runs
    as many as its stores and atomics need: up to the comparisons that guard them, or to the end of
    the array in which each invocation has an element of its own.
    """

    def __init__(self, source: KernelSource, function: Callable[P, None]) -> None:
        self.source = source
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.calls = CallCache(source)
        """The most recent calls, prepared for the next ones."""

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
        elements: Grid = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: Any,
        grid: Grid,
        elements: Grid = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None: ...
    @overload
    def __call__(
        self, *args: Any, elements: Grid, deadline: float | None = None, **kwargs: Any
    ) -> None: ...
    @overload
    def __call__(self, *args: Any, deadline: float | None, **kwargs: Any) -> None: ...
    def __call__(
        self,
        *args: Any,
        device: str | None = None,
        grid: Grid = None,
        elements: Grid = None,
        deadline: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Run the kernel on a device, and end with an error after `deadline` seconds."""
        options = (device, grid, elements, deadline)
        ordered = self.calls.positional(args, kwargs)
        if ordered is None or not self.calls.replay(ordered, options):
            self._call(args, kwargs, options)

    def _call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], options: CallOptions) -> None:
        """Run the kernel, without the call cache."""
        refuse_while_loading()
        device, grid, elements, deadline = options
        given = arguments.by_parameter(self.source, args, kwargs, partial=False)
        made = arguments.prepare(self.source, given)
        if made.views and not self.source.copies_whole:
            from vyre.runtime.kernel_views import place_views

            chosen = routing.choose(device or made.device).device
            made.layouts = place_views(made.views, made.given, made.written, chosen)
        translated = self.source.translated(self._wanted(given, made))
        program = translated.program
        if device is None:
            device = made.device
        arguments.keep_numbers(program, made)
        shape = launch_grid(program, made, grid, elements)
        compiled = compile(program, device=device)
        deciding = deciding_numbers(program, grid, elements)
        outs = outputs_of(self.source, program, made, shape, deciding)
        try:
            if config().check or compiled.takes_arrays is None:
                launch = checked_dispatch()
                launch(compiled, made.given, shape, None, None, deadline, True, outs)
                return
            done = dispatch_anew(compiled, made.given, shape, None, None, deadline, True, outs)
        except TrapError as error:
            raise located(error, program) from None
        ordered = tuple(given[name] for name in self.source.parameters)
        self.calls.store(ordered, made, options, outs, compiled, done, translated.outside)
        done.finish()

    def _wanted(self, given: Mapping[str, Any], made: Prepared) -> Specialisation:
        return specialise(self.source, given, type_of_value, made.layouts)

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The program for a call with these arguments.

        Types stand for arrays: `k.program(vy.f32)`, or `k.program(x=vy.f32)`. A kernel without
        generic types and static parameters needs no arguments.
        """
        return self.source.program(self._specialisation(args, kwargs))

    def _specialisation(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialisation:
        given = arguments.by_parameter(self.source, args, kwargs, partial=True)
        return specialise(self.source, given, type_of_value)

    def compile(self, *args: Any, device: str | None = None, **kwargs: Any) -> CompiledProgram:
        """The kernel, compiled for a device."""
        return compile(self.program(*args, **kwargs), device=device)

    def show(self, stage: str = "ir", *args: Any, device: str | None = None, **kwargs: Any) -> str:
        """The kernel at a stage of its way.

        `ir`, `opt`, then for the CPU `cpu` (after its passes), `schedule` (how its regions run),
        `llvm` and `asm`, or `wgsl`.
        """
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
        elements: Grid = None,
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
        wanted = self._wanted(given, made)
        program = self.source.program(wanted)
        arguments.keep_numbers(program, made)
        shape = launch_grid(program, made, grid, elements)
        if deadline is not None:
            check_deadline(deadline)
        outs = outputs_of(self.source, program, made, shape, frozenset())
        from vyre.runtime.kernel_coverage import left_out, limits_of
        from vyre.runtime.verify import snapshot

        inputs = snapshot(program, made.given, outs)
        sizes = {name: len(array.reshape(-1)) for name, array in inputs.items()}
        try:
            result = late.execute_reference(
                program,
                inputs,
                shape,
                sanitize=sanitize,
                schedule=schedule,
                deadline=deadline,
                limits=limits_of(program, made, elements) if sanitize else None,
                output_sizes=sizes,
            )
        except ExecutionError as ended:
            telemetry.show(ended.printed)
            raise
        for name, array in made.written.items():
            found = result.outputs[name].view(array.dtype)
            if isinstance(array, DeviceArray):
                array.write(found.reshape(array.shape))
            else:
                array[...] = found.reshape(array.shape)
        telemetry.show(result.printed)
        findings: tuple[Diagnostic, ...] = result.findings
        if sanitize and (grid is not None or elements is not None):
            written = self.source.as_written(wanted)
            findings += tuple(left_out(written, made, shape))
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
    """Make a typed Python function a kernel: `@vy.kernel` or `@vy.kernel(workgroup=256)`.

    `workgroup` is the number of invocations in a workgroup, along x, or along x, y and z.
    `fast_math` allows rewrites that change the results of float operations.
    """

    def decorate(wanted: Callable[..., None]) -> Kernel[...]:
        return Kernel(kernel_source(wanted, workgroup, fast_math), wanted)

    return decorate if function is None else decorate(function)
