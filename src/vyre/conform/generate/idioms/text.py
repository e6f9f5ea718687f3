"""What the idioms share: how numbers become elements, and where results go."""

from __future__ import annotations

from vyre.conform.generate.idiom_insertion import Site

STORED: dict[str, str] = {
    "u32": "{}",
    "i32": "i32({})",
    "u8": "u8({})",
    "i16": "i16({})",
    "u64": "u64({}) * 4294967297u64",
    "f32": "f32({})",
    "bool": "{} > 3u32",
    "f16": "f16({})",
    "f8e4m3": "f32({})",
    "i4": "i8({})",
}
"""How a number becomes an element, by type."""


def out(site: Site) -> tuple[str, str]:
    """A buffer for results, as a declaration, and a store to it with a hole for the value."""
    name = f"{site.prefix}out"
    return f"{name}: read_write u32[{site.total}] @", f"{name}[invocation] = {{}}\n"
