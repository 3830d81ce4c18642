"""The bandwidth that the loads and stores of a thread trace ask for, against the ceilings.

Executed instructions x bytes a lane x lanes, over the time of a call. Caches may serve repeats, so
above what memory can give the figure is the L1's, through which every lane's bytes pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocm_perf_lab.analyze.bottleneck import ATT, Number
from rocm_perf_lab.analyze.memory_levels import OVER_PEAK, WORDS
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.thread_trace.traffic import WHOLE_WAVES, Traffic
from rocm_perf_lab.analyze.traced_dispatch import TracedDispatch
from rocm_perf_lab.arch.gpu import Gpu, Quantity

_BYTES_UNKNOWN = Number(None, ATT, "the bytes of a whole call are not known")


@dataclass(frozen=True)
class Requested:
    number: Number  # over the ceiling of `level`
    level: str | None = None  # in words
    beyond_cache: Number = _BYTES_UNKNOWN


def requested(
    att: ThreadTraceFinding,
    gpu: Gpu | None,
    ceilings: Mapping[str, Quantity] | None,
    call: TracedDispatch | None,
) -> Requested:
    """`ceilings` are those the roofline uses; the GPU's measured ones where there is none."""
    traffic = att.traffic
    if gpu is None:
        return Requested(Number(None, ATT, "no architecture file describes this GPU"))
    if traffic is None or att.waves is None or not traffic.bytes:
        return Requested(Number(None, ATT, "the traced waves executed no load or store"))
    if call is not None and call.key is None:
        why = "the kernel ran in several sizes, and which one was traced is not recorded"
        return Requested(Number(None, ATT, why))
    by_call = call is not None and call.key is not None and call.key.threads > 0
    rate = None
    if by_call and (traffic.ended_share >= WHOLE_WAVES or not _fills(gpu, call)):
        rate = _by_call(traffic, att.waves.waves, call)
    elif call is None or (by_call and _fills(gpu, call)):
        rate = _by_cycles(traffic, att, gpu, call)
    if rate is None:
        return Requested(Number(None, ATT, "the launch size or the clock is not recorded"))
    total = rate[0] * call.median_ns if call is not None else None
    return _against(*rate, total, gpu, ceilings)


def _fills(gpu: Gpu, call: TracedDispatch | None) -> bool:
    if call is None or call.key is None or not gpu.cu_count:
        return False
    return call.key.workgroups >= gpu.cu_count


def _by_call(traffic: Traffic, waves: int, call: TracedDispatch | None) -> tuple[float, str] | None:
    """GB/s: what a lane asks for x the lanes of the launch, over the median call."""
    if call is None or call.key is None or call.median_ns <= 0:
        return None
    each = traffic.bytes / waves
    lanes = call.key.workgroups * call.key.threads
    said = f"{each:,.4g} B a lane x {lanes:,} lanes in {call.median_ns / 1e3:,.4g} us"
    return each * lanes / call.median_ns, said


def _by_cycles(
    traffic: Traffic, att: ThreadTraceFinding, gpu: Gpu, call: TracedDispatch | None
) -> tuple[float, str] | None:
    """GB/s: what the traced compute units ask for in a clock, on all of them.

    Without a recorded clock it is at least what they asked for over the whole of a call.
    """
    if not gpu.cu_count or not traffic.unit_cycles or gpu.limits.cus_per_domain > 1:
        return None
    lanes = float(gpu.wave_size)
    if call is not None and call.key is not None:
        lanes *= call.key.threads / (-(-call.key.threads // gpu.wave_size) * gpu.wave_size)
    if not att.shader_mhz and call is not None and call.median_ns > 0:
        all_units = traffic.bytes * lanes / traffic.units * gpu.cu_count
        took = f"at least {all_units / 2**20:,.4g} MiB on {gpu.cu_count} CUs"
        return all_units / call.median_ns, f"{took} in {call.median_ns / 1e3:,.4g} us"
    clock = att.shader_mhz or gpu.clock_mhz
    if not clock:
        return None
    each = traffic.bytes * lanes / traffic.unit_cycles
    said = f"{each:,.3g} B a clock on each of {gpu.cu_count} CUs at {clock:,.0f} MHz"
    return each * gpu.cu_count * clock / 1e3, said


def _against(
    gbps: float,
    said: str,
    total: float | None,
    gpu: Gpu,
    ceilings: Mapping[str, Quantity] | None,
) -> Requested:
    most = gpu.highest("hbm")
    level = "hbm" if most is not None and gbps <= most * (1 + OVER_PEAK) else "l1"
    if ceilings is None:
        own = gpu.ceiling(level, "measured")
    else:
        own = ceilings.get(level)
    if own is None:
        return Requested(Number(None, ATT, f"no ceiling is known for {WORDS[level]}"))
    name, sheet = WORDS[level], gpu.datasheet.get(level)
    source = f"{ATT}: {said} ask for {gbps:,.0f} of {name}'s {own.value:,.0f} GB/s"
    if gbps > own.value:
        measured = f"more than {name}'s measured {own.value:,.0f}"
        source = f"{ATT}: {said} ask for {gbps:,.0f} GB/s, {measured}"
    if sheet is not None and sheet.value != own.value:
        source += f", {100 * gbps / sheet.value:.0f} % of the datasheet's {sheet.value:,.0f}"
    peak = gbps / sheet.value if sheet is not None else None
    peak_of = f"{name}'s datasheet"
    words, beyond = "memory (HBM)" if level == "hbm" else name, _BYTES_UNKNOWN
    cache, cached = gpu.mall_bytes or 0, gpu.highest("mall")
    if total is not None:
        size = f"{total / 2**20:,.0f} MiB a call, {cache / 2**20:,.0f} MiB of Infinity Cache"
        beyond = Number(float(total > cache), f"{ATT}: {size}")
    if level == "hbm" and total is not None and total <= cache and cached:
        words, peak = "memory (HBM, or the Infinity Cache, which can hold the data)", gbps / cached
        peak_of = f"the {cached:,.0f} GB/s of the Infinity Cache"
    share = Number(min(gbps / own.value, 1.0), source, peak=peak, peak_of=peak_of)
    return Requested(share, words, beyond)
