"""A program as a web page: the shaders, a loader, inputs, and a check of what it computes.

The page needs no server and no network: it works when opened from the disk in a browser with
WebGPU. `index.html` shows the shaders and the outcome, `program.js` holds the data, and the other
scripts run it, compare and show.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from dataclasses import field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.targets import PORTABLE
from vyre.backends.wgsl.web_plan import Json, WebPlan
from vyre.compiler import compile_program
from vyre.config import vyre_version
from vyre.driver.compilation import CompileOptions
from vyre.driver.grid import Grid
from vyre.ir import DataType, Program
from vyre.record import dataclass

Array = NDArray[Any]

SCRIPTS = ("check.js", "loader.js", "page.js")


@dataclass(frozen=True, slots=True)
class Sample:
    """A run of a program whose outcome is known."""

    inputs: Mapping[str, Array]
    counts: Mapping[str, int]
    """Elements of the buffers that the host sees, by name."""
    grid: Grid
    expected: Mapping[str, Array]
    """What comes out, by name; empty when it ends with a trap."""
    trap: str | None = None
    """The tag of the trap that ends it."""
    ulps: Mapping[str, float] = field(default_factory=dict[str, float])
    """By how many units in the last place the floats of an output may differ."""


def export_web(
    program: Program, directory: Path, sample: Sample, options: CompileOptions | None = None
) -> list[Path]:
    """Write the page into `directory` and give the files."""
    compilation = compile_program(
        program, WgpuBackend(), PORTABLE, options if options is not None else CompileOptions()
    )
    plan = WebPlan(compilation, sample.counts, sample.grid)
    grid = " × ".join(f"{extent:,}" for extent in sample.grid)
    workgroup = " × ".join(map(str, program.workgroup_size))
    title = program.entry_op_id or "vyre program"
    return write_page(directory, title, grid, workgroup, plan.shaders, _data(program, plan, sample))


def write_page(
    directory: Path, title: str, grid: str, workgroup: str, shaders: list[str], data: Json
) -> list[Path]:
    """Write the files of a page: its shaders, what the loader reads, and the scripts."""
    web = files("vyre.backends.wgsl") / "web"
    page = Template((web / "page.html").read_text(encoding="utf-8"))
    texts = {
        "index.html": page.substitute(
            title=html.escape(title),
            grid=grid,
            workgroup=workgroup,
            shaders="\n".join(_shader(k, shaders) for k in range(len(shaders))),
            version=vyre_version(),
        ),
        "program.js": f"const program = {json.dumps(data, indent=1)};\n",
        **{name: (web / name).read_text(encoding="utf-8") for name in SCRIPTS},
    }
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, text in texts.items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _shader(number: int, shaders: list[str]) -> str:
    """What the page shows is what it runs: the loader takes the text from here."""
    text = shaders[number]
    called = "WGSL" if len(shaders) == 1 else f"WGSL of segment {number + 1} of {len(shaders)}"
    head = f"<summary>{called}, {len(text.splitlines())} lines</summary>"
    # A newline right after the tag is not part of the text.
    body = f'<pre class="shader">\n{html.escape(text)}</pre>'
    return f"<details{' open' if number == 0 else ''}>{head}\n{body}</details>"


def _data(program: Program, plan: WebPlan, sample: Sample) -> Json:
    outputs = [decl for decl in program.buffers if decl.is_host_output]
    return {
        "buffers": [
            {**described(plan, name), "input": encoded(sample.inputs.get(name))}
            for name in plan.elements
        ],
        **plan.to_json(),
        "trap": sample.trap,
        "outputs": [
            {
                **described(plan, decl.name),
                "buffer": plan.place(decl.name),
                "ulps": sample.ulps.get(decl.name, 0),
                "expected": encoded(sample.expected.get(decl.name)),
            }
            for decl in outputs
        ],
    }


def described(plan: WebPlan, name: str) -> Json:
    """A buffer as the page shows it."""
    element = plan.elements[name]
    lane = element.element if element.is_vector and element.element is not None else element
    return {
        "name": name,
        "type": _spelled(lane),
        "lanes": element.lanes,
        "size": plan.size(name),
        "itemSize": element.size_bytes or 1,
    }


def _spelled(lane: DataType) -> str:
    return "u8" if lane is DataType.BYTES else lane.spelling


def encoded(array: Array | None) -> str | None:
    """Bytes of an array as text."""
    if array is None:
        return None
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
