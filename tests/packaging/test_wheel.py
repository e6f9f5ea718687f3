"""What users get: the wheel made from the sdist, installed out of reach of the source tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
UNTRACKED = {"__pycache__"}


def done(words: list[str], folder: Path, **environment: str) -> str:
    """What a command prints in a folder outside of the source tree, with no way back into it."""
    inherited = {n: v for n, v in os.environ.items() if n not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    result = subprocess.run(
        words,
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done(words, folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel and what it asks for, nothing else."""
    (wheel,) = built.glob("*.whl")
    folder = tmp_path_factory.mktemp("environment")
    done([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    target = ["--python", str(programs / "python"), "install", "--quiet", "--no-compile"]
    done([*pip, *target, str(wheel)], folder)
    return programs


def sources() -> set[str]:
    """Every file of the package."""
    package = ROOT / "src" / "vyre"
    files = (path for path in package.rglob("*") if path.is_file())
    return {
        path.relative_to(package.parent).as_posix()
        for path in files
        if not UNTRACKED & set(path.parts)
    }


@pytest.mark.xdist_group("wheel")
def test_sdist_and_wheel_have_every_file_of_the_package(built: Path) -> None:
    assert "vyre/examples/saxpy.py" in sources()
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if name.startswith("vyre/")} == sources()
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources()} <= names
    assert {"README.md", "LICENSE", "Makefile", "docs/index.md", "tests/conftest.py"} <= names


@pytest.mark.xdist_group("wheel")
def test_the_installed_wheel_works_without_the_source_tree(installed: Path, tmp_path: Path) -> None:
    first = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    assert "@vy.kernel" in first
    script = tmp_path / "first.py"
    script.write_text(f"{first}\nimport sys\nprint(vy.__file__, *sys.path, sep='\\n')\n")
    own = {"VYRE_CACHE_DIR": str(tmp_path / "cache")}
    places = done([str(installed / "python"), script.name], tmp_path, **own).split()
    assert Path(places[0]).is_relative_to(installed.parent)
    assert not any(Path(place).is_relative_to(ROOT) for place in places)
    demo = [str(installed / "vyre"), "demo", "--device", "cpu", "--only", "saxpy"]
    said = done(demo, tmp_path, **own)
    assert "= reference" in said
    assert "The result is right" in said
    devices = done([str(installed / "vyre"), "devices"], tmp_path, **own)
    assert re.search(r"\bcpu\b.*\bavailable\b", devices)
    assert "reference" in devices
