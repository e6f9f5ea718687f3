"""`vyre cache`: the folder of compiled programs."""

from __future__ import annotations

import argparse

from vyre.cache import default_cache
from vyre.cli import output
from vyre.cli.command import DONE
from vyre.config import config

SUMMARY = "show, clear or trim the cache of compiled programs"
EXAMPLE = "vyre cache clear"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "action", nargs="?", choices=("show", "clear", "trim"), default="show", help="default: show"
    )


def run(options: argparse.Namespace) -> int:
    """Look at the cache, or make it smaller."""
    cache = default_cache()
    removed = 0
    if options.action == "clear":
        removed = cache.clear()
    elif options.action == "trim":
        removed = cache.trim()
    found = cache.summary()
    if options.json:
        output.print_json(
            {
                "path": found.path,
                "entries": found.entries,
                "bytes": found.nbytes,
                "limit": found.limit,
                "removed": removed,
                "reason": config().no_cache_because,
            }
        )
        return DONE
    if not found.path:
        print(f"no cache: {config().no_cache_because}")
        return DONE
    if options.action != "show":
        print(f"removed {removed} entries")
    print(
        f"{found.path}: {found.entries} entries, {output.nbytes(found.nbytes)} "
        f"of at most {output.nbytes(found.limit)}"
    )
    return DONE
