"""What all tests share: the `--bless` flag, Hypothesis profiles, the collector of `.vy` files."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.files.collector import VyFile

# A third party's package with an entry point in the group `vyre.backends`, as if it were installed.
sys.path.append(str(Path(__file__).parent / "example_backend"))

# `ci` is what an ordinary run uses: the same examples every time, so a red run means a change.
settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=False)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite expectations (.vy files, snapshots) from what the code does now",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bless") and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--bless rewrites files: run it without -n")
    if not hasattr(config, "workerinput"):  # the workers of -n inherit what is set here
        _isolate(config)


def _isolate(config: pytest.Config) -> None:
    """Tests neither see nor touch the user's settings, caches and reproducers."""
    for name in [name for name in os.environ if name.startswith("VYRE_")]:
        del os.environ[name]
    folder = tempfile.mkdtemp(prefix="vyre-tests-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["VYRE_CACHE_DIR"] = os.path.join(folder, "cache")
    os.environ["VYRE_REPRODUCERS"] = os.path.join(folder, "reproducers")
    # Hundreds of tests start Python: where byte code is not kept, each of them compiles vyre anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.distribution import Forgetful

    return Forgetful(config, log)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> VyFile | None:
    if file_path.suffix == ".vy" and Path(__file__).parent / "files" in file_path.parents:
        return VyFile.from_parent(parent, path=file_path)
    return None


def pytest_collection_finish() -> None:
    # What collection made stays until the end: tests that collect garbage need not look at it.
    gc.collect()
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether this run rewrites snapshots instead of comparing with them."""
    return bool(request.config.getoption("--bless"))
