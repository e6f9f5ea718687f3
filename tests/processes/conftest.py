"""A cache for all scenarios, so that what they have in common is compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run use."""
    return tmp_path_factory.mktemp("cache")
