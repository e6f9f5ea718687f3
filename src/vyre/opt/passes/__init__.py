"""The passes of vyre, one file each, in the order of the table."""

from __future__ import annotations

from vyre.opt.pass_ import Pass

PASSES: tuple[type[Pass], ...] = ()
