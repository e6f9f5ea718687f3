"""C###: settings, and what vyre finds around it."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code
from vyre.diagnostics.diagnostic import Severity

NO_CACHE = Code(
    "C001",
    "no cache",
    "nothing is kept for later processes, and nothing of earlier ones is used: {problem}",
    "{first}set VYRE_CACHE_DIR to an absolute path that only you can write to; "
    "VYRE_CACHE_BYTES=0 does without a cache and without this warning",
    explanation=(
        "What is read from the cache is executed, so no other user may be able to change its "
        "folder, or one above it ([the cache](../cache.md))."
    ),
    severity=Severity.WARNING,
)

CODES = (NO_CACHE,)
