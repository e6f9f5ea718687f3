"""Runs the windows of one call, and holds them to the contract of their pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre.config import config
from vyre.diagnostics import TrapError
from vyre.driver.backend import Device
from vyre.pipelines.apart import OneByOne
from vyre.pipelines.call_memory import CallMemory
from vyre.pipelines.collected import Branch, Item
from vyre.pipelines.contract import Contract
from vyre.pipelines.execute import Counted, Window, count_launches, run_window
from vyre.pipelines.loop_sequence import LoopSequence
from vyre.pipelines.steps import Buffer
from vyre.pipelines.turns import by_plan, in_turn


class WindowRunner:
    """Runs windows on the memory that their buffers have, and counts what that takes."""

    def __init__(
        self,
        device: Device,
        simple: OneByOne,
        memory: CallMemory,
        contract: Contract,
        look: Callable[[], object],
        *,
        is_dry: bool,
    ) -> None:
        self._device = device
        self._simple = simple
        self._memory = memory
        self._contract = contract
        self._look = look
        """Looks at the counts, and raises `RunAgain` if room did not suffice."""
        self._is_dry = is_dry
        self.counted = Counted()
        self.is_decided = False
        """True if the device had a say in the course of the call."""

    def count_read(self, why: str) -> None:
        """Count that the host waits for a word of the device."""
        self.is_decided = True
        if not self._memory.is_shared:
            self.counted.host_reads += 1
            self._contract.check("host_reads", self.counted.host_reads, why)

    def check_time(self) -> None:
        """Raise an error if the deadline of the call has passed."""
        self._simple.check_time()

    def run(self, window: Window, iteration: tuple[int, int] | None, *, is_sure: bool) -> None:
        """Run a window; `iteration` is the depth of a loop, and which of its iterations it is.

        If it `is_sure` that its steps have an effect, its time counts where plans are compared.
        """
        self._check_contract(window)
        if self._is_dry:
            self.counted.launches += count_launches(window)
        elif is_sure:
            in_turn(window, self._device, lambda n: self._launch(by_plan(window, n), iteration))
        else:
            self._launch(window, iteration)

    def _launch(self, window: Window, iteration: tuple[int, int] | None) -> None:
        own, buffers = window.known.plan.own, window.buffers
        memory = list(map(self._memory.find, buffers))
        try:
            run_window(window, memory, self._device, self._simple, self.counted, iteration)
        except TrapError:
            # What a stage found wrong may be that elements are missing.
            self._memory.take_over(own, buffers, memory)
            self._look()
            raise
        self._memory.take_over(own, buffers, memory)

    def run_items(self, items: Sequence[Item], depth: int | None, count: int) -> None:
        """Run what was collected, as iteration `count` of the loop at a depth."""
        for item in items:
            if isinstance(item, Window):
                self.run(item, None if depth is None else (depth, count), is_sure=True)
            elif isinstance(item, Branch):
                self.check_time()
                taken = item.then if self._memory.words([item.flag])[0] else item.otherwise
                self.run_items(taken.items, depth, count)
            else:
                raise item

    def run_cycle(
        self, cycle: Sequence[list[Item]], flag: Buffer, limit: int, depth: int, done: int
    ) -> tuple[int, bool] | None:
        """Run iterations that repeat without the host between them.

        How many there were, and if the loop goes on; None, with no effect, if that cannot be.
        """
        if not self._memory.is_shared or self._contract.limits("launches") or config().check:
            return None
        sequence = LoopSequence(self._device, self._memory.find)
        if not sequence.prepare(cycle, flag, limit):
            return None
        try:
            found = sequence.run(self._simple.clock, depth, done)
        finally:
            sequence.release()
        if found is None:
            return None
        self.counted.launches += found.launches
        return found.iterations, found.goes_on

    def _check_contract(self, window: Window) -> None:
        plan = window.known.plan
        total = self.counted.launches + count_launches(window)
        why = next((each.apart for each in plan.groups if each.apart), "these are its stages")
        self._contract.check("launches", total, why)
        own = sum(window.buffers[number].nbytes for number in plan.own)
        self._contract.check("scratch_bytes", plan.slot_bytes + own, why)
