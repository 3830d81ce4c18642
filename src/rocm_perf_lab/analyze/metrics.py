"""A kernel's counters put into the formulas of its architecture: a number, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.analyze.counters import KernelCounters, PassReadings
from rocm_perf_lab.arch.counters import WITNESS, Check, Metric, block_of, metric_set
from rocm_perf_lab.arch.formula import Formula, UndefinedError
from rocm_perf_lab.arch.gpu import Gpu

# Counts that must not exceed others may do so by this much: passes are runs of their own.
SLACK = 0.01


@dataclass(frozen=True)
class Value:
    value: float | None
    unit: str
    reason: str | None = None
    formula: str | None = None
    counters: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelMetrics:
    values: Mapping[str, Value]  # every metric of the architecture
    plausibility: tuple[str, ...]  # what was impossible, in sentences

    def __getitem__(self, name: str) -> Value:
        return self.values.get(name) or Value(None, "", "no such counter on this architecture")

    def get(self, name: str) -> float | None:
        return self[name].value


def evaluate(kernel: KernelCounters, gpu: Gpu) -> KernelMetrics:
    """All metrics of the GPU's architecture for one kernel."""
    metrics = metric_set(gpu.metrics)
    facts = _facts(kernel, gpu)
    passes = [dict(p.readings) for p in kernel.passes]
    reasons = dict(kernel.reasons)
    plausibility = []
    for check in metrics.checks:
        for sentence, condemned in _breaches(check, kernel, gpu, facts, passes):
            plausibility.append(sentence)
            for readings in passes:
                for name in condemned & readings.keys():
                    del readings[name]
            reasons.update(dict.fromkeys(condemned, sentence))
    usable = [
        PassReadings(p.index, p.dispatches, p.mean_ns, readings)
        for p, readings in zip(kernel.passes, passes, strict=True)
    ]
    values = {
        name: _value(metric, usable, gpu, facts, reasons)
        for name, metric in metrics.metrics.items()
    }
    return KernelMetrics(values, tuple(dict.fromkeys(plausibility)))


def elapsed_cycles(one: PassReadings, gpu: Gpu) -> float | None:
    """Cycles the dispatch took in this pass: the tighter of two upper bounds.

    GRBM_GUI_ACTIVE counts real cycles but also the command processor's work around the kernel,
    which doubles it for a kernel of some microseconds; duration x highest clock leaves that out
    but takes the clock to be at its highest.
    """
    by_time = one.mean_ns * gpu.clock_mhz / 1e3 if gpu.clock_mhz and one.mean_ns > 0 else None
    reading = one.readings.get(WITNESS)
    if reading is None:
        return by_time
    counted = reading.maximum
    if reading.instances <= 1 and (gpu.xcc_count or 1) > 1:
        # Already summed over XCCs, unless that would make it shorter than the kernel itself.
        each = reading.total / (gpu.xcc_count or 1)
        counted = each if by_time is None or each >= by_time / 2 else reading.total
    return counted if by_time is None else min(counted, by_time)


def _facts(kernel: KernelCounters, gpu: Gpu) -> dict[str, float]:
    waves = -(-kernel.key.threads // gpu.wave_size) * kernel.key.workgroups
    facts = {
        "wave_size": float(gpu.wave_size),
        "max_waves_per_cu": float(gpu.max_waves_per_cu),
        "expected_waves": float(waves),
    }
    if gpu.cu_count is not None:
        facts["cu_count"] = float(gpu.cu_count)
        facts["simd_count"] = float(gpu.cu_count * gpu.simds_per_cu)
    return facts


def _breaches(
    check: Check,
    kernel: KernelCounters,
    gpu: Gpu,
    facts: Mapping[str, float],
    passes: Sequence[Mapping[str, object]],
) -> list[tuple[str, frozenset[str]]]:
    found = []
    for one, alive in zip(kernel.passes, passes, strict=True):
        if not all(name in one.readings and name in alive for name in check.counters):
            continue
        values = {**facts, **{n: one.readings[n].total for n in check.counters}}
        left, right = check.left(values), check.right(values)
        if left > right * (1 + SLACK):
            condemned = frozenset(check.counters)
            if check.whole_block:
                blocks = {block_of(name) for name in check.counters}
                condemned = frozenset(n for n in one.readings if block_of(n) in blocks)
            found.append(
                (
                    f"{check.left.text} = {left:g} exceeds {check.right.text} = {right:g}, "
                    "which cannot be",
                    condemned,
                )
            )
    return found


def _value(
    metric: Metric,
    passes: list[PassReadings],
    gpu: Gpu,
    facts: Mapping[str, float],
    reasons: Mapping[str, str],
) -> Value:
    for formula in metric.formulas:
        values = _inputs(formula, passes, gpu, facts)
        if values is None:
            continue
        counters = formula.counters
        try:
            value = formula(values)
        except UndefinedError as undefined:
            return Value(None, metric.unit, f"{undefined}", formula.text, counters)
        if value < 0:
            why = f"{formula.text} comes out negative, which cannot be"
            return Value(None, metric.unit, why, formula.text, counters)
        return Value(value, metric.unit, None, formula.text, counters)
    return Value(None, metric.unit, _missing(metric, passes, facts, reasons))


def _inputs(
    formula: Formula, passes: list[PassReadings], gpu: Gpu, facts: Mapping[str, float]
) -> dict[str, float] | None:
    """Values for every name, from one pass if one has all the counters, else from the first."""
    counters = formula.counters
    whole = [p for p in passes if all(name in p.readings for name in counters)]
    ordered = [*whole[:1], *passes]
    values = dict(facts)
    home: PassReadings | None = None
    for name in counters:
        holder = next((p for p in ordered if name in p.readings), None)
        if holder is None:
            return None
        home = home or holder
        values[name] = holder.readings[name].total
    if home is not None and (cycles := elapsed_cycles(home, gpu)) is not None:
        values["elapsed_cycles"] = cycles
    return values if all(name in values for name in formula.names) else None


def _missing(
    metric: Metric,
    passes: list[PassReadings],
    facts: Mapping[str, float],
    reasons: Mapping[str, str],
) -> str:
    formula = metric.formulas[0]
    collected = {name for p in passes for name in p.readings}
    missing = [name for name in formula.counters if name not in collected]
    explained = [reasons[name] for name in missing if name in reasons]
    if explained:
        return explained[0]
    whole = [why for name, why in reasons.items() if name == "counters" or name.startswith("pass ")]
    if missing and whole and not passes:
        return whole[0]
    if missing:
        return f"{', '.join(missing)} not collected"
    unknown = [n for n in formula.names if n.islower() and n not in facts]
    return f"{', '.join(unknown)} not known for this device"
