"""Software conversions of f16 for machines without instructions for them.

LLVM calls these two functions by their names once it selects instructions, so they must be part of
the module although nothing in it mentions them.
"""

from __future__ import annotations

from typing import Final

SOFTWARE: Final = """\
define hidden float @__extendhfsf2(half %x) nounwind {
  %short = bitcast half %x to i16
  %bits = zext i16 %short to i32
  %size = and i32 %bits, 32767
  %left = and i32 %bits, 32768
  %sign = shl i32 %left, 16
  %moved = shl i32 %size, 13
  %small = bitcast i32 %moved to float
  %scaled = fmul float %small, 0x46F0000000000000
  %finite = bitcast float %scaled to i32
  %special = or i32 %moved, 2139095040
  %is.special = icmp uge i32 %size, 31744
  %found = select i1 %is.special, i32 %special, i32 %finite
  %signed = or i32 %found, %sign
  %result = bitcast i32 %signed to float
  ret float %result
}

define hidden half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %size = and i32 %bits, 2147483647
  %value = bitcast i32 %size to float
  %sum = fadd float %value, 5.0e-01
  %sum.bits = bitcast float %sum to i32
  %tiny = sub i32 %sum.bits, 1056964608
  %shifted = lshr i32 %size, 13
  %odd = and i32 %shifted, 1
  %rebased = add i32 %size, -939520001
  %rounded = add i32 %rebased, %odd
  %usual = lshr i32 %rounded, 13
  %payload = and i32 %shifted, 1023
  %nan = or i32 %payload, 32256
  %is.nan = icmp ugt i32 %size, 2139095040
  %beyond = select i1 %is.nan, i32 %nan, i32 31744
  %is.tiny = icmp ult i32 %size, 947912704
  %is.beyond = icmp uge i32 %size, 1199570944
  %near = select i1 %is.tiny, i32 %tiny, i32 %usual
  %found = select i1 %is.beyond, i32 %beyond, i32 %near
  %signed = or i32 %found, %sign
  %short = trunc i32 %signed to i16
  %result = bitcast i16 %short to half
  ret half %result
}

@llvm.compiler.used = appending global [2 x ptr] [ptr @__extendhfsf2, ptr @__truncsfhf2], \
section "llvm.metadata"
"""
"""Round to nearest even, subnormals and NaN included."""

NARROW: Final = """
define hidden half @__truncdfhf2(double %x) nounwind {
  %r = fptrunc double %x to float
  %back = fpext float %r to double
  %x.bits = bitcast double %x to i64
  %back.bits = bitcast double %back to i64
  %x.size = and i64 %x.bits, 9223372036854775807
  %back.size = and i64 %back.bits, 9223372036854775807
  %away = icmp ugt i64 %back.size, %x.size
  %inexact = icmp ne i64 %back.size, %x.size
  %raw = bitcast float %r to i32
  %inward = sub i32 %raw, 1
  %cut = select i1 %away, i32 %inward, i32 %raw
  %odd = or i32 %cut, 1
  %chosen = select i1 %inexact, i32 %odd, i32 %raw
  %single = bitcast i32 %chosen to float
  %result = fptrunc float %single to half
  ret half %result
}
"""
"""A double as a half, rounded once: LLVM calls it by name where it merges two roundings."""
