"""Every example runs and checks itself, on every device that is here."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import vyre as vy
from vyre.cli.demo_examples import EXAMPLES
from vyre.examples import gallery

SIZES = {
    "bfs": 300,
    "decode_scan": 500,
    "generic": 100,
    "histogram": 3000,
    "life": 40,
    "mandelbrot": 24,
    "matmul": 40,
    "nbody": 100,
    "prefix_sum": 3000,
    "radix_sort": 300,
    "reduction": 10_000,
    "saxpy": 1000,
    "sha256": 100,
}
DEVICES = [info.id for info in vy.devices() if info.available]
FOLDER = Path(gallery.__file__).parent


def test_every_example_is_tested() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")}
    assert modules - {"__init__", "gallery", "picture"} == set(SIZES)


def test_the_demonstration_runs_every_example() -> None:
    assert {example.name for example in EXAMPLES} == set(SIZES)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SIZES)
def test_an_example_gives_what_numpy_gives(
    name: str, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    importlib.import_module(f"vyre.examples.{name}").main(device, SIZES[name])
    assert capsys.readouterr().out


def test_the_gallery_writes_pictures(tmp_path: Path) -> None:
    gallery.main("cpu", 60, tmp_path)
    for name in gallery.PICTURES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
