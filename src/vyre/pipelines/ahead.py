"""Iterations and branches that are submitted before it is known whether they run.

Reading a flag makes the host wait for the device. Instead, each step is predicated by a word of the
device: for a loop, `going`, which a launch after each iteration computes from the flag and which no
stage writes; for a branch, a word that a launch computes from the flag of `vy.when`. Steps after
the end of a loop, or in the branch that is not taken, have no effect. So the host submits many
iterations ahead, and then reads how many there were.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from vyre.diagnostics import Span
from vyre.front.parameters import ArrayParameter, Mode, Parameter
from vyre.ir import DataType, Program
from vyre.pipelines import hidden
from vyre.pipelines.rewritten import further_name, rewritten
from vyre.pipelines.stages import Site, decision_site
from vyre.pipelines.steps import Buffer, Cleared, Copied, Launch, Step, launch_of
from vyre.plan.predicated import can_predicate, predicated
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel
from vyre.runtime.kernel_outputs import fills

_MOST_KERNELS = 64


@dataclass(eq=False, slots=True)
class Ahead:
    """A loop whose iterations are submitted ahead."""

    flag: Buffer
    going: Buffer
    """Not zero while the loop goes on."""
    iterations: Buffer
    """How many iterations have run."""
    span: Span


def _word(name: str) -> Buffer:
    return Buffer(name, DataType.U32, (1,), True)


class Predicates:
    """The words that steps of one call are predicated by, and the kernels for that."""

    def __init__(self, kernels: PredicatedKernels) -> None:
        self._kernels = kernels
        self._stack: list[Buffer] = []
        self._span = Span("", 0)
        """Of the latest statement that decides."""
        self._loops: list[Ahead] = []
        self._choices: list[tuple[Buffer, Buffer]] = []
        """Words of decisions whose branches are not all through."""
        self.is_used = False
        """True if the device alone knows which steps of the call have an effect."""
        self._used: dict[int, Buffer] = {}
        """Buffers that some step has used, by id; held, so that no other gets that id."""

    @property
    def word(self) -> Buffer | None:
        """What the next step is predicated by."""
        return self._stack[-1] if self._stack else None

    @property
    def alive(self) -> list[Buffer]:
        """Words that later steps use."""
        loops = [(each.flag, each.going, each.iterations) for each in self._loops]
        return [*self._stack, *(each for many in (*loops, *self._choices) for each in many)]

    def begin_loop(self, flag: Buffer, span: Span) -> tuple[Ahead, Launch]:
        """A loop, and the launch that it begins with; steps are predicated by it from now on."""
        outer, self._span = self.word, span
        self.is_used = True
        loop = Ahead(flag, _word("going"), _word("iterations"), span)
        site = decision_site("vy.again", span)
        given: dict[str, Any] = {"going": loop.going}
        kernel = hidden.begin_loop()
        if outer is not None:
            given, kernel = {"outer": outer, **given}, hidden.begin_inner_loop()
        self._stack.append(loop.going)
        self._loops.append(loop)
        return loop, launch_of(kernel, given, (1,), None, site)

    def end_iteration(self, loop: Ahead) -> Launch:
        """The launch that ends an iteration."""
        given = {"flag": loop.flag, "going": loop.going, "iterations": loop.iterations}
        site = decision_site("vy.again", loop.span)
        return launch_of(hidden.end_iteration(), given, (1,), None, site)

    def end_loop(self, loop: Ahead) -> None:
        """Predicate steps as before the loop."""
        while self._loops.pop() is not loop:
            pass
        while self._stack.pop() is not loop.going:
            pass

    def choose(self, flag: Buffer, span: Span) -> tuple[Buffer, Buffer, Launch]:
        """Words for the branches of a decision, and the launch that computes them."""
        then, otherwise, outer = _word("then"), _word("otherwise"), self.word
        self._span, self.is_used = span, True
        given: dict[str, Any] = {"flag": flag}
        kernel = hidden.choose()
        if outer is not None:
            given["outer"] = outer
            kernel = hidden.choose_inside()
        given |= {"then": then, "otherwise": otherwise}
        self._choices.append((then, otherwise))
        return then, otherwise, launch_of(kernel, given, (1,), None, decision_site("vy.when", span))

    def enter(self, word: Buffer) -> None:
        """Predicate steps by a word."""
        self._stack.append(word)

    def leave(self, word: Buffer) -> None:
        """Predicate steps as before `enter`."""
        while self._stack.pop() is not word:
            pass
        self._choices = [each for each in self._choices if each[1] is not word]

    def is_new(self, buffer: Buffer) -> bool:
        """True if a buffer is scratch that no step has used: it is all zeros."""
        return buffer.is_scratch and buffer.is_fresh and id(buffer) not in self._used

    def note(self, step: Step) -> None:
        """Note what a step uses."""
        for buffer, _ in step.uses():
            self._used[id(buffer)] = buffer

    def begin(self, buffer: Buffer) -> None:
        """Note that a buffer is in use."""
        self._used[id(buffer)] = buffer

    def predicated(self, step: Step) -> list[Step] | None:
        """The steps for one under the word; None for one that cannot be predicated."""
        word = self.word
        assert word is not None
        match step:
            case Cleared(buffer):
                return self._clear(buffer, word)
            case Copied(source, target):
                if not target.size:
                    return []
                kernel = hidden.copy_if(target.dtype, len(target.shape))
                given = {"going": word, "source": source, "target": target}
                return [_over(kernel, given, target, decision_site("vy.copy", self._span))]
            case Launch():
                if not can_predicate(step.program):
                    return None
                found: list[Step] = []
                for name in _outputs(step.kernel):
                    if not _is_filled(step, name):
                        found += self._clear(step.given[name], word)
                return [*found, self._launch(step, word)]

    def _clear(self, buffer: Buffer, word: Buffer) -> list[Step]:
        if self.is_new(buffer) or not buffer.size:
            return []
        kernel = hidden.clear_if(buffer.dtype, len(buffer.shape))
        site = decision_site("vy.scratch", self._span)
        return [_over(kernel, {"going": word, "target": buffer}, buffer, site)]

    def _launch(self, step: Launch, word: Buffer) -> Launch:
        kernel = self._kernels.find(step.kernel)
        given = {**step.given, going_name(step.kernel): word}
        return launch_of(kernel, given, step.grid, None, step.site)


def _over(kernel: Kernel[...], given: dict[str, Any], target: Buffer, site: Site) -> Launch:
    """A launch with an invocation for each element of a buffer."""
    return launch_of(kernel, given, None, (target.size,), site)


def _is_filled(step: Launch, name: str) -> bool:
    """True if a stage writes all elements of an output."""
    numbers = {
        each: np.asarray(value)
        for each, value in step.given.items()
        if isinstance(value, (bool, int, float))
    }
    shapes = {each: value.shape for each, value in step.given.items() if isinstance(value, Buffer)}
    return fills(step.program, name, numbers, shapes, step.grid)


class PredicatedKernels:
    """The predicated kernels of a pipeline's stages."""

    def __init__(self) -> None:
        self._known: dict[Kernel[...], Kernel[...]] = {}

    def find(self, kernel: Kernel[...]) -> Kernel[...]:
        """The predicated form of a kernel, made if there is none."""
        found = self._known.get(kernel)
        if found is None:
            while len(self._known) >= _MOST_KERNELS:
                self._known.pop(next(iter(self._known)), None)
            found = self._known[kernel] = _predicated(kernel)
        return found


def _predicated(kernel: Kernel[...]) -> Kernel[...]:
    outputs = _outputs(kernel)
    changed: dict[str, Parameter] = {
        name: ArrayParameter(Mode.INOUT, one.dtype, one.rank) for name, one in outputs.items()
    }
    going = going_name(kernel)
    changed[going] = ArrayParameter(Mode.IN, DataType.U32, 1)
    return rewritten(kernel, changed, partial(_change, going=going, outputs=frozenset(outputs)))


def going_name(kernel: Kernel[...]) -> str:
    """The parameter of a predicated kernel that says whether it has an effect."""
    return further_name(kernel, "going")


def _outputs(kernel: Kernel[...]) -> dict[str, ArrayParameter]:
    """The parameters of a kernel that begin as zeros."""
    return {
        name: one
        for name, one in kernel.source.parameters.items()
        if isinstance(one, ArrayParameter) and one.mode is Mode.OUT
    }


def _change(program: Program, going: str, outputs: Collection[str]) -> Program:
    return predicated(program, going, outputs)
