"""Buffer declarations: what memory a program touches, how, and which of it the host sees.

By convention the extents of the array in buffer `a` are in the uniform buffer `a.shape`, its
strides in `a.strides`: the front end declares these layout buffers, the runtime fills them, and
analyses recognise them by name.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes
from vyre.ir.names import checked_name
from vyre.ir.types import DataType
from vyre.record import dataclass

SHAPE, STRIDES = ".shape", ".strides"
"""Suffixes of layout buffers."""
NO_ELEMENT = 0xFFFF_FFFF
"""A `u32` index beyond every buffer: loads give zero and stores do nothing."""


def is_layout(buffer: str) -> bool:
    """True if a buffer holds extents or strides, which no kernel changes."""
    return buffer.endswith((SHAPE, STRIDES))


class BufferAccess(Enum):
    """What a program may do with a buffer."""

    READ_ONLY = "read_only"
    READ_WRITE = "read_write"
    WRITE_ONLY = "write_only"
    UNIFORM = "uniform"
    WORKGROUP = "workgroup"


class MemoryKind(Enum):
    """Where a buffer lives."""

    GLOBAL = "global"
    READONLY = "readonly"
    UNIFORM = "uniform"
    PUSH = "push"
    SHARED = "shared"
    LOCAL = "local"
    """An array of each invocation's own, zero when the invocation starts."""
    SCRATCH = "scratch"
    """Device memory that lives for one dispatch, zero when it starts."""
    PERSISTENT = "persistent"


class CacheLocality(Enum):
    """How soon an element is expected to be used again."""

    UNKNOWN = "unknown"
    STREAMING = "streaming"
    TEMPORAL = "temporal"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class BufferHints:
    """Advice on a buffer; it never changes a result."""

    coalesce_axis: int | None = None
    preferred_alignment: int = 0
    locality: CacheLocality = CacheLocality.UNKNOWN


@dataclass(frozen=True, slots=True)
class BufferDecl:
    """One buffer of a program. Build it with the class methods; `with_…` give changed copies."""

    name: str
    binding: int | None
    access: BufferAccess
    kind: MemoryKind
    element: DataType
    count: int = 0
    """Elements; 0 means that the size is known only at run time, never that it is empty."""
    is_output: bool = False
    is_pipeline_live_out: bool = False
    has_initial_value: bool = False
    """Whether the host gives first contents to a live-out buffer."""
    hints: BufferHints = BufferHints()

    def __post_init__(self) -> None:
        checked_name(self.name, "a buffer")
        if self.binding is not None and not _is_u32(self.binding):
            raise self._bad("the binding", self.binding, "give a number from 0 to 2**32 - 1")
        if not _is_u32(self.count):
            raise self._bad("the count", self.count, "give 0 (run time) to 2**32 - 1 elements")
        if not isinstance(self.element, DataType):
            raise self._bad("the element", self.element, "give a DataType, such as DataType.U32")

    def _bad(self, field: str, found: object, expected: str) -> BuildError:
        return BuildError(
            codes.BAD_FIELD.at(
                what=f"the buffer {self.name}", field=field, found=found, expected=expected
            )
        )

    @classmethod
    def storage(
        cls, name: str, binding: int, access: BufferAccess, element: DataType
    ) -> BufferDecl:
        """A buffer in device memory with the given access."""
        kind = MemoryKind.READONLY if access is BufferAccess.READ_ONLY else MemoryKind.GLOBAL
        return cls(name, binding, access, kind, element)

    @classmethod
    def read(cls, name: str, binding: int, element: DataType) -> BufferDecl:
        """An input that the program only reads."""
        return cls.storage(name, binding, BufferAccess.READ_ONLY, element)

    @classmethod
    def read_write(cls, name: str, binding: int, element: DataType) -> BufferDecl:
        """An input that the program changes, and that the host reads back."""
        return cls.storage(name, binding, BufferAccess.READ_WRITE, element)

    @classmethod
    def write(cls, name: str, binding: int, element: DataType) -> BufferDecl:
        """A buffer that the program only writes; the device allocates it."""
        return cls.storage(name, binding, BufferAccess.WRITE_ONLY, element)

    @classmethod
    def output(cls, name: str, binding: int, element: DataType) -> BufferDecl:
        """A result: the device allocates it, zero at first, and the host reads it back."""
        decl = cls.storage(name, binding, BufferAccess.READ_WRITE, element)
        return replace(decl, is_output=True, is_pipeline_live_out=True)

    @classmethod
    def uniform(cls, name: str, binding: int, element: DataType) -> BufferDecl:
        """A small buffer that every invocation reads alike."""
        return cls(name, binding, BufferAccess.UNIFORM, MemoryKind.UNIFORM, element)

    @classmethod
    def workgroup(cls, name: str, count: int, element: DataType) -> BufferDecl:
        """Memory that a workgroup shares, zero when the workgroup starts."""
        return cls(name, None, BufferAccess.WORKGROUP, MemoryKind.SHARED, element, count)

    @classmethod
    def scratch(cls, name: str, count: int, element: DataType) -> BufferDecl:
        """Device memory for one dispatch that the host never sees, zero when it starts."""
        return cls(name, None, BufferAccess.READ_WRITE, MemoryKind.SCRATCH, element, count)

    @classmethod
    def local(cls, name: str, count: int, element: DataType) -> BufferDecl:
        """An array of each invocation's own, zero when the invocation starts."""
        return cls(name, None, BufferAccess.READ_WRITE, MemoryKind.LOCAL, element, count)

    def with_count(self, count: int) -> BufferDecl:
        """The same buffer with this many elements."""
        return replace(self, count=count)

    def with_binding(self, binding: int | None) -> BufferDecl:
        """The same buffer at another binding."""
        return replace(self, binding=binding)

    def with_name(self, name: str) -> BufferDecl:
        """The same buffer under another name."""
        return replace(self, name=name)

    def with_access(self, access: BufferAccess) -> BufferDecl:
        """The same buffer with another access mode."""
        return replace(self, access=access)

    def with_kind(self, kind: MemoryKind) -> BufferDecl:
        """The same buffer in another kind of memory."""
        return replace(self, kind=kind)

    def with_pipeline_live_out(self, live_out: bool = True) -> BufferDecl:
        """The same buffer, whose contents are wanted after the dispatch or not."""
        return replace(self, is_pipeline_live_out=live_out)

    def with_initial_value(self, given: bool = True) -> BufferDecl:
        """The same live-out buffer, whose first contents the host gives or not."""
        return replace(self, has_initial_value=given)

    def with_hints(self, hints: BufferHints) -> BufferDecl:
        """The same buffer with other advice."""
        return replace(self, hints=hints)

    @property
    def value_type(self) -> DataType:
        """The type a load of one element has."""
        return self.element.value_type

    @property
    def size_bytes(self) -> int | None:
        """Bytes in all; 0 when sized at run time, None when the element has no size."""
        size = self.element.size_bytes
        return None if size is None else size * self.count

    @property
    def is_workgroup(self) -> bool:
        """Whether a workgroup shares it."""
        return self.access is BufferAccess.WORKGROUP

    @property
    def is_local(self) -> bool:
        """Whether every invocation has its own."""
        return self.kind is MemoryKind.LOCAL

    @property
    def is_scratch(self) -> bool:
        """Whether it is device memory that lives for one dispatch."""
        return self.kind is MemoryKind.SCRATCH

    @property
    def is_on_chip(self) -> bool:
        """Whether it is not device memory: workgroup memory or an invocation's own array."""
        return self.is_workgroup or self.is_local

    @property
    def is_device_allocated(self) -> bool:
        """Whether it is a host-visible buffer that begins as zeros on the device."""
        if self.is_on_chip or self.is_scratch:
            return False
        if self.is_output or self.access is BufferAccess.WRITE_ONLY:
            return True
        live_out = self.is_pipeline_live_out and self.access is BufferAccess.READ_WRITE
        return live_out and not self.has_initial_value

    @property
    def is_host_input(self) -> bool:
        """Whether the host gives its contents: it has an input slot."""
        return not (self.is_on_chip or self.is_scratch or self.is_device_allocated)

    @property
    def is_host_output(self) -> bool:
        """Whether the host gets its contents: it has an output slot."""
        # What has a slot, and is allocated on the device or written; asked for in every dispatch.
        access, kind = self.access, self.kind
        if access is BufferAccess.WORKGROUP or kind is MemoryKind.LOCAL:
            return False
        if kind is MemoryKind.SCRATCH:
            return False
        return access in _WRITTEN or self.is_output

    @property
    def is_readable(self) -> bool:
        """Whether the program may load from it."""
        return self.access is not BufferAccess.WRITE_ONLY

    @property
    def is_writable(self) -> bool:
        """Whether the program may store to it."""
        return self.access not in (BufferAccess.READ_ONLY, BufferAccess.UNIFORM)


_WRITTEN = (BufferAccess.READ_WRITE, BufferAccess.WRITE_ONLY)


def _is_u32(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32
