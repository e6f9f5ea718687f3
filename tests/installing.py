"""Packages as pip would leave them, for as long as a test runs."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest

from vyre.config import config
from vyre.driver import registry, routing
from vyre.installed import installed

_numbers = count()


class Site:
    """A folder on the path, with packages that extend vyre."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.patch = patch
        folder.mkdir(exist_ok=True)
        patch.setattr(sys, "path", [*sys.path, str(folder)])
        self.look_again()

    def module(self, text: str) -> str:
        """The name of a new module with this text."""
        name = f"vyre_test_module_{next(_numbers)}"
        (self.folder / f"{name}.py").write_text(dedent(text))
        return name

    def package(self, name: str, entry_points: str, version: str = "1.0") -> Path:
        """Describe a package; what it is described by."""
        described = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        described.mkdir(exist_ok=True)
        (described / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        (described / "entry_points.txt").write_text(dedent(entry_points))
        self.look_again()
        return described

    def without(self, names: str) -> None:
        """Set VYRE_WITHOUT."""
        self.patch.setenv("VYRE_WITHOUT", names)
        self.look_again()

    def look_again(self) -> None:
        """As a new process would."""
        installed.cache_clear()
        config.cache_clear()
        # Drivers of GPUs take a second to answer, and do not change.
        own = {name: routing._probed[name] for name in registry.BUILTIN if name in routing._probed}
        routing.forget_devices()
        routing._probed.update(own)
