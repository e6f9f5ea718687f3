"""`python -m vyre` is the command `vyre`."""

from __future__ import annotations

from vyre.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
