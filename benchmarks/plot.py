"""The kernels' ratios to C as bars on a logarithmic axis; needs matplotlib."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kernels import kernel_named
from benchmarks.peers import PEERS
from benchmarks.report import RESULTS, load

NO_MATPLOTLIB = 3
"""The exit status that says so."""

COLOURS = {
    "vyre": "#d62728",
    "numpy": "#7f7f7f",
    "numba": "#1f77b4",
    "taichi": "#2ca02c",
    "pyopencl": "#9467bd",
}

Row = Mapping[str, Mapping[str, Any]]


def ratios(data: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Every measured peer's figure relative to C's, by kernel."""
    figure = median if data["statistic"] == "median" else min
    rows: Mapping[str, Row] = data["kernels"]
    return {
        kernel: {
            peer: figure(outcome["seconds"]) / figure(row["c"]["seconds"])
            for peer, outcome in row.items()
            if peer != "c" and outcome["seconds"]
        }
        for kernel, row in rows.items()
        if row.get("c", {}).get("seconds")
    }


def draw(rows: Mapping[str, Mapping[str, float]], caption: str, target: Path) -> None:
    """One group of bars per kernel, growing from C's line at 1."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    peers = [peer for peer in PEERS if any(peer.name in row for row in rows.values())]
    names = list(rows)
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.115 * len(names) * (len(peers) + 1)))
    for index, peer in enumerate(peers):
        offset = (index - (len(peers) - 1) / 2) * 0.8 / len(peers)
        places = [y + offset for y, name in enumerate(names) if peer.name in rows[name]]
        values = [rows[name][peer.name] for name in names if peer.name in rows[name]]
        widths = [value - 1 for value in values]
        bars = axes.barh(
            places, widths, 0.75 / len(peers), left=1, color=COLOURS[peer.name], label=peer.title
        )
        axes.bar_label(bars, [f"{value:.2f}" for value in values], fontsize=6, padding=2)
    decorate(axes, names)
    figure.text(0.01, 0.005, caption, fontsize=6, color="#555555")
    figure.tight_layout(rect=(0, 0.01, 1, 1))
    figure.savefig(target, dpi=130)


def decorate(axes: Any, names: Sequence[str]) -> None:
    """Axis, line of C, legend."""
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(names)), [kernel_named(name).title for name in names])
    axes.invert_yaxis()
    axes.margins(x=0.1, y=0.005)
    axes.set_xlabel("time relative to C (left of the line is faster)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)


def main() -> None:
    """Draws the named file of benchmarks/results."""
    if find_spec("matplotlib") is None:
        sys.exit(NO_MATPLOTLIB)
    report = load(RESULTS / sys.argv[1])
    draw(ratios(report.data), f"{report.date} · {report.machine.sentence}", Path(sys.argv[2]))


if __name__ == "__main__":
    main()
