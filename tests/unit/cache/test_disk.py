"""The cache on disk: whole or absent, verified, bounded, shared."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vyre.cache.disk import MAGIC, DiskCache, cache_key, default_cache


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "programs", 1 << 20)


def test_what_was_put_is_got(cache):
    assert cache.get("a") is None
    assert cache.put("a", b"body")
    assert cache.get("a") == b"body"
    assert cache.summary().entries == 1
    assert cache.clear() == 1
    assert cache.get("a") is None


def test_everybody_counts_what_is_written_in_the_same_cache():
    assert default_cache() is default_cache()


def test_keys_tell_everything_apart():
    keys = {cache_key("ab", "c"), cache_key("a", "bc"), cache_key("abc"), cache_key("abc", "")}
    assert len(keys) == 4


@pytest.mark.parametrize("harm", ["torn", "flipped", "foreign", "renamed", "empty"])
def test_a_harmed_entry_is_a_miss_and_goes(cache, harm):
    cache.put("key", b"x" * 1000)
    path = next(Path(cache.folder).glob("*.vyc"))
    data = bytearray(path.read_bytes())
    if harm == "torn":
        data = data[: len(data) // 2]
    elif harm == "flipped":
        data[-1] ^= 1
    elif harm == "foreign":
        data[: len(MAGIC)] = b"#!/bin/sh\n\n"
    elif harm == "empty":
        data = bytearray()
    path.write_bytes(data)
    key = "key"
    if harm == "renamed":
        key = "other"
        path.rename(path.with_name("other.vyc"))
    assert cache.get(key) is None
    assert not list(Path(cache.folder).glob("*.vyc"))


def test_the_least_recently_used_goes_first(tmp_path):
    cache = DiskCache(tmp_path, 10_000)
    for number in range(6):
        cache.put(f"k{number}", bytes(1500))
        os.utime(tmp_path / f"k{number}.vyc", (number, number))
    cache.get("k0")
    cache.put("k6", bytes(1500))
    cache.trim()
    assert cache.get("k0") is not None
    assert cache.get("k1") is None
    assert cache.summary().nbytes <= 10_000


def test_too_large_a_body_and_a_limit_of_nothing(tmp_path):
    assert not DiskCache(tmp_path, 100).put("k", bytes(200))
    assert DiskCache(tmp_path, 0).get("k") is None


WORKER = """
import sys, random
from pathlib import Path
from vyre.cache import DiskCache
folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(seed)
cache = DiskCache(folder, 200_000)
for _ in range(rounds):
    key = dice.randrange(40)
    body = (str(key) * 4000).encode()
    found = cache.get(f"k{key}")
    if found is not None and found != body:
        sys.exit(3)
    cache.put(f"k{key}", body)
"""


def test_sixteen_processes_share_it_while_one_is_killed(tmp_path):
    commands = [
        [sys.executable, "-c", WORKER, str(tmp_path), str(seed), "200"] for seed in range(16)
    ]
    running = [subprocess.Popen(command) for command in commands]
    time.sleep(random.Random(1).uniform(0.5, 1.0))
    running[7].send_signal(signal.SIGKILL)
    codes = [process.wait(timeout=120) for process in running]
    assert set(codes) <= {0, -signal.SIGKILL}
    cache = DiskCache(tmp_path, 200_000)
    for key in range(40):
        found = cache.get(f"k{key}")
        assert found is None or found == (str(key) * 4000).encode()
