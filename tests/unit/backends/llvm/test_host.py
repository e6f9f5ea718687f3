from __future__ import annotations

import pytest

from vyre.backends.llvm import host
from vyre.backends.llvm.host import Host


def test_this_machine_has_a_name_and_vectors() -> None:
    here = host.native()
    assert here.cpu
    assert here.vector_bits in (128, 256, 512)
    assert host.generic().vector_bits == 128
    assert host.generic().features == ""


@pytest.mark.parametrize(
    ("features", "bits", "fma"),
    [
        ("", 128, False),
        ("+avx,-avx2", 128, False),
        ("+avx2,+fma", 256, True),
        ("+avx2,+avx512f,+avx512vl,+fma", 512, True),
        ("+avx2,+avx512f,-avx512vl,+fma", 256, True),
    ],
)
def test_vectors_of_x86(features: str, bits: int, fma: bool) -> None:
    machine = Host("x86_64-unknown-linux-gnu", "x", features)
    assert (machine.vector_bits, machine.has_fma) == (bits, fma)


def test_vectors_of_arm() -> None:
    machine = Host("arm64-apple-darwin", "apple-m1", "+neon")
    assert machine.architecture == "aarch64"
    assert (machine.vector_bits, machine.has_fma, machine.has_half_conversion) == (128, True, True)


def test_the_fingerprint_is_stable() -> None:
    first = host.fingerprint()
    host.fingerprint.cache_clear()
    assert host.fingerprint() == first
    assert len(first) == 16
