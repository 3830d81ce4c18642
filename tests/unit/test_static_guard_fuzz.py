"""Laws of the static guard: an edit outside the kernel never passes, a harmless one inside does."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.optimize.lexer import tokens
from rocm_perf_lab.optimize.static_guard import check, check_text
from support.catalogue import context

ASKED = context("body")
BASE = ASKED.source
BEGIN, BODY, END = ASKED.extent.begin, ASKED.extent.body, ASKED.extent.end
assert BASE.isascii()  # offsets are characters, too

PIECES = st.one_of(
    st.text(string.printable, min_size=1, max_size=12),
    st.text(min_size=1, max_size=4),
    st.sampled_from(["#include <x>", "#define a b", "int x;", "// c", "/* */", "\\\n", "{", "}"]),
)
OUTSIDE = st.one_of(
    st.integers(0, BEGIN - 1), st.integers(END + 1, len(BASE))
)  # the places between characters that do not touch the definition


@settings(max_examples=400, deadline=None)
@given(at=OUTSIDE, inserted=st.one_of(st.just(""), PIECES), removed=st.integers(0, 6))
def test_an_edit_outside_never_passes(at: int, inserted: str, removed: int) -> None:
    stop = min(at + removed, BEGIN) if at < BEGIN else min(at + removed, len(BASE))
    changed = BASE[:at] + inserted + BASE[stop:]
    if changed != BASE:
        assert list(check_text(ASKED, changed))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(OUTSIDE, PIECES), min_size=1, max_size=3), st.booleans())
def test_an_honest_edit_inside_does_not_cover_for_one_outside(
    edits: list[tuple[int, str]], inside: bool
) -> None:
    changed = BASE
    for at, text in sorted(edits, reverse=True):
        if inside and at < BEGIN:  # the honest one stands between the two halves
            inside = False
            changed = changed.replace("sum += SCALE(x[c]);", "sum += (SCALE(x[c]));")
        changed = changed[:at] + text + changed[at:]
    assert list(check_text(ASKED, changed))


@settings(max_examples=300, deadline=None)
@given(at=st.integers(BODY + 1, END - 1), text=PIECES, removed=st.integers(0, 20))
def test_whatever_is_written_inside_gets_a_verdict(at: int, text: str, removed: int) -> None:
    for finding in check_text(ASKED, BASE[:at] + text + BASE[min(at + removed, END - 1) :]):
        assert finding.message and finding.rule


GAPS = [t.offset + BODY for t in tokens(BASE[BODY:END])][1:]
STATEMENTS = [i + 1 for i in range(BODY, END) if BASE[i] == ";" and BASE[i + 1] == "\n"]
HARMLESS = st.one_of(
    st.tuples(
        st.sampled_from(GAPS),
        st.sampled_from([" ", "\n", "\t", "/* once\n more */ ", "// words\n", "/* größer */ "]),
    ),
    st.tuples(
        st.sampled_from(STATEMENTS),
        st.builds(
            " const {} z{} = {};".format,
            st.sampled_from(["int", "float", "double", "unsigned"]),
            st.integers(0, 999),
            st.sampled_from(["1", "columns * 2", "fabsf(-1.0f)", "min(rows, 3)", "threadIdx.x"]),
        ),
    ),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(HARMLESS, min_size=1, max_size=4, unique_by=lambda edit: edit[1].split("=")[0]))
def test_a_harmless_edit_inside_passes(edits: list[tuple[int, str]]) -> None:
    changed = BASE
    for at, text in sorted(edits, reverse=True):
        changed = changed[:at] + text + changed[at:]
    verdict = check(ASKED, changed)
    assert verdict.allowed, verdict.reason
