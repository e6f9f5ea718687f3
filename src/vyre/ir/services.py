"""What a program offers from higher layers: text, wire, checking, digest.

The language knows nothing of those layers. The package binds each name to "module:function" when
it is imported; the module is loaded when the service is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_targets: dict[str, str] = {}
_loaded: dict[str, Any] = {}


def bind(**targets: str) -> None:
    """Say where services are: `bind(validate="vyre.check:validate")`."""
    _targets.update(targets)
    for name in targets:
        _loaded.pop(name, None)


def service(name: str) -> Any:
    """The function bound to `name`."""
    function = _loaded.get(name)
    if function is None:
        module, _, attribute = _targets[name].partition(":")
        function = _loaded[name] = getattr(importlib.import_module(module), attribute)
    return function
