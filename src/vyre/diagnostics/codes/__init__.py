"""Every code of vyre, one module per family; `all_codes()` is the whole table."""

from __future__ import annotations

import importlib

from vyre.diagnostics.codes.row import Code

__all__ = ["Code", "all_codes"]


def all_codes() -> dict[str, Code]:
    """The table of codes, ordered by code. Families are the modules of this package."""
    import pkgutil

    found: dict[str, Code] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name == "row":
            continue
        family = importlib.import_module(f"{__name__}.{module.name}")
        for row in family.CODES:
            if row.code in found:
                raise ValueError(f"the code {row.code} is given twice")
            found[row.code] = row
    return dict(sorted(found.items()))
