"""`vyre devices`: what programs can run on here."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from vyre.cli import output
from vyre.cli.command import DONE
from vyre.diagnostics import DeviceError
from vyre.driver import routing
from vyre.driver.backend import Device

SUMMARY = "list the devices, what they can do, and why one is missing"
EXAMPLE = "vyre devices --features"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--features", action="store_true", help="also list features and limits")


def run(options: argparse.Namespace) -> int:
    """List the devices."""
    default = _default()
    found = routing.all_devices()
    if options.json or options.features:
        found = [routing.usable(device) for device in found]
    if options.json:
        output.print_json([_as_json(device, default) for device in found])
        return DONE
    screen = output.console()
    table = output.table("device", "kind", "name", "also called", "state")
    for device in found:
        info = device.info
        state = "[green]available[/]" if info.available else f"[yellow]{info.reason}[/]"
        # One that is missing may have the name of one that is there.
        mark = " [bold](default)[/]" if info.available and info.id == default else ""
        table.add_row(
            f"[bold]{info.id}[/]{mark}",
            info.kind,
            info.name,
            output.listing(info.aliases, ""),
            state,
        )
    screen.print(table)
    for device in found:
        if device.info.remedy and not device.info.available:
            screen.print(f"{device.info.id}: {device.info.remedy}")
    if options.features:
        for device in found:
            if device.info.available:
                _print_features(device)
    return DONE


def _default() -> str | None:
    try:
        return routing.choose(None).device.info.id
    except DeviceError:
        return None


def _print_features(device: Device) -> None:
    target = device.info.target
    limits = target.limits
    screen = output.console()
    screen.print(f"\n[bold]{device.info.id}[/] ({target.name})")
    screen.print(f"  features     {output.listing(sorted(target.features))}")
    screen.print(
        f"  workgroups   up to {limits.max_invocations} invocations, "
        f"{output.nbytes(limits.max_workgroup_bytes)} of shared memory, "
        f"subgroups of {target.subgroup_width}"
    )
    screen.print(
        f"  buffers      up to {limits.max_storage_buffers}, "
        f"each at most {output.nbytes(limits.max_buffer_bytes)}"
    )


def _as_json(device: Device, default: str | None) -> dict[str, object]:
    info = device.info
    found: dict[str, object] = {
        "id": info.id,
        "backend": info.backend,
        "kind": info.kind.value,
        "name": info.name,
        "aliases": list(info.aliases),
        "available": info.available,
        "default": info.available and info.id == default,
        "reason": info.reason,
        "remedy": info.remedy,
    }
    if info.available:
        target = info.target
        found["features"] = sorted(target.features)
        found["limits"] = asdict(target.limits)
        found["subgroup_width"] = target.subgroup_width
    return found
