"""Per-kernel code-generation context.

It holds the text of the function, the buffers, the workgroup's ids, scratch memory, and the tags of
traps and prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.abi import LAUNCH_UNSURE, PRELUDE, SCRATCH_ALIGN
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.loop_lookups import Lookup
from vyre.backends.llvm.analysis.table_ranges import emit_greatest
from vyre.backends.llvm.emit.arithmetic import Arithmetic
from vyre.backends.llvm.emit.builder import Builder
from vyre.backends.llvm.emit.casts import Casts
from vyre.backends.llvm.emit.half_builtins import NARROW, SOFTWARE
from vyre.backends.llvm.emit.memory.nontemporal import emit_size_test
from vyre.backends.llvm.emit.outline_cold_code import OutlinedRegion, with_outlined_regions
from vyre.backends.llvm.emit.storage_formats import memory_type
from vyre.backends.llvm.emit.values import BlockAccumulator, Memory, PrivatisedReduction, Table
from vyre.backends.llvm.emit.vector_math_calls import Approximate
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.kernel_info import PrintFormat
from vyre.backends.llvm.rewrites.rebuilt_accesses import RebuiltAccesses
from vyre.backends.llvm.techniques import Technique, Techniques
from vyre.record import dataclass

ZEROS = "@vyre.zeros"
"""Readable memory that replaces empty buffers; as large as the largest element."""


@dataclass(slots=True)
class Kernel:
    """Code-generation state of one kernel."""

    program: ir.Program
    host: Host
    w: Builder = field(default_factory=Builder)
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    group: tuple[str, str, str] = ("", "", "")
    """The workgroup's id along each axis, i32 operands."""
    grid: tuple[str, str, str] = ("", "", "")
    turned: int = 0
    """The axis that is interchanged with x; 0 if the axes are as in the program."""
    scratch_bytes: int = 0
    trap_tags: list[str] = field(default_factory=list[str])
    prints: list[PrintFormat] = field(default_factory=list[PrintFormat])
    polls: bool = False
    divergent: bool = False
    row: str = ""
    """Lanes of one row along x, an i32 operand."""
    rows: str = ""
    """Rows of a workgroup, an i32 operand; empty if the workgroup size gives their number."""
    types: Mapping[str, ir.DataType] = field(default_factory=dict[str, ir.DataType])
    """The types of all variables."""
    thorough: bool = True
    """True if work may be versioned for special launches."""
    techniques: Techniques = field(default_factory=Techniques)
    """Which lowerings and heuristics may be used, and which were."""
    regions: list[str] = field(default_factory=list[str])
    """Description of how the lanes of each emitted region run."""
    unchecked: bool = False
    """Omit all bounds checks: only to measure their cost."""
    first_lane_trip_counts: frozenset[str] = frozenset()
    """Variables computed from the first lane's id; valid for any row that begins there."""
    outside: frozenset[str] = frozenset()
    """Induction variables of loops that run around the lanes of a workgroup."""
    version_flags: frozenset[str] = frozenset()
    """Conditions that select a version of the program."""
    longest_row: int = 0
    """Maximum number of lanes of one row; 0 for any number."""
    proven: frozenset[int] = frozenset()
    """Identities of accesses that are in bounds wherever they are executed."""
    max_trip_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Upper bounds of trip counts, by induction variable, where one is known."""
    strips: Mapping[str, int] = field(default_factory=dict[str, int])
    """Iterations between two safepoint polls of a loop, by induction variable; 0 for none."""
    table_sizes: Mapping[int, int] = field(default_factory=dict[int, int])
    """Number of entries that a load from a small byte table reaches; by identity."""
    tables: dict[tuple[str, int, int], Table] = field(
        default_factory=dict[tuple[str, int, int], Table]
    )
    """Tables in registers, by buffer, number of registers and lanes of each."""
    constant_tables: dict[str, str] = field(default_factory=dict[str, str])
    """Names of constant arrays, by their text."""
    own_arrays: frozenset[str] = frozenset()
    """Private arrays that live only while their set of lanes runs."""
    own_places: dict[tuple[str, int, int, bool], str] = field(
        default_factory=dict[tuple[str, int, int, bool], str]
    )
    """Their addresses: by name, lanes, number of the set of lanes, and whether it is outlined."""
    array_bytes: int = 0
    """Bytes of private arrays that are on the stack."""
    edges: int = 0
    """Number of slow paths for vectors that lie partly outside their buffer."""
    edge_slots: dict[tuple[int, bool], str] = field(default_factory=dict[tuple[int, bool], str])
    """Memory for such vectors: by bytes, and whether the code is outlined."""
    apart_slots: dict[tuple[int, int, bool], str] = field(
        default_factory=dict[tuple[int, int, bool], str]
    )
    """Memory for spilled vectors: bytes, which vector of a loop, whether the code is outlined."""
    streamed: frozenset[str] = frozenset()
    """Buffers that are written and never read."""
    asides: dict[str, OutlinedRegion] = field(default_factory=dict[str, OutlinedRegion])
    """Regions that may be outlined into functions, by their placeholder line."""
    aside: bool = False
    """True while such a region is being emitted."""
    kept: dict[str, PrivatisedReduction] = field(default_factory=dict[str, PrivatisedReduction])
    """Buffers whose reductions are private to each thread until it finishes."""
    accumulators: dict[tuple[str, int], BlockAccumulator] = field(
        default_factory=dict[tuple[str, int], BlockAccumulator]
    )
    """Float elements that blocks of workgroups reduce into, by buffer and number."""
    arithmetic: Arithmetic = field(init=False)
    casts: Casts = field(init=False)
    approximate: Approximate = field(init=False)
    size: tuple[int, int, int] = field(init=False)
    invocations: int = field(init=False)
    _starts: tuple[str, str, str] = ("0", "0", "0")
    _rebuilt: list[RebuiltAccesses] = field(default_factory=list["RebuiltAccesses"])
    """Kept alive, because facts about accesses are kept by identity."""
    _bodies: list[ir.Body] = field(default_factory=list[ir.Body])
    _along_x: Divergence | None = None
    _greatest: dict[str, str] = field(default_factory=dict[str, str])
    _sure: str = ""

    def __post_init__(self) -> None:
        self.arithmetic = Arithmetic(self.w, self.program.fast_math)
        self.casts = Casts(self.arithmetic, self.host)
        self.approximate = Approximate(self.w, self.host)
        self.size = self.program.workgroup_size
        self.invocations = self.size[0] * self.size[1] * self.size[2]
        self.row = str(self.size[0])

    @property
    def env(self) -> ir.TypeEnv:
        """The buffers and variables in scope, as type inference takes them."""
        return ir.TypeEnv({decl.name: decl for decl in self.program.buffers}, self.types)

    @property
    def fills_lines(self) -> bool:
        """True if consecutive lanes cover long contiguous ranges of memory."""
        if self.row.startswith("%"):
            return True
        return self.size[1] * self.size[2] == 1 and self.size[0] >= heuristics.MIN_NONTEMPORAL_LANES

    def allows(self, technique: Technique) -> bool:
        """True unless a technique is switched off."""
        return self.techniques.allow(technique)

    def applies(self, technique: Technique) -> None:
        """Record that a technique was applied, for `explain()`."""
        self.techniques.note(technique)

    def is_reduced_in_blocks(self, buffer: str) -> bool:
        """True if blocks of workgroups reduce into elements of a buffer."""
        return any(name == buffer for name, _ in self.accumulators)

    def retain(self, body: ir.Body) -> None:
        """Keep the originals of rewritten statements alive: their identities stay valid."""
        self._bodies.append(body)

    def learn(self, types: Mapping[str, ir.DataType], rebuilt: RebuiltAccesses) -> None:
        """Add new variables, and transfer the facts about accesses to their replacements."""
        self._rebuilt.append(rebuilt)
        self.types = types
        self.proven = rebuilt.with_facts(self.proven)
        self.table_sizes = rebuilt.carry(self.table_sizes)

    def look_up(self, lookups: Sequence[Lookup]) -> None:
        """Add tables that loops look up in registers."""
        self.table_sizes = {**self.table_sizes, **{id(one.load): one.entries for one in lookups}}

    def differs(self, expr: ir.AnyExpr) -> bool:
        """True if lanes along x may have different values."""
        if self._along_x is None:
            self._along_x = Divergence(self.program, self.program.entry, (0,))
        return self._along_x.is_varying(expr)

    def set_group(self, ids: tuple[str, str, str]) -> None:
        """Set the current workgroup, and emit the ids of its first invocation."""
        self.group = ids
        starts = [
            self.w.emit(f"mul i32 {group}, {size}", "start") if size > 1 else group
            for group, size in zip(ids, self.size, strict=True)
        ]
        self._starts = (starts[0], starts[1], starts[2])

    def begin_row(self, start: str) -> None:
        """Set the workgroup's first id along y, if its id does not."""
        self._starts = (self._starts[0], start, self._starts[2])

    def start_of(self, axis: int) -> str:
        """The global id of the workgroup's first invocation along an axis."""
        return self._starts[axis]

    def take_scratch(self, nbytes: int) -> str:
        """Reserve bytes of the thread's scratch memory; returns a pointer to them."""
        offset = self.scratch_bytes
        self.scratch_bytes = -(-(offset + nbytes) // SCRATCH_ALIGN) * SCRATCH_ALIGN
        return self.w.at_entry(f"getelementptr i8, ptr %scratch, i64 {offset}", "scratch")

    def read_launch(self) -> None:
        """Emit the entry block's loads of buffers, grid and control block."""
        w = self.w
        field_ = "getelementptr inbounds %vyre.launch, ptr %launch, i32 0, i32"
        table = w.at_entry(f"{field_} 0")
        buffers = w.at_entry(f"load ptr, ptr {table}, align 8", "buffers")
        control = w.at_entry(f"{field_} 1")
        w.entry.append(f"  %control = load ptr, ptr {control}, align 8")
        extents: list[str] = []
        for axis in range(3):
            pointer = w.at_entry(f"{field_} {2 + axis}")
            extents.append(w.at_entry(f"load i32, ptr {pointer}, align 4", "groups"))
        extents[0], extents[self.turned] = extents[self.turned], extents[0]
        self.grid = (extents[0], extents[1], extents[2])
        device = [decl for decl in self.program.buffers if not decl.is_on_chip]
        for position, decl in enumerate(device):
            self._read_buffer(buffers, position, decl)

    def _read_buffer(self, buffers: str, position: int, decl: ir.BufferDecl) -> None:
        w = self.w
        hint = decl.name
        entry = w.at_entry(f"getelementptr inbounds %vyre.buffer, ptr {buffers}, i32 {position}")
        pointer = w.at_entry(f"load ptr, ptr {entry}, align 8", hint)
        place = w.at_entry(f"getelementptr inbounds %vyre.buffer, ptr {entry}, i32 0, i32 1")
        count = w.at_entry(f"load i64, ptr {place}, align 8", f"{hint}.count")
        if decl.count:
            # The driver has checked the length; the assumption lets LLVM drop bounds checks.
            same = w.at_entry(f"icmp eq i64 {count}, {decl.count}")
            w.declarations["llvm.assume"] = "declare void @llvm.assume(i1)"
            w.entry.append(f"  call void @llvm.assume(i1 {same})")
            count = str(decl.count)
            self.memories[decl.name] = Memory(decl, pointer, pointer, count, shared=True)
            return
        some = w.at_entry(f"icmp ne i64 {count}, 0")
        safe = w.at_entry(f"select i1 {some}, ptr {pointer}, ptr {ZEROS}", f"{hint}.safe")
        cached = emit_size_test(w, count, element_bytes(decl)) if decl.name in self.streamed else ""
        self.memories[decl.name] = Memory(decl, pointer, safe, count, shared=True, cached=cached)

    def greatest(self, buffer: str) -> str:
        """Emit an upper bound of a read-only buffer's elements, an i64."""
        bound = self._greatest.get(buffer)
        if bound is None:
            memory = self.memories[buffer]
            bound = emit_greatest(self, memory.pointer, memory.count, memory.decl.element)
            self._greatest[buffer] = bound
        return bound

    def is_sure(self) -> str:
        """Emit whether no buffer read aliases one written, an i1."""
        if not self._sure:
            w = self.w
            place = w.at_entry("getelementptr inbounds %vyre.launch, ptr %launch, i32 0, i32 5")
            flags = w.at_entry(f"load i32, ptr {place}, align 4")
            unsure = w.at_entry(f"and i32 {flags}, {LAUNCH_UNSURE}")
            self._sure = w.at_entry(f"icmp eq i32 {unsure}, 0", "sure")
        return self._sure

    @property
    def proving(self) -> tuple[str, ...]:
        """The buffers whose contents prove accesses in bounds."""
        return tuple(self._greatest)

    def workgroup_memory(self) -> list[tuple[str, int]]:
        """Allocate workgroup buffers in scratch; returns pointers and sizes, zeroed per group."""
        placed: list[tuple[str, int]] = []
        for decl in self.program.buffers:
            if decl.is_workgroup:
                nbytes = decl.size_bytes or 0
                pointer = self.take_scratch(nbytes)
                count = str(decl.count)
                self.memories[decl.name] = Memory(decl, pointer, pointer, count, shared=False)
                placed.append((pointer, nbytes))
        return placed

    def trap_tag(self, tag: str) -> int:
        """The index of a trap's tag."""
        if tag not in self.trap_tags:
            self.trap_tags.append(tag)
        return self.trap_tags.index(tag)

    def print_format(self, text: str, types: tuple[ir.DataType, ...]) -> int:
        """The index of a print statement's format."""
        form = PrintFormat(text, tuple(t.spelling for t in types))
        if form not in self.prints:
            self.prints.append(form)
        return self.prints.index(form)

    def text(self) -> str:
        """The text of the whole module."""
        largest = max((d.element.size_bytes or 1 for d in self.program.buffers), default=1)
        zeros = f"{ZEROS} = internal constant [{max(largest, 64)} x i8] zeroinitializer, align 64"
        maths = self.approximate.functions.text()
        entry, lines, functions = with_outlined_regions(self.w.entry, self.w.lines, self.asides)
        if functions:
            self.applies(Technique.OUTLINE_COLD_CODE)
        parts = [
            PRELUDE,
            zeros,
            *self.w.globals.values(),
            maths,
            *self._declarations(maths),
            *functions,
            "define void @vyre_kernel(ptr noalias %launch, i64 %first, i64 %last, "
            "ptr noalias %scratch) nounwind {",
            "entry:",
            *entry,
            "  br label %start",
            *lines,
            "}",
            self._half_conversions(lines, functions),
            "!0 = !{}",
            "!2 = !{i32 1}",
            '!1 = !{!"branch_weights", i32 4000, i32 1}',
            "!3 = distinct !{!3, !4}",
            '!4 = !{!"llvm.loop.unroll.disable"}',
        ]
        return "\n".join(parts) + "\n"

    def _half_conversions(self, *code: list[str]) -> str:
        """Definitions of the half conversions that LLVM calls by name; empty without halves."""
        if not any("half" in line for lines in (*code, self.w.entry) for line in lines):
            return ""
        return NARROW if self.host.has_half_conversion else SOFTWARE + NARROW

    def _declarations(self, maths: str) -> list[str]:
        """Declarations of called functions that the vector maths does not declare itself."""
        there = set(maths.splitlines())
        return sorted(line for line in self.w.declarations.values() if line not in there)


def element_bytes(decl: ir.BufferDecl) -> int:
    """Bytes of one element in memory."""
    return decl.element.size_bytes or 1


__all__ = ["ZEROS", "Kernel", "element_bytes", "memory_type"]
