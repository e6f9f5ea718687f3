"""Bugs planted in the cache are shown by the nets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cache import keys
from tests.unit.cache.attacks import ATTACKS
from tests.unit.cache.environment import Environment
from tests.unit.cache.plants import CHECKS, KEYS, STAMPS, Plant
from tests.unit.cache.test_keys import edits_are_confused
from vyre.cache import DiskCache, sources


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with Environment(tmp_path_factory.mktemp("planted")) as made:
        yield made


def test_there_are_enough_plants() -> None:
    assert len(STAMPS) + len(KEYS) + len(CHECKS) >= 25


@pytest.mark.parametrize("name", STAMPS)
def test_what_is_left_out_of_the_stamp_is_found(name: str, environment: Environment) -> None:
    plant, row = STAMPS[name]
    changes = row in keys.STAMPED
    change = keys.STAMPED[row] if changes else keys.NOT_STAMPED[row]
    changed = keys.stamp_after(environment, change, plant) != environment.stamp(plant)
    assert changed is not changes


@pytest.mark.parametrize("plant", KEYS, ids=lambda plant: plant.name)
def test_what_is_left_out_of_keys_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    with plant.planted():
        found = [keys.key_after(change, monkeypatch) for change in keys.KEYED.values()]
        found.append(keys.world().key())
    assert len(set(found)) < len(found)


@pytest.mark.parametrize("plant", CHECKS, ids=lambda plant: plant.name)
def test_what_is_not_checked_is_found(
    plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with plant.planted():
        assert ATTACKS[plant.attack](tmp_path, monkeypatch)
    monkeypatch.undo()


def test_notes_of_young_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DiskCache(tmp_path / "store", 1 << 20)
    monkeypatch.setattr(sources, "default_cache", lambda: store)
    monkeypatch.setattr(sources, "_YOUNG_NS", -1 << 62)
    assert edits_are_confused(tmp_path, monkeypatch)
