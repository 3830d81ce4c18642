"""Only the chosen kernel's body may differ: the catalogue's rows for the static guard."""

from __future__ import annotations

import pytest

from rocm_perf_lab.optimize.proposal import Policy
from rocm_perf_lab.optimize.static_guard import check
from support.catalogue import Entry, context, entries

HOSTILE = entries("text.toml", "body.toml")
LATER = entries("results.toml")


@pytest.mark.parametrize("entry", HOSTILE, ids=lambda entry: entry.name)
def test_a_hostile_proposal_is_refused_for_the_right_reason(entry: Entry) -> None:
    verdict = check(context(entry.policy), entry.source)
    assert not verdict.allowed
    if entry.stage == "syntax":
        assert verdict.diagnostics and not verdict.findings
    elif entry.stage == "static":
        assert entry.rule in {finding.rule for finding in verdict.findings}, verdict.reason


@pytest.mark.parametrize("entry", LATER, ids=lambda entry: entry.name)
def test_what_is_only_wrong_or_slow_is_left_to_later_stages(entry: Entry) -> None:
    verdict = check(context(entry.policy), entry.source)
    assert verdict.allowed or entry.stage == "any", verdict.reason


UNROLLED = """\
#pragma unroll 4
  for (int c = 0; c < columns; ++c) {"""
BY_HAND = """\
#pragma unroll 1
  for (int c = 0; c < columns; c += 2) {
    sum += SCALE(x[c]) + SCALE(x[c + 1]);
  }
  out"""
VECTOR = """\
  for (int c = 0; c + 4 <= columns; c += 4) {
    float4 v = *reinterpret_cast<const float4*>(x + c);
    sum += SCALE(v.x) + SCALE(v.y) + SCALE(v.z) + SCALE(v.w);
  }
  out"""
LOOP = """\
  for (int c = 0; c < columns; ++c) {
    sum += SCALE(x[c]);
  }
  out"""


@pytest.mark.parametrize(
    ("policy", "find", "replace"),
    [
        ("unroll", "  for (int c = 0; c < columns; ++c) {", UNROLLED),
        ("unroll", LOOP, BY_HAND),
        ("unroll", "  float sum", "  /* a comment */ float sum"),
        ("body", LOOP, VECTOR),
        ("body", "void target(", "void __launch_bounds__(64) target("),
        ("body", "void target(", "void __launch_bounds__(256, 4) target("),
        ("body", "(const float* in, float* out, int rows",
         "(const float* __restrict__ in, float* __restrict__ out, int rows"),
        ("body", "float tile[64]", "float tile[64 + 1]"),
        ("body", "sum += SCALE(x[c]);", "sum += SCALE(__builtin_nontemporal_load(x + c));"),
        ("body", "helper(sum)", "helper(fmaf(sum, 1.0f, -INFINITY + INFINITY))"),
        ("body", "  out[row]", "  if (rows < 0) (void)__shfl_xor(sum, 1);\n  out[row]"),
        ("body", "  float sum =",
         "  typedef float f4 __attribute__((ext_vector_type(4))); f4 z = {0}; float sum = z.x +"),
    ],
)  # fmt: skip
def test_an_honest_edit_passes(policy: Policy, find: str, replace: str) -> None:
    asked = context(policy)
    text = asked.extent.text(asked.source)
    assert find in text
    verdict = check(asked, asked.extent.splice(asked.source, text.replace(find, replace, 1)))
    assert verdict.allowed, verdict.reason
