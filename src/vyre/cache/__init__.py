"""What is kept from one process to the next, and under which conditions it is used again."""

from __future__ import annotations

from vyre.cache.compiler_fingerprint import backend_stamp, code_stamp, is_still_the_code
from vyre.cache.disk import CacheSummary, DiskCache, cache_key, default_cache

__all__ = [
    "CacheSummary",
    "DiskCache",
    "backend_stamp",
    "cache_key",
    "code_stamp",
    "default_cache",
    "is_still_the_code",
]
