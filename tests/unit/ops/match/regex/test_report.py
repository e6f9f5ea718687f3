"""Reports: one row per pattern, refused ones too."""

from __future__ import annotations

from vyre.ops.match.regex import report


def test_rows() -> None:
    first, second, third = report([r"\bqxv_[0-9A-Z]{16}\b", "(?<=a)b", "tok.{0,60}=[a-f]+"])
    assert first.refusal is None
    assert (first.positions, first.least, first.most) == (20, 20, 20)
    assert first.anchor is not None
    assert str(first.anchor.anchor) == "qxv_"
    assert second.refusal is not None
    assert second.refusal.startswith("R006 at 0: ")
    assert "refused" in str(second)
    assert [piece.gap for piece in third.pieces] == [(0, 0), (0, 60)]
    assert third.most is None
    assert "words tok" in str(third)


def test_a_pattern_without_an_anchor() -> None:
    (row,) = report([r"\w+"])
    assert row.anchor is None
    assert "no anchor" in str(row)


def test_sets_beyond_ascii_that_are_counted_are_marked() -> None:
    marked = report(["a.{3}b", 'a[^"]{2,9}b', "a.b", "a\\xffb.", "(?:a.){2}"])
    assert all("code points" in note for row in marked for note in row.notes)
    assert all(row.notes for row in marked)
    plain = report(["a.*b", "a[^x]+b", "a[a-z]{3}b", "é", "a\\xff"])
    assert [row.notes for row in plain] == [()] * 5


def test_repeats_of_empty_bodies_are_marked_for_pcre() -> None:
    (row,) = report(["(?:a|b*)*c"], "pcre")
    assert "PCRE" in row.notes[0]
    assert [row.notes for row in report(["(?:a|b*)*c"])] == [()]
    assert [row.notes for row in report(["(?:ab?)*c", "(?:a*)?b"], "pcre")] == [(), ()]
