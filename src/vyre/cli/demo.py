"""`vyre demo`: kernels on every device found, compared with the reference, timed against numpy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from vyre.cli import output
from vyre.cli.command import DONE, FAILED, UsageError
from vyre.cli.demo_kernels import KERNELS, Kernel
from vyre.cli.demo_measure import Figures, Measurer
from vyre.driver import routing
from vyre.driver.backend import DeviceInfo, DeviceKind

SUMMARY = "run example kernels on every device, compare them with the reference, and time them"
EXAMPLE = "vyre demo --device cpu"

_FASTEST_LAST = (DeviceKind.REFERENCE, DeviceKind.SOFTWARE_GPU, DeviceKind.CPU, DeviceKind.GPU)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--device", action="append", metavar="ID", help="only this device (may be given again)"
    )
    parser.add_argument(
        "--only", metavar="A,B", help=f"only these kernels: {','.join(k.name for k in KERNELS)}"
    )


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    kernels = _kernels(options.only)
    infos = _devices(options.device)
    rows: list[Figures] = []
    if options.json:
        measurer = Measurer()
        rows = [measurer.measure(kernel, info) for kernel in kernels for info in infos]
        output.print_json([row.as_json() for row in rows])
    else:
        rows = _shown(kernels, infos)
    return DONE if all(row.is_right for row in rows) else FAILED


def _kernels(only: str | None) -> Sequence[Kernel]:
    known = {kernel.name: kernel for kernel in KERNELS}
    names = list(known) if only is None else only.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"no kernel {output.listing(unknown)}; there are {output.listing(list(known))}"
        )
    return [known[name] for name in names]


def _devices(wanted: Sequence[str] | None) -> list[DeviceInfo]:
    if wanted:
        return [routing.choose(name).device.info for name in wanted]
    found = [device.info for device in routing.all_devices() if device.info.available]
    return sorted(found, key=lambda info: _FASTEST_LAST.index(info.kind), reverse=True)


def _shown(kernels: Sequence[Kernel], infos: Sequence[DeviceInfo]) -> list[Figures]:
    screen = output.console()
    for info in infos:
        screen.print(f"[bold]{info.id:<12}[/]{info.name} [dim]({info.kind})[/]")
    for device in routing.all_devices():
        if not device.info.available:
            screen.print(f"[dim]{device.info.id:<12}not here: {device.info.reason}[/]")
    table = output.table(
        "kernel", "device", "result", ">time", ">GB/s", ">× numpy", ">compile", ">cached"
    )
    rows: list[Figures] = []
    measurer = Measurer()
    total = len(kernels) * len(infos)
    with screen.status("compiling …") as status:
        for kernel in kernels:
            for place, info in enumerate(infos):
                done = f"{len(rows) + 1} of {total}"
                status.update(f"{done} · {kernel.name}: {kernel.what}, on {info.id} …")
                row = measurer.measure(kernel, info)
                rows.append(row)
                title = _title(row, place, alone=len(infos) == 1)
                table.add_row(title, *_cells(row), end_section=info is infos[-1])
    screen.print(table)
    for row in rows:
        if row.problem:
            screen.print(f"{row.kernel} on {row.device}: {row.problem}", style="red", markup=False)
    screen.print(_verdict(kernels, infos, rows))
    return rows


def _title(row: Figures, place: int, *, alone: bool) -> str:
    """The first cell of a row: the kernel, and below it what it does."""
    if alone:
        return f"[bold]{row.kernel}[/]\n[dim]{row.what}[/]"
    return {0: f"[bold]{row.kernel}[/]", 1: f"[dim]{row.what}[/]"}.get(place, "")


def _cells(row: Figures) -> list[str]:
    if not row.is_right:
        word = "wrong" if row.ran else "failed"
        return [row.device, f"[bold red]{word}[/]", "", "", "", "", ""]
    result = "[green]= reference[/]" if row.device != "reference" else "[green]= numpy[/]"
    part = "" if row.part == 1 else f" [dim](1/{row.part})[/]"
    faster = row.numpy_seconds / row.seconds
    speed = f"{faster:.1f} ×" if faster >= 0.95 else f"{faster:.2g} ×"
    style = "bold green" if faster >= 1.5 else "" if faster >= 0.67 else "yellow"
    return [
        row.device,
        result,
        output.seconds(row.seconds) + part,
        f"{row.nbytes / row.seconds / 1e9:.2f}",
        f"[{style}]{speed}[/]" if style else speed,
        output.seconds(row.cold_seconds),
        output.seconds(row.cached_seconds),
    ]


def _verdict(
    kernels: Sequence[Kernel], infos: Sequence[DeviceInfo], rows: Sequence[Figures]
) -> str:
    wrong = sum(not row.is_right for row in rows)
    if wrong:
        return f"[bold red]{wrong} of {len(rows)} results are wrong or missing[/]"
    plural = "s" if len(infos) != 1 else ""
    return (
        f"[bold green]All {len(rows)} results are right:[/] {len(kernels)} kernels on "
        f"{len(infos)} device{plural}, each the same as on the reference and as in numpy.\n"
        "[dim]time: best of several whole runs from host arrays to host arrays (1/n: on that part "
        "of the data)\nGB/s: inputs and outputs, each counted once     × numpy: how many times "
        "as fast as numpy\ncompile: check, optimise, emit and load     cached: the same from the "
        "cache on disk[/]"
    )
