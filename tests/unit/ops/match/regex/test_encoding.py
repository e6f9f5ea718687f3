"""Compiled patterns as bytes: the same back, and an error for anything else."""

from __future__ import annotations

import random

import pytest

from vyre.diagnostics import RegexError
from vyre.ops.match.regex import Definition, Regex, compile_all, decode, encode
from vyre.ops.match.regex.encoding import MAGIC, seal

PATTERNS = (r"\bqx_[0-9A-Z]{6}\b(x)?", r"(?i)(?P<key>key).{0,50}?=[a-f]{8}$", "é|\\xff+")
HEAD = 52


@pytest.fixture(scope="module")
def compiled() -> list[Regex]:
    return compile_all(PATTERNS)


def test_the_same_comes_back(compiled: list[Regex]) -> None:
    for regex in compiled:
        data = encode(regex)
        assert decode(data) == regex
        assert encode(decode(data)) == data


def test_equal_patterns_give_equal_bytes(compiled: list[Regex]) -> None:
    assert [encode(regex) for regex in compile_all(PATTERNS)] == [encode(r) for r in compiled]


def test_it_matches_without_the_syntax_tree(compiled: list[Regex]) -> None:
    regex = decode(encode(compiled[1]))
    assert regex.names == ("key",)
    (match,) = Definition(regex.program).find(b"a Key: =abcdefab")
    assert match == (2, 16, ((2, 5),))


def test_other_bytes() -> None:
    data = encode(compile_all(["ab"])[0])
    broken = {
        b"": "R022",
        b"hello": "R022",
        MAGIC: "R024",
        data[:8] + b"\2" + data[9:]: "R023",
        data[:-1]: "R024",
        data + b"x": "R024",
        data[:-1] + bytes([data[-1] ^ 1]): "R024",
        data[:30] + bytes([data[30] ^ 1]) + data[31:]: "R024",
        seal(b""): "R025",
        seal(data[HEAD:] + b"\0"): "R025",
        seal(b"\xff" * 8): "R025",
    }
    for wrong, code in broken.items():
        with pytest.raises(RegexError) as caught:
            decode(wrong)
        assert caught.value.code == code
        assert 0 <= caught.value.offset <= max(len(wrong), HEAD)


def test_every_truncation_is_an_error() -> None:
    payload = encode(compile_all(["a[bc]|d"])[0])[HEAD:]
    for size in range(len(payload)):
        with pytest.raises(RegexError):
            decode(seal(payload[:size]))


def test_hostile_bytes_give_an_error_or_a_pattern_that_runs(compiled: list[Regex]) -> None:
    """The digest is right and the contents are not: what is taken can be run."""
    dice = random.Random(1)
    payload = encode(compiled[0])[HEAD:]
    taken = 0
    codes: set[str] = set()
    for _ in range(400):
        data = bytearray(payload)
        for _ in range(dice.choice((1, 1, 2, 4))):
            place = dice.randrange(min(len(data), 2_000))
            data[place] = dice.choice((0, 1, 2, 255, dice.randrange(256)))
        try:
            regex = decode(seal(bytes(data)))
        except RegexError as error:
            codes.add(error.code)
        else:
            taken += 1
            Definition(regex.program).find(b"qx_ABC123 x" * 3)
            assert encode(regex)
    assert taken
    assert codes == {"R025"}
