"""`vyre demo`: the examples on every device, compared with the reference, and timed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from vyre.cli import output
from vyre.cli.command import DONE, FAILED, UsageError
from vyre.cli.demo_examples import EXAMPLES, Example
from vyre.cli.demo_measure import Figures, Measurer
from vyre.driver import routing
from vyre.driver.backend import DeviceInfo, DeviceKind

SUMMARY = "run the examples on every device, compare them with the reference, and time them"
EXAMPLE = "vyre demo --device cpu"

_FASTEST_LAST = (DeviceKind.REFERENCE, DeviceKind.SOFTWARE_GPU, DeviceKind.CPU, DeviceKind.GPU)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--device", action="append", metavar="ID", help="only this device (may be given again)"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="A,B",
        help=f"only these: {', '.join(e.name for e in EXAMPLES)}",
    )


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    examples = _examples(options.only)
    infos = _devices(options.device)
    if options.json:
        rows = _measured(examples, infos)
        output.print_json([row.as_json() for row in rows])
    else:
        rows = _shown(examples, infos)
    return DONE if all(row.is_right for row in rows) else FAILED


def _examples(only: Sequence[str] | None) -> Sequence[Example]:
    known = {example.name: example for example in EXAMPLES}
    names = [name.strip() for names in only or known for name in names.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"no example {output.listing(unknown)}; there are {output.listing(list(known))}"
        )
    return [known[name] for name in names]


def _devices(wanted: Sequence[str] | None) -> list[DeviceInfo]:
    if wanted:
        return [routing.choose(name).device.info for name in wanted]
    found = [device.info for device in routing.all_devices() if device.info.available]
    return sorted(found, key=lambda info: _FASTEST_LAST.index(info.kind), reverse=True)


def _measured(examples: Sequence[Example], infos: Sequence[DeviceInfo]) -> list[Figures]:
    rows: list[Figures] = []
    measurer = Measurer()
    with output.progress() as progress:
        for example in examples:
            for info in infos:
                progress(f"{example.name} on {info.id}", len(rows), len(examples) * len(infos))
                rows.append(measurer.measure(example, info))
    return rows


def _shown(examples: Sequence[Example], infos: Sequence[DeviceInfo]) -> list[Figures]:
    screen = output.console()
    for info in infos:
        screen.print(f"[bold]{info.id:<12}[/]{info.name} [dim]({info.kind})[/]")
    for device in routing.all_devices():
        if not device.info.available:
            screen.print(f"[dim]{device.info.id:<12}not here: {device.info.reason}[/]")
    table = output.table(
        "example", "device", "result", ">time", ">GB/s", ">× numpy", ">compile", ">cached"
    )
    rows = _measured(examples, infos)
    for number, row in enumerate(rows):
        place = number % len(infos)
        title = _title(row, place, alone=len(infos) == 1)
        table.add_row(title, *_cells(row), end_section=place == len(infos) - 1)
    screen.print(table)
    for row in rows:
        if row.problem:
            screen.print(f"{row.kernel} on {row.device}: {row.problem}", style="red", markup=False)
    screen.print(_verdict(examples, infos, rows))
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
    result = f"= {row.against}" if row.device == "reference" else "= reference"
    if row.device != "reference" and row.compared_part > row.part:
        result += f" [dim](1/{row.compared_part})[/]"
    part = "" if row.part == 1 else f" [dim](1/{row.part})[/]"
    faster = row.numpy_seconds / row.seconds
    speed = f"{faster:.1f} ×" if faster >= 0.95 else f"{faster:.2g} ×"
    style = "bold green" if faster >= 1.5 else "" if faster >= 0.67 else "yellow"
    return [
        row.device,
        f"[green]{result}[/]",
        output.seconds(row.seconds) + part,
        f"{row.nbytes / row.seconds / 1e9:.2f}",
        f"[{style}]{speed}[/]" if style else speed,
        output.seconds(row.cold_seconds),
        output.seconds(row.cached_seconds),
    ]


def _verdict(
    examples: Sequence[Example], infos: Sequence[DeviceInfo], rows: Sequence[Figures]
) -> str:
    wrong = sum(not row.is_right for row in rows)
    if wrong:
        return f"[bold red]{wrong} of {len(rows)} results are wrong or missing[/]"
    right = f"All {len(rows)} results are right" if len(rows) != 1 else "The result is right"
    others = {e.name: e.against for e in examples if e.against != "numpy"}
    except_for = "".join(f" ({name}: as {other})" for name, other in others.items())
    return (
        f"[bold green]{right}:[/] "
        f"{_counted(len(examples), 'example')} on {_counted(len(infos), 'device')}, each the same "
        "as on the reference and as in numpy.\n"
        "[dim]time: best of several whole runs from host arrays to host arrays (1/n: on that part "
        "of the data)\nresult: compared with the reference (1/n: on that part of the data, all of "
        "it with numpy)\nGB/s: inputs and outputs, each counted once     × numpy: how many times "
        f"as fast as numpy{except_for}\ncompile: check, optimise, emit and load     cached: the "
        "same from the cache on disk[/]"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
