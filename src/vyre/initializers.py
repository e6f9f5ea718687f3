"""What constructors of frozen records do, by the number of fields: set each slot.

They are compiled with this module, once. A class gets one of them with the names of its fields and
what sets its slots in place of `put0` and so on; see `record`.
"""

from __future__ import annotations

from typing import Any


def _put(instance: Any, value: Any) -> None:
    raise NotImplementedError


put0 = put1 = put2 = put3 = put4 = put5 = put6 = put7 = put8 = _put


def _set_1(self: Any, f0: Any) -> None:
    put0(self, f0)


def _set_2(self: Any, f0: Any, f1: Any) -> None:
    put0(self, f0)
    put1(self, f1)


def _set_3(self: Any, f0: Any, f1: Any, f2: Any) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)


def _set_4(self: Any, f0: Any, f1: Any, f2: Any, f3: Any) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)


def _set_5(self: Any, f0: Any, f1: Any, f2: Any, f3: Any, f4: Any) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)
    put4(self, f4)


def _set_6(self: Any, f0: Any, f1: Any, f2: Any, f3: Any, f4: Any, f5: Any) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)
    put4(self, f4)
    put5(self, f5)


def _set_7(self: Any, f0: Any, f1: Any, f2: Any, f3: Any, f4: Any, f5: Any, f6: Any) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)
    put4(self, f4)
    put5(self, f5)
    put6(self, f6)


def _set_8(  # noqa: PLR0913
    self: Any,
    f0: Any,
    f1: Any,
    f2: Any,
    f3: Any,
    f4: Any,
    f5: Any,
    f6: Any,
    f7: Any,
) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)
    put4(self, f4)
    put5(self, f5)
    put6(self, f6)
    put7(self, f7)


def _set_9(  # noqa: PLR0913
    self: Any,
    f0: Any,
    f1: Any,
    f2: Any,
    f3: Any,
    f4: Any,
    f5: Any,
    f6: Any,
    f7: Any,
    f8: Any,
) -> None:
    put0(self, f0)
    put1(self, f1)
    put2(self, f2)
    put3(self, f3)
    put4(self, f4)
    put5(self, f5)
    put6(self, f6)
    put7(self, f7)
    put8(self, f8)


_ALL = (_set_1, _set_2, _set_3, _set_4, _set_5, _set_6, _set_7, _set_8, _set_9)
CODES = tuple(function.__code__ for function in _ALL)
"""For one field, for two, and so on."""
