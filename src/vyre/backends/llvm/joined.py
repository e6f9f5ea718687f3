"""Merges object files: undefined symbols of one resolve to definitions of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vyre.backends.llvm.elf import ElfObject, Relocation, Section, Symbol
from vyre.backends.llvm.image import bad_object


def joined(objects: Sequence[ElfObject]) -> ElfObject:
    """One object with all sections, symbols and relocations; only visible names are shared.

    An object's own definitions take precedence over those of the others.
    """
    first, *others = objects
    if not others:
        return first
    if any(other.machine != first.machine for other in others):
        raise bad_object("its parts are for different instruction sets")
    sections: dict[int, Section] = {}
    symbols: list[Symbol] = []
    relocations: list[Relocation] = []
    for each in objects:
        place, number = max(sections, default=0) + 1, len(symbols)
        sections.update({place + index: section for index, section in each.sections.items()})
        symbols += [
            s if s.section is None else replace(s, section=place + s.section) for s in each.symbols
        ]
        relocations += [
            # The first symbol of every object is the null symbol.
            replace(r, section=place + r.section, symbol=r.symbol and number + r.symbol)
            for r in each.relocations
        ]
    shown: dict[str, Symbol] = {}
    for symbol in symbols:
        if symbol.visible and symbol.section is not None:
            shown.setdefault(symbol.name, symbol)
    found = [shown.get(s.name, s) if s.section is None and s.name else s for s in symbols]
    return ElfObject(first.machine, sections, found, relocations)


__all__ = ["joined"]
