"""What a suite hands back: tables for people, data for programs, and where it was measured."""

import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from benchmarks.kernel import Scale

Statistic = Literal["median", "best"]

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    scale: Scale = "full"
    kernels: Sequence[str] | None = None
    peers: Sequence[str] | None = None
    rounds: int = 15
    budget: float = 20.0
    statistic: Statistic = "median"

    @property
    def complete(self) -> bool:
        """Whether a run with these options measures everything at full size."""
        everything = self.kernels is None and self.peers is None
        return self.scale == "full" and everything and self.statistic == "median"


@dataclass(frozen=True)
class Table:
    """One table: the first column names the row, `notes` are said below it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Machine:
    """Where a figure comes from."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str

    @property
    def sentence(self) -> str:
        """The machine in one line."""
        return (
            f"{self.processor}, {self.cores} cores, {self.memory_gib:.0f} GiB, "
            f"{self.system}, Python {self.python}"
        )


@dataclass(frozen=True)
class Report:
    """The outcome of one suite."""

    suite: str
    title: str
    introduction: str
    tables: Sequence[Table]
    data: Mapping[str, Any]
    versions: Mapping[str, str]
    scale: Scale = "full"
    complete: bool = True
    failures: Sequence[str] = field(default_factory=list[str])
    """Wrong results and crashes: whatever makes the command as a whole fail."""
    machine: Machine = field(default_factory=lambda: this_machine())
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))


@dataclass(frozen=True)
class Suite:
    """A plug of the registry: one file in benchmarks/suites, one of these in it."""

    name: str
    title: str
    run: Callable[[Options], Report]


def this_machine() -> Machine:
    """The machine this process runs on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        processor=processor_name(),
        cores=len(os.sched_getaffinity(0)),
        memory_gib=pages / 2**30,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
    )


def processor_name() -> str:
    """The processor's own name where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions_of(*packages: str) -> dict[str, str]:
    """The installed versions; `not installed` for what is not there."""
    found: dict[str, str] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def verdict(holds: bool, options: Options) -> str:
    """Whether a bound holds; bounds are about full sizes, so small ones are not judged by them."""
    if options.scale != "full":
        return "not judged at this size"
    return "held" if holds else "broken"


def duration(seconds: float) -> str:
    """A time for people, to three digits."""
    for factor, unit in ((1e6, "µs"), (1e3, "ms"), (1.0, "s")):
        if seconds * factor < 999.5 or unit == "s":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("seconds take what is left")


def save(report: Report) -> Path:
    """Writes results/<suite>.json, or <suite>-partial.json for a run that left something out."""
    name = report.suite if report.complete else f"{report.suite}-partial"
    return write_whole(RESULTS / f"{name}.json", json.dumps(asdict(report), indent=1) + "\n")


def load(path: Path) -> Report:
    """A report that `save` wrote."""
    fields: dict[str, Any] = json.loads(path.read_text())
    tables = [Table(**table) for table in fields.pop("tables")]
    machine = Machine(**fields.pop("machine"))
    return Report(**fields, tables=tables, machine=machine)


def write_whole(path: Path, content: str) -> Path:
    """Writes the file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).chmod(0o644)
    return Path(file.name).replace(path)
