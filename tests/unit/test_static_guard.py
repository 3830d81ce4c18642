"""Only the chosen kernel's body may differ: the catalogue's rows for the static guard."""

from __future__ import annotations

import ctypes
import os
import signal

import pytest

from rocm_perf_lab.collect.worker import GuardedWorker
from rocm_perf_lab.optimize import libclang, parser
from rocm_perf_lab.optimize.proposal import Policy
from rocm_perf_lab.optimize.static_guard import check, check_text
from support.catalogue import CATALOGUE, TARGET, Entry, context, entries

HOSTILE = entries("text.toml", "body.toml", "pointers.toml", "bounds.toml")
LATER = entries("results.toml")
HONEST = entries("honest.toml")


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


@pytest.mark.parametrize("entry", HONEST, ids=lambda entry: entry.name)
def test_an_honest_proposal_passes(entry: Entry) -> None:
    verdict = check(context(entry.policy), entry.source)
    assert verdict.allowed, verdict.reason


def proposed(body: str) -> str:
    return TARGET.read_text("utf-8").replace("  out[row] = helper(sum);", body)


def findings(body: str) -> dict[str, str]:
    verdict = check(context("body"), proposed(body))
    assert not verdict.allowed
    return {finding.rule: finding.message for finding in verdict.findings}


TABLE = """\
  const int big[20000][20000] = {[0 ... 19999] = {[0 ... 19999] = 1}};
  out[row] = helper(sum) + big[row][row];"""
HONEST_CHANGE = "  out[row] = helper(sum + 0.0f);"


def test_a_text_that_takes_too_long_to_parse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "CPU_S", 1)
    assert "more than 1 s" in findings(TABLE)["parser"]
    assert check(context("body"), proposed(HONEST_CHANGE)).allowed  # the parser lives on


def test_a_text_that_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MEMORY_BYTES", 600 << 20)
    text = "  const int big[] = {[0 ... 200000000] = 1}; out[row] = helper(sum) + big[row];"
    assert "600 MiB" in findings(text)["parser"]


def test_a_parser_that_dies_or_lies_is_a_refusal_and_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = parser.parser_in(None, TARGET)
    assert check(context("body"), proposed(HONEST_CHANGE)).allowed
    running = asked._running
    assert running is not None and running.group is not None
    os.killpg(running.group, signal.SIGKILL)
    assert "died" in findings(HONEST_CHANGE)["parser"]
    assert check(context("body"), proposed(HONEST_CHANGE)).allowed
    for answer in (b"{}", b"nonsense", b'{"view": {"problems": 3}}', b"[]"):
        with monkeypatch.context() as patched:
            patched.setattr(GuardedWorker, "_line", lambda *_, said=answer: said)
            assert "no sense" in findings(HONEST_CHANGE)["parser"]


def test_what_goes_wrong_in_a_guard_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("rocm_perf_lab.optimize.tree_guard._differences", fails)
    assert "RecursionError" in findings(HONEST_CHANGE)["parser"]


def test_an_exception_that_ctypes_drops_is_not_lost() -> None:
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="not read to its end"), libclang.complete():
        callback()


def test_a_deep_tree_is_walked_to_its_end() -> None:
    text = "int f(int a) { return a" + " + 1" * 3000 + "; }"
    unit = libclang.parse(TARGET.with_name("deep.cpp"), text, (), "gfx942", "host")
    with libclang.complete():
        literals = [n for n in libclang.walk(unit.cursor) if n.kind.name == "INTEGER_LITERAL"]
    assert len(literals) >= 3000


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


FENCED = CATALOGUE / "programs" / "lastblock.cpp"


@pytest.mark.parametrize(
    ("find", "new"),
    [
        ("  __threadfence();\n", ""),
        ("__threadfence();", "__threadfence_block();"),
        ("__ATOMIC_ACQ_REL", "__ATOMIC_RELAXED"),
        ("__HIP_MEMORY_SCOPE_AGENT", "__HIP_MEMORY_SCOPE_WORKGROUP"),
        ("*out = sum;", "*out = sum + 0.0f;"),
        ("  __threadfence();\n", "  __threadfence();\n  *mine = *mine + 0.0f;\n"),
    ],
)
def test_what_workgroups_tell_each_other_stays_as_it_is(find: str, new: str) -> None:
    asked = context("body", FENCED, None, "lastblock")
    found = list(check_text(asked, asked.source.replace(find, new, 1)))
    assert {"ordering", "builtins"} & {finding.rule for finding in found}


def test_what_comes_before_the_first_fence_may_change() -> None:
    asked = context("body", FENCED, None, "lastblock")
    text = asked.source.replace("*mine = *mine + in[i];", "*mine = in[i] + *mine;")
    assert not list(check_text(asked, text))
