"""The rules proposer: real edits of unseen kernels, each of which the static guard lets pass."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from rocm_perf_lab.optimize import further, rules
from rocm_perf_lab.optimize.lexer import tokens
from rocm_perf_lab.optimize.proposal import Policy, Proposal
from rocm_perf_lab.optimize.rules.constants import evaluate, trip_count
from rocm_perf_lab.optimize.rules.kernel_tree import read_kernel
from rocm_perf_lab.optimize.static_guard import check
from rocm_perf_lab.schema.prompt import PromptAttempt
from support.catalogue import PROGRAMS, context

EXAMPLES = Path(__file__).parents[2] / "examples"

APP = PROGRAMS / "optimize_rules.cpp"
SOURCE = APP.read_text("utf-8")


@pytest.fixture(autouse=True)
def any_register_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiler says has a test of its own; here it would only take time."""
    monkeypatch.setattr(rules, "keeps_occupancy", lambda *_: True)


@functools.lru_cache(maxsize=8)
def proposals(policy: Policy, kernel: str, path: Path = APP) -> tuple[Proposal, ...]:
    return tuple(rules.RulesProposer().propose(context(policy, path, None, kernel)))


def test_what_must_not_be_crossed_is_left_alone() -> None:
    loops = read_kernel(context("unroll", APP, None, "careful")).loops
    assert [loop.crosses for loop in loops] == [
        "a barrier", "a barrier", "an atomic", "an atomic", "dynamic shared memory",
        None, None, None,
    ]  # fmt: skip
    touched = {
        int(number)
        for proposal in proposals("unroll", "careful")
        for number in re.findall(r"\d+", proposal.title.partition(" by ")[0])
    }
    # 6 has six steps on a wave of 64, a multiple of 2; 7 shuffles an unknown number of times.
    assert touched == {6, 8}


def test_trip_counts_know_the_width_of_a_wave() -> None:
    counts = [
        loop.trip_count for loop in read_kernel(context("unroll", APP, None, "careful")).loops
    ]
    assert counts[5] == 6 and counts[7] == 16 and counts[0] is None


def test_what_the_default_policy_withholds_is_named() -> None:
    softmax = EXAMPLES / "softmax.cpp"
    default = context("unroll", softmax, None, "softmax_thread")
    found = further.withheld(default, "softmax_thread(float const*)")
    permitted = {p.title for p in proposals("unroll", "softmax_thread", softmax)}
    wider = [p.title for p in proposals("body", "softmax_thread", softmax)]
    assert [w.proposal for w in found] == [title for title in wider if title not in permitted]
    assert any("__restrict__" in w.proposal for w in found)
    assert any(w.changes_rounding for w in found) and not all(w.changes_rounding for w in found)
    told = further.further(found)
    assert told is not None and told.policy == "body" and "promises" in told.why_not_default
    assert f"has {len(found)} more proposals for softmax_thread: {wider[0]}; " in further.sentence(
        told
    )


def test_the_widest_policy_withholds_nothing() -> None:
    softmax = context("body", EXAMPLES / "softmax.cpp", None, "softmax_thread")
    assert further.further(further.withheld(softmax, "softmax_thread")) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64 / 2", 32), ("(3 + 4) * 2u", 14), ("n + 1", None), ("1 / 0", None), ("WIDE * 2", 128),
        ("-7 / 2", -3), ("7 / -2", -3), ("-(3 - 5)", 2), ("2 * * 3", None), ("9 / / 3", None),
        ("1.5 * 2", None), ("010", None), ("3 +", None), ("f(3)", None), ("in", None),
    ],
)  # fmt: skip
def test_constants(text: str, value: int | None) -> None:
    """As C has them: a quotient is rounded towards zero, and there is no power."""
    assert evaluate(text, {"WIDE": 64}) == value


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("for (int i = 0; i < 10; i += 3)", 4), ("for (int i = 64; i > 0; i >>= 1)", 7),
        ("for (int i = -9; i < -1; i /= 2)", 3), ("for (int i = 1; i < 9; i <<= -1)", None),
        ("for (int i = 1; i < 9; i <<= 99999999999999)", None),
        ("for (int i = 1; i > 0; i *= 4000000000)", None),
    ],
)  # fmt: skip
def test_trip_counts(loop: str, count: int | None) -> None:
    assert trip_count(tokens(loop, trusted=True), loop, {}) == count


def test_unrolling_is_by_2_to_8_and_nothing_else_changes() -> None:
    found = proposals("unroll", "plain")
    assert found and all(p.policy == "unroll" for p in found)
    for proposal in found:
        added = set(proposal.source.splitlines()) - set(SOURCE.splitlines())
        assert added <= {f"#pragma unroll {factor}" for factor in (2, 4, 8)}


def test_body_rules_cover_what_a_kernel_offers() -> None:
    names = {p.provenance["rule"] for p in proposals("body", "plain")}
    assert {
        "restrict+unroll", "vector_loads", "accumulators", "prefetch", "reciprocal", "unroll",
        "restrict", "launch_bounds",
    } <= names  # fmt: skip


def test_what_changes_rounding_says_so() -> None:
    said = set()
    for proposal in proposals("body", "plain"):
        rule = proposal.provenance["rule"]
        maximum = rule == "accumulators" and "loop 2" in proposal.title
        expected = rule in ("accumulators", "reciprocal") and not maximum
        assert proposal.changes_rounding == expected, proposal.title
        said.add((rule == "accumulators", expected))
    assert said >= {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize(
    ("kernel", "path"),
    [
        ("plain", APP),
        ("softmax_block", EXAMPLES / "softmax.cpp"),
        ("fused", EXAMPLES / "attention.cpp"),
    ],
)
def test_every_proposal_passes_the_static_guard(kernel: str, path: Path) -> None:
    asked = context("body", path, None, kernel)
    seen = [check(asked, p.source) for p in proposals("body", kernel, path)]
    assert seen and all(verdict.allowed for verdict in seen), [v.reason for v in seen]


def test_the_same_question_gets_the_same_answer_and_what_was_tried_is_not_tried_again() -> None:
    first = rules.RulesProposer().propose(context("body", APP, None, "plain"))
    titles = [p.title for p in first]
    assert titles == [p.title for p in proposals("body", "plain")]
    tried = PromptAttempt(title=titles[0], stage="gate", accepted=False, reason="", diff="")
    again = rules.RulesProposer().propose(context("body", APP, None, "plain", (64, 1, 1), (tried,)))
    assert [p.title for p in again] == titles[1:]
