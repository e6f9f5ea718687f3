"""`python -m tests.conform`: every planted bug, one at a time, and what found it."""

from __future__ import annotations

import argparse

from tests.conform.hunt import hunt
from tests.conform.plants import PLANTS


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.conform", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each bug")
    parser.add_argument("--only", default="", help="bugs whose name holds this")
    options = parser.parse_args()
    chosen = [plant for plant in PLANTS if options.only in plant.name]
    caught = 0
    for plant in chosen:
        catch = hunt(plant, options.seconds)
        caught += catch is not None
        how = f"{catch.seconds:5.1f} s  {catch.by}" if catch else "       NOT FOUND"
        print(f"{plant.name:<55} {how}", flush=True)
    print(f"{caught} of {len(chosen)} planted bugs were found")
    return 0 if caught >= len(chosen) - 2 else 1


if __name__ == "__main__":
    raise SystemExit(main())
