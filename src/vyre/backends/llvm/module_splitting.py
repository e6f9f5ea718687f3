"""Splits a module into the kernel and its cold functions.

LLVM chooses how it selects instructions and registers for a whole module, and the quick way takes a
tenth of the time. Whatever both modules may need is in both of them: what they do not use is gone
before LLVM does any work.
"""

from __future__ import annotations

import re

from vyre.backends.llvm.abi import KERNEL_SYMBOL
from vyre.backends.llvm.emit.outline_cold_code import PREFIX

_ASIDE = re.compile(rf"^define internal (\w+ @{re.escape(PREFIX)}\d+)\((.*)\) (.*) \{{$", re.M)
_NAME = re.compile(r" %[-\w$.]+", re.ASCII)


def separated(text: str) -> tuple[str, str | None]:
    """The kernel's module, and that of its cold functions, if any."""
    main: list[str] = []
    end = 0
    for match in _ASIDE.finditer(text):
        head, parameters, attributes = match.groups()
        main.append(text[end : match.start()])
        main.append(f"declare {head}({_NAME.sub('', parameters)}) {attributes}")
        end = text.index("\n}", match.end()) + 2
    if not main:
        return text, None
    main.append(text[end:])
    kernel = text.index(f"define void @{KERNEL_SYMBOL}(")
    others = text[:kernel] + text[text.index("\n}", kernel) + 2 :]
    return "".join(main), others.replace(f"define internal i32 @{PREFIX}", f"define i32 @{PREFIX}")


__all__ = ["separated"]
