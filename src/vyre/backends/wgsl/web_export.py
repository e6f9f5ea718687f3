"""A program as a web page: the shader, a loader, inputs, and a check of what it computes.

The page needs no server and no network: it works when opened from the disk in a browser with
WebGPU. `index.html` shows the shader and the outcome, `program.js` holds the data, and `loader.js`
runs it.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.backends.wgsl.atomics import STORAGE_LOCKS
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.shader import FOLD_FIELDS, Shader
from vyre.backends.wgsl.targets import PORTABLE
from vyre.ir import BufferDecl, Program
from vyre.lower import fold_grid

Grid = tuple[int, int, int]
Array = NDArray[Any]

MOST_WORKGROUPS = 65_535
"""Workgroups along an axis that every browser launches."""


def export_web(
    program: Program,
    directory: Path,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
    grid: Grid,
    ulps: Mapping[str, float] | None = None,
) -> list[Path]:
    """Write the page into `directory` and give the files.

    `expected` are the outputs by name, and their lengths are those of the page's buffers; `ulps`
    says by how many units in the last place the floats of a buffer may differ.
    """
    shader = emit_shader(program, PORTABLE)
    data = _page_data(program, shader, inputs, expected, grid, ulps or {})
    title = program.entry_op_id or "vyre program"
    web = files("vyre.backends.wgsl") / "web"
    page = Template((web / "page.html").read_text(encoding="utf-8"))
    texts = {
        "index.html": page.substitute(title=html.escape(title), shader=html.escape(data["shader"])),
        "program.js": f"const program = {json.dumps(data, indent=1)};\n",
        "loader.js": (web / "loader.js").read_text(encoding="utf-8"),
    }
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, text in texts.items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _page_data(
    program: Program,
    shader: Shader,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
    grid: Grid,
    ulps: Mapping[str, float],
) -> dict[str, Any]:
    """What the loader needs to know, as JSON."""
    folded = fold_grid(grid, MOST_WORKGROUPS)
    on_device = [decl for decl in program.buffers if not decl.is_on_chip]
    sizes = [_size(decl, inputs, expected) for decl in on_device]
    counts = [
        size // (decl.element.size_bytes or 1) for decl, size in zip(on_device, sizes, strict=True)
    ]
    values = {name: counts[place] for name, place in shader.lengths}
    fields = shader.fields
    if folded is not None:
        fields = (*fields, *FOLD_FIELDS)
        values |= dict(zip(FOLD_FIELDS, (folded.total, *grid), strict=True))
    return {
        "shader": shader.text if folded is None else shader.folded,
        "grid": list(grid if folded is None else folded.launched),
        "record": [values.get(name, 0) for name in fields],
        "bindings": [bound.argument for bound in shader.bindings],
        "tags": list(shader.tags),
        "lockBytes": 4 * STORAGE_LOCKS if shader.locked else 0,
        "buffers": [
            {"name": decl.name, "size": size, "input": _text(inputs.get(decl.name), decl)}
            for decl, size in zip(on_device, sizes, strict=True)
        ],
        "outputs": [
            {
                "name": decl.name,
                "buffer": place,
                "size": sizes[place],
                "kind": _kind(decl),
                "ulps": ulps.get(decl.name, 0),
                "expected": _text(expected[decl.name], decl),
            }
            for place, decl in enumerate(on_device)
            if decl.is_host_output
        ],
    }


def _size(decl: BufferDecl, inputs: Mapping[str, Array], expected: Mapping[str, Array]) -> int:
    for arrays in (inputs, expected):
        if decl.name in arrays:
            return int(arrays[decl.name].nbytes)
    return decl.size_bytes or 0


def _kind(decl: BufferDecl) -> str:
    scalar = decl.element.element if decl.element.is_vector else decl.element
    return scalar.spelling if scalar is not None and scalar.is_float else "bytes"


def _text(array: Array | None, decl: BufferDecl) -> str | None:
    if array is None:
        return None
    data = np.ascontiguousarray(array).tobytes()
    return base64.b64encode(data).decode("ascii")
