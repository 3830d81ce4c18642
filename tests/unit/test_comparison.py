"""What a comparison may claim, and when a gate fails."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.analyze import fail_on
from rocm_perf_lab.analyze.compare import Comparison, Part, Samples, compare, whole
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.workflow.compare import compare_paths
from support.databases import write_database

MEASURED, MODELLED = (False, False), (True, True)


def samples(*runs: list[float], modelled: bool = False, shapes: int = 1) -> Samples:
    return Samples(tuple(np.array(run) for run in runs), modelled, shapes)


SENSIBLE = st.sampled_from(
    ["runtime>0%", "runtime>5%", "runtime>=5%", "runtime<-5%", "runtime<0.9x"]
)


def noisy(mean: float, count: int, seed: int, spread: float = 0.01) -> list[float]:
    found = np.random.default_rng(seed).lognormal(np.log(mean), spread, count)
    return [float(x) for x in found]


def whole_ns(times: list[float]) -> list[int]:
    return [round(x) for x in times]


def test_a_clear_difference_is_found_and_has_an_interval_that_holds_it() -> None:
    found = compare(samples(noisy(10, 40, 1)), samples(noisy(8, 40, 2)))
    assert found.verdict == "faster"
    assert found.interval is not None and found.interval[0] < 1.25 < found.interval[1]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_program_is_never_called_faster_or_slower(seed: int) -> None:
    a, b = samples(noisy(10, 30, seed, 0.05)), samples(noisy(10, 30, seed + 100, 0.05))
    assert compare(a, b).verdict in ("same", "inconclusive")


def test_a_few_samples_are_no_proof_however_far_apart() -> None:
    found = compare(samples([1.0, 1.1, 1.0]), samples([2.0, 2.1, 2.0]))
    assert (found.verdict, found.interval) == ("inconclusive", None)
    assert "too few" in found.reason


def test_runs_that_disagree_with_each_other_decide_nothing() -> None:
    # Within each run the samples are tight; from run to run they move more than A from B.
    a = samples([1.00] * 20, [1.10] * 20)
    b = samples([1.05] * 20, [1.15] * 20)
    assert compare(a, b).verdict == "inconclusive"


def test_unequal_numbers_of_samples_are_compared_unpaired() -> None:
    found = compare(samples(noisy(10, 40, 1)), samples(noisy(5, 25, 2)))
    assert (found.verdict, found.method) == ("faster", "unpaired")


def test_calls_of_several_shapes_correspond_only_if_they_are_equally_many() -> None:
    a, b = noisy(10, 40, 1), noisy(5, 25, 2)
    found = compare(samples(a, shapes=2), samples(b, shapes=2))
    assert found.speedup is None and "several shapes" in found.reason
    assert compare(samples(a, shapes=2), samples(b + b[:15], shapes=2)).verdict == "faster"


def test_equal_samples_are_the_same_however_few() -> None:
    assert compare(samples([1.0]), samples([1.0])).verdict == "same"


def test_modelled_and_measured_times_do_not_compare() -> None:
    found = compare(samples([1.0] * 20), samples([2.0] * 20, modelled=True))
    assert found.verdict == "inconclusive" and found.speedup is None


def test_a_modelled_difference_within_the_models_error_is_no_verdict() -> None:
    close = compare(samples([1.0], modelled=True), samples([1.1], modelled=True))
    far = compare(samples([1.0], modelled=True), samples([2.0], modelled=True))
    assert (close.verdict, far.verdict) == ("inconclusive", "slower")
    assert close.modelled


def test_the_runtime_counts_kernels_that_came_and_went() -> None:
    same = Comparison("same", 1.0, (0.99, 1.01), 20, "pairs", "")
    found = whole([Part(10, 10, same), Part(0, 10, None)], MEASURED)
    assert found.speedup == pytest.approx(0.5) and found.verdict == "slower"
    gone = whole([Part(10, 10, same), Part(10, 0, None)], MEASURED)
    assert gone.speedup == pytest.approx(2.0) and gone.verdict == "faster"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_kernel_with_another_name_and_few_samples_decides_nothing(
    count: int, tmp_path: Path
) -> None:
    same = noisy(1e6, 40, 1)
    a = write_database(tmp_path / "a_results.db", {"k": whole_ns(same), "old": [50_000] * count})
    b = write_database(tmp_path / "b_results.db", {"k": whole_ns(same), "new": [500_000] * count})
    found = compare_paths(a, b, root=tmp_path, rules=["runtime>0.5%"])
    assert found.runtime.verdict == "inconclusive"
    assert found.gates[0].outcome == "undecided"


def test_a_kernel_with_another_name_and_many_samples_is_compared_by_its_time(
    tmp_path: Path,
) -> None:
    a = write_database(tmp_path / "a_results.db", {"old": whole_ns(noisy(1e6, 60, 1))})
    b = write_database(tmp_path / "b_results.db", {"new": whole_ns(noisy(1.3e6, 60, 2))})
    found = compare_paths(a, b, root=tmp_path, rules=["runtime>5%"])
    assert found.runtime.verdict == "slower" and found.gates[0].outcome == "failed"
    low, high = found.runtime.speedup_interval or (None, None)
    assert low is not None and high is not None and low < 1 / 1.3 < high


def test_modelled_runs_without_a_common_kernel_differ_by_the_models_error() -> None:
    found = whole([Part(10, 0, None), Part(0, 10.5, None)], MODELLED)
    assert (found.verdict, found.modelled) == ("inconclusive", True)


def test_a_measured_and_a_modelled_run_do_not_compare_whatever_their_kernels_are_called() -> None:
    found = whole([Part(10, 0, None), Part(0, 0.1, None)], (False, True))
    assert found.speedup is None and "one side was measured" in found.reason


def test_the_runtime_is_open_while_a_kernel_in_it_is() -> None:
    same = Comparison("same", 1.0, (0.99, 1.01), 20, "pairs", "")
    few = Comparison("inconclusive", 1.0, None, 2, "pairs", "")
    assert whole([Part(10, 10, same), Part(10, 10, few)], MEASURED).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("rule", "limit", "above"),
    [("runtime>5%", 1.05, True), ("runtime > 1.1x", 1.1, True), ("kernel:a.*b>=10%", 1.1, True)],
)
def test_rules_are_read(rule: str, limit: float, above: bool) -> None:
    found = fail_on.parse(rule)
    assert found.limit == pytest.approx(limit) and found.above is above


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("", "not a rule"),
        ("runtime", "not a rule"),
        ("runtime>5", "needs a unit"),
        ("runtme>5%", "runtme is not compared"),
        ("kernel:(>5%", "regular expression"),
        ("runtime:x>5%", "no kernel name"),
        ("runtime<5%", "holds of two runs that are the same"),
        ("runtime>-5%", "holds of two runs that are the same"),
        ("runtime>=0%", "holds of two runs that are the same"),
        ("runtime<1.1x", "holds of two runs that are the same"),
        ("occupancy<10%", "holds of two runs that are the same"),
        ("vgprs<8", "holds of two runs that are the same"),
        ("vgprs>=0", "holds of two runs that are the same"),
        ("runtime<-100%", "can never hold"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(rule: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        fail_on.parse(rule)


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [((0.80, 0.90), "failed"), ((0.90, 1.00), "undecided"), ((0.97, 1.00), "passed")],
)
def test_a_gate_fails_only_on_what_is_proven(interval: tuple[float, float], outcome: str) -> None:
    time = Comparison("slower", 0.9, interval, 30, "pairs", "")
    assert fail_on.judge_time(fail_on.parse("runtime>5%"), "it", time)[0] == outcome


@pytest.mark.parametrize("speedup", [0.1, 0.5, 1.0, 10.0])
def test_without_an_interval_nothing_is_decided(speedup: float) -> None:
    time = Comparison("inconclusive", speedup, None, 3, "pairs", "")
    found, reason = fail_on.judge_time(fail_on.parse("runtime>5%"), "it", time)
    assert found == "undecided" and "3 samples, too few" in reason


@given(ends=st.lists(st.floats(0.2, 5.0), min_size=4, max_size=4), rule=SENSIBLE)
def test_a_wider_interval_never_decides_what_a_narrower_one_leaves_open(
    ends: list[float], rule: str
) -> None:
    lowest, low, high, highest = sorted(ends)
    asked = fail_on.parse(rule)
    wide, narrow = (
        fail_on.judge_time(asked, "it", Comparison("same", 1.0, i, 30, "pairs", ""))[0]
        for i in ((lowest, highest), (low, high))
    )
    assert wide in (narrow, "undecided")


@settings(deadline=None)
@given(
    first=st.lists(st.floats(0.1, 100), min_size=1, max_size=6),
    factor=st.floats(0.1, 10).filter(lambda x: x != 1),
    rule=SENSIBLE,
)
def test_a_handful_of_samples_decides_nothing_however_far_apart(
    first: list[float], factor: float, rule: str
) -> None:
    found = compare(samples(first), samples([x * factor for x in first]))
    assert fail_on.judge_time(fail_on.parse(rule), "it", found)[0] == "undecided"


@pytest.mark.parametrize("factor", [0.5, 0.93, 1.0, 1.04, 1.065, 1.2, 3.0])
@pytest.mark.parametrize("rule", ["runtime>5%", "runtime<-10%"])
def test_more_of_the_same_samples_never_takes_a_decision_back(factor: float, rule: str) -> None:
    a, b = noisy(10, 30, 1, 0.03), noisy(10 * factor, 30, 2, 0.03)
    decided = [
        fail_on.judge_time(
            fail_on.parse(rule), "it", compare(samples(a[:n] * times), samples(b[:n] * times))
        )[0]
        for n, times in ((2, 1), (5, 1), (10, 1), (30, 1), (30, 2), (30, 4), (30, 8))
    ]
    answers = [outcome for outcome in decided if outcome != "undecided"]
    assert len(set(answers)) <= 1
    assert decided == ["undecided"] * (len(decided) - len(answers)) + answers


RULES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["runtime", "kernel", "vgprs", "occupancy"]),
    st.sampled_from(["<", ">", "<=", ">="]),
    st.integers(-120, 200),
    st.sampled_from(["%", "x", ""]),
)


@given(text=RULES)
def test_no_rule_that_is_taken_fails_two_runs_that_are_the_same(text: str) -> None:
    try:
        rule = fail_on.parse(text)
    except UsageError:
        return
    if rule.metric in fail_on.TIMES:
        same = compare(samples([1.0, 2.0]), samples([1.0, 2.0]))
        assert fail_on.judge_time(rule, "it", same)[0] == "passed"
    else:
        assert fail_on.judge_amount(rule, "k", 32, 32)[0] == "passed"


def test_modelled_times_repeat_exactly_so_their_ratio_is_held_to_the_limit() -> None:
    time = Comparison("inconclusive", 0.9, (0.7, 1.1), 1, "modelled", "", modelled=True)
    assert fail_on.judge_time(fail_on.parse("runtime>5%"), "it", time)[0] == "failed"


def test_amounts_are_absolute_or_relative() -> None:
    more = fail_on.judge_amount(fail_on.parse("vgprs>0"), "k", 32, 40)
    fell = fail_on.judge_amount(fail_on.parse("occupancy<-10%"), "k", 1.0, 0.5)
    kept = fail_on.judge_amount(fail_on.parse("lds>1024"), "k", 0, 1024)
    same = fail_on.judge_amount(fail_on.parse("vgprs>0"), "k", 32, 32)
    new = fail_on.judge_amount(fail_on.parse("scratch>10%"), "k", 0, 4)
    assert (more[0], fell[0], kept[0]) == ("failed", "failed", "passed")
    assert (same[0], new[0]) == ("passed", "failed")


def test_of_several_kernels_a_failure_is_told_before_what_is_undecided() -> None:
    open_: tuple[fail_on.Outcome, str] = ("undecided", "a is open")
    bad: tuple[fail_on.Outcome, str] = ("failed", "b is slower")
    assert fail_on.worst([open_, bad, ("passed", "c")]) == bad
    assert fail_on.worst([open_, ("passed", "c"), open_]) == ("undecided", "a is open (and 1 more)")
    assert fail_on.worst([("passed", "c")]) == ("passed", "c")
    assert fail_on.worst([])[0] == "undecided"


def timings(path: Path, **commands: list[float]) -> Path:
    results = [{"command": name, "times": times} for name, times in commands.items()]
    path.write_text(json.dumps({"results": results}), "utf-8")
    return path


def test_timings_of_other_commands_are_compared_in_their_order_and_it_is_said(
    tmp_path: Path,
) -> None:
    a = timings(tmp_path / "a.json", old=noisy(2, 30, 1), slow=noisy(4, 30, 2))
    b = timings(tmp_path / "b.json", new=noisy(1, 30, 3), fast=noisy(2, 30, 4))
    found = compare_paths(a, b, root=tmp_path)
    assert [(k.kernel, k.time is not None) for k in found.kernels] == [
        ("slow", True),
        ("old", True),
    ]
    assert found.runtime.verdict == "faster"
    assert any("old with new, slow with fast" in note for note in found.notes)
    with pytest.raises(BadInput, match="do not compare"):
        compare_paths(a, write_database(tmp_path / "x_results.db", {"k": [5000]}), root=tmp_path)


def test_the_runtimes_own_kernels_are_not_compared(tmp_path: Path) -> None:
    fill = "__amd_rocclr_fillBufferAligned"
    a = write_database(tmp_path / "a_results.db", {"k": [5000] * 20, fill: [9000] * 20})
    b = write_database(tmp_path / "b_results.db", {"k": [5000] * 20, fill: [90_000] * 20})
    found = compare_paths(a, b, root=tmp_path)
    assert [k.kernel for k in found.kernels] == ["k"]
    assert found.runtime.verdict == "same"
