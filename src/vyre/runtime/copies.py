"""Copies between arrays of the host and memory of a device, counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vyre.driver.backend import BatchReading, Device, DeviceMemory
from vyre.runtime.host_arrays import HostArray
from vyre.runtime.telemetry import transfers

_WORD = 4
"""Bytes that devices move at least: to move fewer they first have to read what is around them."""


def bytes_of(host: HostArray) -> memoryview:
    """The bytes of a contiguous array."""
    return host.reshape(-1).view(np.uint8).data


def upload(memory: DeviceMemory, host: HostArray) -> None:
    """Fill memory from its start with an array; the rest of the memory is unused."""
    if not host.nbytes:
        return
    data = bytes_of(host)
    rest = len(data) % _WORD
    whole = len(data) - rest
    if whole:
        memory.write(data[:whole])
    if rest:
        last = bytes(data[whole:])
        room = min(_WORD, memory.nbytes - whole)
        memory.write(memoryview(last.ljust(room, b"\0")), whole)
    transfers.uploads += 1
    transfers.upload_bytes += len(data)


def read_back(device: Device, pending: Sequence[tuple[HostArray, DeviceMemory]]) -> None:
    """Fill arrays from the start of memory, with one wait for all where the device can do that."""
    reads = [(memory, bytes_of(host)) for host, memory in pending if host.nbytes]
    if len(reads) > 1 and isinstance(device, BatchReading):
        device.read_many(reads)
    else:
        for memory, into in reads:
            memory.read(into)
    transfers.readbacks += len(reads)
    transfers.readback_bytes += sum(len(into) for _, into in reads)
