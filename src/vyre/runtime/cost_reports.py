"""Cost reports in the cache, beside what was compiled: from process to process.

A report is kept when a hot program has been compiled with all passes. The next compilation of this
program for this target, in any process and with whatever options, knows by it that the program is
hot, and which passes it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.cache import DiskCache, cache_key, code_stamp, is_still_the_code

if TYPE_CHECKING:
    from vyre.driver.compilation import Compilation, CompileOptions
    from vyre.ir import Program
    from vyre.opt.cost_report import CostReport
    from vyre.target import Target


def saved_report(
    program: Program, target: Target, options: CompileOptions, store: DiskCache
) -> CostReport | None:
    """The report of an earlier compilation; None if there is none, or it tells of something else.

    Its digests decide, not only the key: a report is data.
    """
    if not store.limit or options.profile is None:
        return None
    found = store.get(_key(program, target, options.profile))
    if found is None:
        return None
    from vyre.opt.cost_report import CostReport

    report = CostReport.from_bytes(bytes(found))
    if report is None or not report.is_of(program, target, options.profile):
        return None
    return report


def keep_report(compilation: Compilation, target: Target, store: DiskCache) -> None:
    """Keep what a full compilation of a hot program found out, if that is what it was."""
    found = compilation.found
    if not found or not store.limit or not is_still_the_code():
        return
    from vyre.opt.cost_report import CostReport

    report = CostReport.from_bytes(found)
    if report is not None:
        store.put(_key(compilation.source, target, report.profile), found)


def _key(program: Program, target: Target, profile: str) -> str:
    return cache_key("cost report 1", code_stamp(), target.key(), profile, program.digest())


__all__ = ["keep_report", "saved_report"]
