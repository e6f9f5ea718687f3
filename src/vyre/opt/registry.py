"""The passes that there are: a table, and what installed packages add by entry point.

A pass of another package that cannot be used, for whatever reason, is missing and says why; all
others work.
"""

from __future__ import annotations

import inspect
from functools import cache, lru_cache
from typing import NamedTuple, Protocol, cast

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.extensions import Extension, Missing, extensions, in_a_line, missing
from vyre.opt.metadata import PassMetadata
from vyre.opt.pass_ import Pass
from vyre.opt.passes import PASSES
from vyre.signals import is_from_handler

GROUP = "vyre.passes"


class EntryPoint(Protocol):
    """What is needed of an entry point."""

    @property
    def name(self) -> str:
        """By which it is declared."""
        ...

    def load(self) -> object:
        """What it names."""
        ...


def registered_passes() -> tuple[Pass, ...]:
    """Every pass: those of vyre in the order of its table, then installed ones by name."""
    return (*_own(), *_installed().passes)


def missing_passes() -> tuple[Missing, ...]:
    """The passes that installed packages bring and that cannot be used, and why."""
    return _installed().missing


def origin_of(each: Pass) -> Extension | None:
    """The entry point that brings a pass, if one does."""
    return _installed().origins.get(type(each))


def pass_by_name(name: str) -> Pass:
    """The pass of this name."""
    passes = {each.metadata.name: each for each in registered_passes()}
    if name not in passes:
        raise OptimizerError(codes.UNKNOWN_PASS.at(name=name, known=", ".join(sorted(passes))))
    return passes[name]


def load_entry_point(point: EntryPoint) -> Pass:
    """The pass that an entry point names."""
    try:
        found = point.load()
        problem = _not_a_pass(found)
        made = None if problem else cast("type[Pass]", found)()
    except (Exception, SystemExit) as error:
        if is_from_handler(error):
            raise
        raise _unusable(point, in_a_line(error)) from error
    if made is None:
        raise _unusable(point, problem)
    return made


class _Installed(NamedTuple):
    """What installed packages bring."""

    passes: tuple[Pass, ...]
    missing: tuple[Missing, ...]
    origins: dict[type[Pass], Extension]


@cache
def _own() -> tuple[Pass, ...]:
    return tuple(make() for make in PASSES)


def _installed() -> _Installed:
    return _load(tuple(extensions(GROUP)))


@lru_cache(maxsize=4)
def _load(points: tuple[Extension, ...]) -> _Installed:
    found: dict[str, tuple[Extension, Pass]] = {}
    refused: list[Missing] = []
    own = {each.metadata.name for each in _own()}
    for point in points:
        try:
            made = load_entry_point(point)
        except OptimizerError as error:
            refused.append(missing(point, error.diagnostics[0].message.partition(": ")[2]))
            continue
        name = made.metadata.name
        if name in own:
            refused.append(missing(point, f"vyre itself has a pass named {name!r}"))
        elif name in found:
            other = found[name][0].package
            refused.append(missing(point, f"the package {other} has a pass named {name!r} too"))
        else:
            found[name] = point, made
    kept = _with_requirements(own, found)
    for name, (point, made) in found.items():
        if name not in kept:
            refused.append(missing(point, _lacking(made, own | found.keys())))
    usable = [found[name] for name in found if name in kept]
    return _Installed(
        tuple(made for _, made in usable),
        tuple(sorted(refused, key=lambda each: each.name)),
        {type(made): point for point, made in usable},
    )


def _with_requirements(own: set[str], found: dict[str, tuple[Extension, Pass]]) -> set[str]:
    """The passes whose requirements are there, without circles."""
    kept = set(own)
    while True:
        more = {
            name
            for name, (_, made) in found.items()
            if name not in kept and kept.issuperset(made.metadata.requires)
        }
        if not more:
            return kept
        kept |= more


def _lacking(made: Pass, known: set[str]) -> str:
    unknown = [name for name in made.metadata.requires if name not in known]
    if unknown:
        return f"it requires the pass {unknown[0]!r}, which is not there"
    return f"it requires {', '.join(made.metadata.requires)}, which cannot be used or require it"


def _not_a_pass(found: object) -> str:
    is_pass = inspect.isclass(found) and issubclass(found, Pass)
    if not is_pass or not isinstance(getattr(found, "metadata", None), PassMetadata):
        return "it is not a class made by vyre_pass"
    return ""


def _unusable(point: EntryPoint, problem: str) -> OptimizerError:
    return OptimizerError(codes.BAD_ENTRY_POINT.at(name=point.name, problem=problem))
