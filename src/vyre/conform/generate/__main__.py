"""Print a random program: `python -m vyre.conform.generate 17 --profile atomics`."""

from __future__ import annotations

import argparse

from vyre.conform.generate import PROFILES, generate


def main() -> None:
    """Print the program that the command line asks for."""
    parser = argparse.ArgumentParser("python -m vyre.conform.generate", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--profile", choices=list(PROFILES), default="default")
    options = parser.parse_args()
    print(generate(options.seed, options.profile))


if __name__ == "__main__":
    main()
