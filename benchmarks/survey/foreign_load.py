"""How much of the machine others used while something was measured."""

import os
import time
from pathlib import Path

STATISTICS = Path("/proc/stat")


class ForeignLoad:
    """From its making on: the part of all cores' time that went to other processes.

    What is not idle and was not this process was another's, stolen time of a virtual machine
    included. The system counts in ticks of 10 ms, so the figure is good for half a second and more.
    """

    def __init__(self) -> None:
        self._cores = os.cpu_count() or 1
        self._idle = idle_seconds()
        self._own = time.process_time()
        self._started = time.perf_counter()

    def share(self) -> float:
        """0 for a machine of one's own, 1 for one that is all others'."""
        capacity = (time.perf_counter() - self._started) * self._cores
        own = time.process_time() - self._own
        foreign = capacity - (idle_seconds() - self._idle) - own
        return max(0.0, foreign / capacity)


def idle_seconds() -> float:
    """Seconds that all cores together were idle since the start of the system."""
    fields = STATISTICS.read_text().split("\n", 1)[0].split()
    idle, waiting = int(fields[4]), int(fields[5])
    return (idle + waiting) / os.sysconf("SC_CLK_TCK")
