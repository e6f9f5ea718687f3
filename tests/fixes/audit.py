"""What is wrong with a case and its repairs; empty if all is well."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fixes.cases import Case, all_cases
from tests.fixes.code_in import alternatives
from tests.fixes.matching import uses
from tests.fixes.repairs import Repair, all_repairs, asserts, follow

Choices = tuple[tuple[str, ...], ...]


def choices_of(case: Case) -> list[Choices]:
    """For each thing that is said of a case and whose fix has code: the choices it gives."""
    found = [alternatives(diagnostic.fix) for diagnostic in case.said()]
    return [choices for choices in found if choices]


def repairs_of(case: Case) -> list[Repair]:
    """The repairs of a case; those of another that is told the same if it has none of its own."""
    own = all_repairs().get(case.key)
    if own is not None or not choices_of(case):
        return own or []
    told = [(diagnostic.code, diagnostic.fix) for diagnostic in case.said()]
    for key, repairs in all_repairs().items():
        other = all_cases().get(key)
        if other is not None and [(one.code, one.fix) for one in other.said()] == told:
            return repairs
    return []


def missing(case: Case, repairs: Sequence[Repair]) -> list[str]:
    """The code of fixes that no repair uses, and repairs that use none of it."""
    wanted = choices_of(case)
    problems: list[str] = []
    for choices in wanted:
        problems += [
            f"no repair uses {' with '.join(choice)}"
            for choice in choices
            if not any(_takes(repair, choice) for repair in repairs)
        ]
    for repair in repairs:
        if not all(any(_takes(repair, choice) for choice in choices) for choices in wanted):
            problems.append(f"{repair.name} in {repair.file} does not do what the fix says")
    return problems


def _takes(repair: Repair, choice: tuple[str, ...]) -> bool:
    return all(uses(repair.text, piece) for piece in choice)


def failures(repair: Repair) -> list[str]:
    """What goes wrong when a repaired program runs."""
    if not asserts(repair):
        return [f"{repair.name} asserts nothing"]
    problems: list[str] = []
    for device in repair.devices:
        try:
            follow(repair, device)
        except Exception as problem:  # noqa: BLE001 - whatever a repaired program raises
            problems.append(f"{repair.name} on {device}: {type(problem).__name__}: {problem}")
    return problems


def audit(case: Case, repairs: Sequence[Repair]) -> list[str]:
    """Everything that is wrong with the fixes of a case."""
    if not case.said():
        return [f"{case.key} is not refused any more"]
    problems = missing(case, repairs)
    for repair in repairs:
        problems += failures(repair)
    return problems
