"""Given these numbers, this verdict: the rule set read as a specification."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.bottleneck import KernelEvidence, Number, Verdict, judge
from rocm_perf_lab.analyze.counters import join
from rocm_perf_lab.analyze.evidence import analyze_kernels, gather
from rocm_perf_lab.analyze.launches import launch_facts
from rocm_perf_lab.analyze.occupancy import of_kernel
from rocm_perf_lab.analyze.roofline import roofline
from rocm_perf_lab.analyze.rules import LABELS, rule_set
from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.arch import gpu
from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.trace.att_writer import Content
from rocm_perf_lab.trace.trace import Trace
from support import vcopy
from support.att import code, wave, written
from support.traces import Counters, TraceBuilder

GPU = gpu("gfx942")
RULES = rule_set()
CUS, CLOCK = 304, 2100.0


def evidence(limiter: str | None = None, **values: float | None) -> KernelEvidence:
    return KernelEvidence({n: Number(v, "test") for n, v in values.items()}, limiter)


def label(limiter: str | None = None, **values: float | None) -> str:
    return judge(evidence(limiter, **values)).label


# --- whole kernels, from counters ------------------------------------------------------------


def profiled(
    duration_us: float = 1000,
    *,
    read: float = 0,
    written: float = 0,
    valu: float = 0.05,
    lanes: float = 1.0,
    mfma: float = 0.0,
    wait: float = 0.2,
    waves_per_cu: float = 24,
    loads: float = 2,
    lds: float = 0.0,
    conflicts: float = 0.0,
    fma_f32: float = 0.0,
    workgroups: int = 8192,
    block: int = 256,
    lds_bytes: int = 0,
    vgprs: int = 32,
    launches: int = 3,
    gap_us: float = 1.0,
) -> Verdict:
    """A kernel on an MI300X that ran so long and did this; shares are of what there is."""
    cycles = duration_us * CLOCK
    waves = workgroups * -(-block // 64)
    wave_cycles = waves_per_cu * cycles * CUS / 4
    flop_counters = [
        f"SQ_INSTS_VALU_{op}_{t}"
        for op in ("ADD", "MUL", "TRANS", "FMA")
        for t in ("F16", "F32", "F64")
    ] + [f"SQ_INSTS_VALU_MFMA_MOPS_{t}" for t in ("F16", "BF16", "F32", "F64", "F8", "I8")]
    active = valu * cycles * CUS
    counters: Counters = {
        **dict.fromkeys(flop_counters, 0.0),
        "GRBM_GUI_ACTIVE": [cycles] * 8,
        "SQ_INSTS_VALU_FMA_F32": fma_f32,
        "SQ_WAVES": float(waves),
        "SQ_WAVE_CYCLES": wave_cycles,
        "SQ_BUSY_CU_CYCLES": cycles * min(CUS, workgroups),
        "SQ_WAIT_ANY": wait * wave_cycles,
        "SQ_ACTIVE_INST_VALU": active,
        "SQ_THREAD_CYCLES_VALU": active * 64 * lanes,
        "SQ_VALU_MFMA_BUSY_CYCLES": mfma * cycles * CUS * 4,
        "SQ_LDS_IDX_ACTIVE": lds * cycles * CUS,
        "SQ_LDS_BANK_CONFLICT": lds * cycles * CUS * conflicts,
        "SQ_INSTS_VMEM_RD": loads * waves,
        "TCC_BUBBLE": read / 128,
        "TCC_EA0_RDREQ": read / 128,
        "TCC_EA0_RDREQ_32B": 0.0,
        "TCC_EA0_WRREQ": written / 64,
        "TCC_EA0_WRREQ_64B": written / 64,
    }

    def run(with_counters: bool) -> Trace:
        builder = TraceBuilder().kernel("k", arch_vgprs=vgprs, total_vgprs=vgprs)
        for number in range(launches):
            start = int(number * (duration_us + gap_us) * 1000)
            builder.dispatch(
                "k",
                start,
                start + int(duration_us * 1000),
                grid=(workgroups * block, 1, 1),
                workgroup=(block, 1, 1),
                lds=lds_bytes,
                counters=counters if with_counters else None,
            )
        return builder.build()

    timing = run(False)
    joined = join(timing, [run(True)])
    (analysis,) = analyze_kernels(timing, roofline(joined, GPU), GPU)
    return analysis.verdict


@pytest.mark.parametrize("folder", ["MI300X_A1_rocpd", "MI300X_A1", "MI200", "MI100"])
def test_the_recorded_vcopy_is_memory_bandwidth_bound(folder: str) -> None:
    passes = vcopy.passes(folder)
    device = gpu(passes[0].agents[0])
    (found,) = analyze_kernels(passes[0], roofline(join(None, passes), device), device)
    assert found.verdict.label == "memory_bandwidth_bound"
    # 16 MB a dispatch fit MI300X's Infinity Cache, whose ceiling is further away than HBM's.
    assert found.verdict.confidence in ("high", "medium", "low")


def test_the_vcopy_of_an_mi350_is_unknown_and_names_the_counter_it_lacks() -> None:
    """Reads of 128 bytes were not counted there: without them its traffic cannot be told."""
    passes = vcopy.passes("MI350")
    device = gpu(passes[0].agents[0])
    (found,) = analyze_kernels(passes[0], roofline(join(None, passes), device), device)
    assert found.verdict.label == "unknown"
    assert any("TCC_EA0_RDREQ_128B not collected" in why for why in found.verdict.missing)
    assert "Collect the counters that are missing" in found.verdict.next_steps[0]
    assert found.gain.kernel_at_most is None


def test_every_number_a_rule_speaks_of_is_gathered() -> None:
    """A name that nobody fills in would make its rules silent for ever."""
    trace = TraceBuilder().dispatch("k", 0, 1000, counters={"SQ_WAVES": 4.0}).build()
    (kernel,) = roofline(join(None, [trace]), GPU).kernels
    waves = of_kernel(GPU, trace.kernels[0], kernel.key.workgroup, kernel.key.lds_bytes)
    found = gather(kernel, waves, GPU, launch_facts(trace)["k"])
    assert set(RULES.meanings) - set(found.numbers) == set()


def test_a_big_copy_is_memory_bandwidth_bound_with_high_confidence() -> None:
    found = profiled(read=1.8e9, written=1.8e9, wait=0.9)
    assert (found.label, found.confidence) == ("memory_bandwidth_bound", "high")


def test_a_pointer_chase_is_latency_bound() -> None:
    found = profiled(
        read=1e6, valu=0.0001, wait=0.98, waves_per_cu=1 / 304, loads=4096, workgroups=1, block=64
    )
    assert (found.label, found.rule) == ("latency_bound", "dependent_chain")


def test_few_waves_that_wait_for_each_load_are_no_chain_where_addresses_are_computed() -> None:
    chain = {
        "device_fill": 0.1,
        "wait_share": 0.96,
        "loads_per_wave": 24.0,
        "wait_cycles_per_load": 1100.0,
        "memory_fraction": 0.01,
    }
    assert judge(evidence(None, **chain)).rule == "dependent_chain"
    assert judge(evidence(None, **chain, chained_loads=0.0)).rule == "too_few_workgroups"
    sure = judge(evidence(None, **chain, chained_loads=1.0, peak_utilisation=0.01))
    assert (sure.rule, sure.confidence) == ("dependent_chain", "medium")


def test_a_pointer_chase_of_many_waves_is_latency_bound_too() -> None:
    found = profiled(read=4e8, valu=0.02, wait=0.97, loads=1024)
    assert found.label == "latency_bound"


def test_a_chain_of_fma_in_many_waves_is_compute_limited() -> None:
    found = profiled(valu=0.93, fma_f32=126164.7e6 * 0.45 / 128 * 1, wait=0.05)
    assert (found.label, found.confidence) == ("compute_throughput_limited", "high")


def test_a_matrix_kernel_is_compute_limited_by_its_matrix_cores() -> None:
    found = profiled(valu=0.3, mfma=0.8, wait=0.3, read=3e8)
    assert found.label == "compute_throughput_limited"
    assert any("matrix cores busy" in e.source for e in found.evidence)


def test_64_kib_of_lds_with_exposed_waits_is_under_occupied() -> None:
    found = profiled(
        read=3e8, valu=0.15, wait=0.8, waves_per_cu=4, lds=0.1, lds_bytes=65536, loads=64
    )
    assert (found.label, found.rule) == ("under_occupied", "too_few_waves")
    assert any("smaller tiles" in step for step in found.next_steps)


def test_64_kib_of_lds_do_no_harm_where_the_matrix_cores_are_busy() -> None:
    found = profiled(valu=0.3, mfma=0.85, wait=0.5, waves_per_cu=4, lds_bytes=65536)
    assert found.label == "compute_throughput_limited"


def test_few_waves_that_do_not_wait_are_not_under_occupied() -> None:
    assert profiled(valu=0.45, wait=0.2, waves_per_cu=4, lds_bytes=65536).label == "unknown"


def test_512_registers_per_lane_are_named_as_what_limits() -> None:
    found = profiled(read=2e8, valu=0.1, wait=0.85, waves_per_cu=4, vgprs=512)
    assert found.label == "under_occupied"
    assert any("registers per lane" in step for step in found.next_steps)


def test_busy_lanes_switched_off_are_divergence() -> None:
    found = profiled(valu=0.8, lanes=0.27, wait=0.1)
    assert (found.label, found.confidence) == ("divergence_limited", "high")


def test_few_lanes_in_an_idle_alu_are_not_divergence() -> None:
    assert profiled(valu=0.1, lanes=0.3, wait=0.9, loads=64).label == "latency_bound"


def test_strided_lds_accesses_are_lds_bound() -> None:
    found = profiled(valu=0.1, lds=0.9, conflicts=0.95, wait=0.8)
    assert found.label == "lds_bound"
    assert any("bank" in step for step in found.next_steps)


def test_lds_without_conflicts_can_still_be_the_limit() -> None:
    assert profiled(valu=0.3, lds=0.85, conflicts=0.02, wait=0.5).label == "lds_bound"


@pytest.mark.parametrize(
    ("conflicts", "unaligned", "rule", "advice"),
    [
        (0.6, 0.0, "lds_bank_conflicts", "different banks"),
        (0.03, 0.85, "lds_unaligned", "multiple of the access width"),
        (0.02, 0.02, "lds_saturated", "float4"),
    ],
)
def test_conflicts_unaligned_stalls_and_useful_traffic_are_three_numbers(
    conflicts: float, unaligned: float, rule: str, advice: str
) -> None:
    """LDS in use 95 % of the time; what is useful of it is what is left."""
    cycles = 21_000.0  # 10 us at 2.1 GHz
    active = 0.95 * cycles * 304
    counters: Counters = {
        "GRBM_GUI_ACTIVE": [cycles] * 8,
        "SQ_WAVES": 1024.0,
        "SQ_LDS_IDX_ACTIVE": active,
        "SQ_LDS_BANK_CONFLICT": conflicts * active,
        "SQ_LDS_UNALIGNED_STALL": unaligned * active,
    }
    trace = TraceBuilder().dispatch("k", 0, 10_000, counters=counters).build()
    finding = roofline(join(None, [trace]), gpu(trace.agents[0]))
    useful = 1 - conflicts - unaligned
    assert finding.kernels[0].metric("lds_useful") == pytest.approx(0.95 * useful)
    assert finding.kernels[0].levels["lds"].bytes == pytest.approx(useful * active * 128)
    (found,) = analyze_kernels(trace, finding, gpu(trace.agents[0]))
    assert (found.verdict.label, found.verdict.rule) == ("lds_bound", rule)
    assert any(advice in step for step in found.verdict.next_steps)


def test_a_thousand_empty_launches_are_launch_bound() -> None:
    found = profiled(
        2.5, valu=0.0, wait=0.3, waves_per_cu=0.01, workgroups=1, launches=100, gap_us=6
    )
    assert (found.label, found.confidence) == ("launch_bound", "high")


def test_short_kernels_without_gaps_are_not_launch_bound() -> None:
    assert profiled(5, read=1.7e7, wait=0.8, launches=100, gap_us=0.1).label != "launch_bound"


def test_a_grid_of_few_loops_that_batch_their_loads_is_too_small_not_a_chain() -> None:
    found = profiled(read=1e8, valu=0.02, wait=0.8, waves_per_cu=0.5, workgroups=40, loads=20_000)
    assert (found.label, found.rule) == ("under_occupied", "too_few_workgroups")


def test_memory_near_its_limit_claims_no_residency_it_does_not_have() -> None:
    found = profiled(read=1e9, written=1e9, valu=0.05, wait=0.8, waves_per_cu=6.7)
    assert found.rule == "memory_near_saturation" and found.confidence != "high"
    assert "resident" not in found.meaning


def test_a_small_grid_is_under_occupied() -> None:
    found = profiled(valu=0.02, wait=0.4, waves_per_cu=0.2, workgroups=16)
    assert (found.label, found.rule) == ("under_occupied", "too_few_workgroups")


# --- what a kernel trace alone can say -------------------------------------------------------


def traced(workgroups: int, launches: int, duration_us: float, gap_us: float) -> Verdict:
    builder = TraceBuilder()
    for number in range(launches):
        start = int(number * (duration_us + gap_us) * 1000)
        builder.dispatch("k", start, start + int(duration_us * 1000), grid=(workgroups * 256, 1, 1))
    trace = builder.build()
    (found,) = analyze_kernels(trace, roofline(join(trace, []), GPU), GPU)
    return found.verdict


def test_with_only_a_trace_a_long_full_kernel_is_unknown_and_says_what_is_missing() -> None:
    found = traced(8192, 5, 500, 10)
    assert (found.label, found.confidence, found.rule) == ("unknown", "none", None)
    assert any("memory bandwidth" in m and "not known" in m for m in found.missing)
    assert any("no counters were collected" in m for m in found.missing)


def test_with_only_a_trace_a_grid_smaller_than_the_device_is_certain() -> None:
    assert traced(16, 5, 500, 10).label == "under_occupied"


def test_what_hiding_a_collective_or_closing_gaps_gains_is_not_the_kernels_own() -> None:
    for name, said in (("ncclDevKernel_Generic", "beside other work"), ("k", "its launches")):
        builder = TraceBuilder()
        for number in range(20):
            start = number * 9_000
            builder.dispatch(name, start, start + 3000, grid=(2**21, 1, 1))
        trace = builder.build()
        (found,) = analyze_kernels(trace, roofline(join(trace, []), GPU), GPU)
        assert found.verdict.label in ("communication_bound", "launch_bound")
        assert found.gain.kernel_at_most is None and said in found.gain.reasons[0]


def test_with_only_a_trace_launch_overhead_is_certain() -> None:
    assert traced(8192, 1000, 3, 8).label == "launch_bound"


def test_gaps_of_a_counter_run_are_the_profilers_and_prove_nothing() -> None:
    builder = TraceBuilder()
    for number in range(50):
        start = number * 100_000
        builder.dispatch("k", start, start + 3000, counters={"SQ_WAVES": 1024.0})
    trace = builder.build()
    (found,) = analyze_kernels(trace, roofline(join(None, [trace]), GPU), GPU)
    assert found.verdict.label != "launch_bound"


def test_copies_between_kernels_are_not_launch_gaps() -> None:
    builder = TraceBuilder()
    for number in range(4):
        start = number * 10_000
        builder.dispatch("k", start, start + 1000).copy("H2D", start + 1000, start + 10_000)
    assert launch_facts(builder.build())["k"].median_gap_ns == 0


def test_a_small_grid_beside_other_kernels_does_not_leave_the_device_idle() -> None:
    builder = TraceBuilder()
    for number in range(5):
        start = number * 100_000
        builder.dispatch("small", start, start + 90_000, grid=(16 * 256, 1, 1), stream=1)
        builder.dispatch("big", start + 5_000, start + 85_000, grid=(8192 * 256, 1, 1), stream=2)
    trace = builder.build()
    facts = launch_facts(trace)
    assert facts["small"].overlap_share == pytest.approx(80 / 90)
    assert facts["big"].overlap_share == 1
    found = analyze_kernels(trace, roofline(join(trace, []), GPU), GPU)
    assert {a.name: a.verdict.label for a in found} == {"small": "unknown", "big": "unknown"}


# --- what a thread trace adds ----------------------------------------------------------------


def with_thread_trace(content: Content, folder: Path, lds_bytes: int = 0) -> Verdict:
    trace = TraceBuilder().dispatch("k", 0, 10**6, grid=(2**21, 1, 1), lds=lds_bytes).build()
    finding = summarize(written(content, folder))
    assert finding.usable
    (found,) = analyze_kernels(trace, roofline(join(trace, []), GPU), GPU, {"k": finding})
    return found.verdict


def test_waits_in_a_thread_trace_expose_too_few_waves(tmp_path: Path) -> None:
    lines = code("global_load_dword v0, v[2:3], off", "s_waitcnt vmcnt(0)", "s_endpgm")
    one = wave([[0, 3, 0, 4, 1], [4, 9, 900, 904, 2], [908, 11, 0, 4, 3]])
    found = with_thread_trace(Content(lines, [one]), tmp_path, lds_bytes=65536)
    assert (found.label, found.rule) == ("under_occupied", "too_few_waves")
    assert any("thread trace" in e.source for e in found.evidence)


def test_waits_for_lds_in_a_thread_trace_are_lds_bound(tmp_path: Path) -> None:
    lines = code("ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(0)", "s_endpgm")
    one = wave([[0, 5, 400, 404, 1], [404, 9, 500, 504, 2], [908, 11, 0, 4, 3]])
    found = with_thread_trace(Content(lines, [one]), tmp_path)
    assert (found.label, found.rule) == ("lds_bound", "lds_stalls")
    assert len(found.missing) == 1 and "counters would tell whether bank" in found.missing[0]


# --- laws of the rule set --------------------------------------------------------------------

METRICS = sorted(RULES.meanings)
shares = st.one_of(st.none(), st.floats(0, 1))


@st.composite
def any_evidence(draw: st.DrawFn) -> KernelEvidence:
    values = {name: draw(shares) for name in METRICS}
    values["median_us"] = draw(st.one_of(st.none(), st.floats(0.1, 1e5)))
    values["dispatches"] = draw(st.one_of(st.none(), st.floats(1, 1e6)))
    values["loads_per_wave"] = draw(st.one_of(st.none(), st.floats(0, 1e4)))
    values["device_fill"] = draw(st.one_of(st.none(), st.floats(0, 100)))
    return evidence("lds", **values)


@given(any_evidence())
def test_a_verdict_rests_only_on_numbers_that_are_known_and_true(given_: KernelEvidence) -> None:
    found = judge(given_)
    assert found.label in LABELS and found.next_steps
    if found.label == "unknown":
        assert found.confidence == "none" and found.rule is None
        return
    rule = next(r for r in RULES.rules if r.name == found.rule)
    assert rule.label == found.label
    deciding = {(c.metric, c.threshold) for c in rule.all}
    shown = [e for e in found.evidence if (e.metric, e.threshold) in deciding]
    assert len(shown) == len(rule.all)
    assert all(e.holds or e.metric == found.just_missed for e in shown)
    assert found.just_missed in (None, rule.decides)
    assert found.confidence == "low" or found.just_missed is None
    assert all(e.source for e in found.evidence if e.value is not None)


@given(any_evidence())
def test_the_same_evidence_gives_the_same_verdict(given_: KernelEvidence) -> None:
    assert judge(given_) == judge(replace(given_))


@given(any_evidence(), st.floats(0, 1))
def test_moving_more_data_never_ends_a_memory_verdict_of_the_throughput_stage(
    given_: KernelEvidence, more: float
) -> None:
    before = judge(given_)
    old = given_.value("memory_fraction")
    if before.rule != "memory_saturated" or old is None:
        return
    numbers = {**given_.numbers, "memory_fraction": Number(min(1.0, old + more), "test")}
    assert judge(replace(given_, numbers=numbers)).rule == "memory_saturated"


@given(any_evidence(), st.sampled_from(METRICS))
def test_forgetting_a_number_never_raises_confidence_in_the_same_rule(
    given_: KernelEvidence, forgotten: str
) -> None:
    order = ["none", "low", "medium", "high"]
    before = judge(given_)
    numbers = {n: v for n, v in given_.numbers.items() if n != forgotten}
    after = judge(replace(given_, numbers=numbers))
    if after.rule == before.rule:
        assert order.index(after.confidence) <= order.index(before.confidence)


def test_no_evidence_is_unknown() -> None:
    found = judge(KernelEvidence())
    assert found.label == "unknown" and found.missing


def test_everything_known_and_nothing_near_a_limit_is_unknown_without_missing_numbers() -> None:
    quiet = dict.fromkeys(METRICS, 0.1) | {"device_fill": 5.0, "active_lanes": 0.9}
    found = judge(evidence("hardware", **quiet))
    assert found.label == "unknown" and not found.missing
    assert "No single limit" in found.meaning


@pytest.mark.parametrize(
    ("metric", "step"),
    [("memory_fraction", "memory_bandwidth_bound"), ("useful_alu", "compute_throughput_limited")],
)
def test_the_resource_furthest_beyond_its_threshold_wins(metric: str, step: str) -> None:
    both = {"memory_fraction": 0.7, "useful_alu": 0.7} | {metric: 0.9}
    found = judge(evidence(None, **both))
    assert found.label == step and len(found.also) == 1


@pytest.mark.parametrize(
    ("numbers", "confidence"),
    [
        ({"memory_fraction": 0.9, "wait_share": 0.8}, "high"),
        ({"memory_fraction": 0.9}, "medium"),  # what would support it is not known
        ({"memory_fraction": 0.9, "wait_share": 0.1}, "medium"),  # or speaks against it
        ({"memory_fraction": 0.61, "wait_share": 0.8}, "medium"),  # near the threshold
        ({"memory_fraction": 0.61}, "low"),
    ],
)
def test_doubt_lowers_the_confidence_by_a_step_each(
    numbers: dict[str, float], confidence: str
) -> None:
    found = judge(evidence(None, **numbers))
    assert (found.label, found.confidence) == ("memory_bandwidth_bound", confidence)


def test_counters_alone_can_rule_out_every_rule() -> None:
    """A thread trace would add nothing where the LDS is known to be idle."""
    found = profiled(valu=0.3, wait=0.3)
    assert found.label == "unknown" and not found.missing


def test_what_is_missing_is_only_what_an_open_rule_needs() -> None:
    found = judge(evidence(memory_fraction=0.1, wait_share=0.9, device_fill=10.0))
    needed = " ".join(found.missing)
    assert needed and "memory bandwidth" not in needed


def test_thresholds_stand_in_one_file_and_name_known_metrics() -> None:
    for rule in RULES.rules:
        assert rule.stage in RULES.stages and rule.meaning and rule.next_steps
        assert set(rule.metrics) <= set(METRICS)
        assert rule.decides == "any" or rule.decides in {c.metric for c in rule.all}
        assert rule.gain and set(rule.gain) <= {"roof", "fills", "removes", "hides", "gaps"}
    assert {rule.label for rule in RULES.rules} == set(LABELS) - {"unknown"}


# --- explain ---------------------------------------------------------------------------------


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(list(args))
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.mark.parametrize("name", [*LABELS, *(rule.name for rule in RULES.rules)])
def test_every_label_and_rule_can_be_explained(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", name) == 0
    assert name in capsys.readouterr().out
    assert run("explain", name, "--json") == 0
    json.loads(capsys.readouterr().out)


def test_a_rule_is_explained_with_meaning_thresholds_and_next_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("explain", "memory_saturated") == 0
    out = capsys.readouterr().out
    assert "memory_fraction >= 0.6" in out and "What to do:" in out and "ceilings" in out


def test_without_a_name_all_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain") == 0
    out = capsys.readouterr().out
    assert all(rule.name in out for rule in RULES.rules)


def test_a_typo_is_answered_with_the_nearest_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "memory_bandwith_bound") == 2
    assert "did you mean memory_bandwidth_bound?" in capsys.readouterr().err
