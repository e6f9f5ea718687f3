"""B4##: a device and the reference disagree."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

DIFFERS = Code(
    "B401",
    "result that differs from the reference",
    "{name} on {device} differs from the reference: {difference}",
    "replay it: `vyre run {reproducer} --device {device}`; and please report it with that folder",
)

ORDER_OF_ATOMICS = Code(
    "B402",
    "result that depends on the order of atomics",
    "{name} depends on the order of atomics, so its result on {device} cannot be compared: it "
    "differs from the reference ({difference}), and the reference in one order from itself in "
    "another ({among})",
    "make the result the same in every order, such as by sorting what atomics gave places to; "
    "or, if any order will do, run it without VYRE_CHECK",
    explanation="In which order the atomics of different invocations happen is not specified. "
    "What an atomic gives back, and what exchange leaves behind, may then differ from run to run.",
)
RACE = Code(
    "B403",
    "result that depends on a data race",
    "{name} on {device} differs from the reference ({difference}) because of a data race: {race}",
    "repair the race: {hint}; kernel.reference(...) shows both statements",
)
PIPELINE_DIFFERS = Code(
    "B404",
    "pipeline that differs from its stages",
    "{name} differs from its stages run apart: {array}[{index}] is {found} and should be "
    "{expected}",
    "run it with fuse=False meanwhile, or call {name}.apart; and please report it",
)

CODES = (DIFFERS, ORDER_OF_ATOMICS, RACE, PIPELINE_DIFFERS)
