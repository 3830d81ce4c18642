"""Which counters mean what on which architecture, and which fit into one profiling pass."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rocm_perf_lab.arch.formula import Formula
from rocm_perf_lab.arch.load import file_of, parse

# Present in every pass: it costs nothing, times the pass and proves that counting worked.
WITNESS = "GRBM_GUI_ACTIVE"
# Blocks with many instances: the `_sum` form records one row per dispatch, not one per channel.
SUMMED_BLOCKS = frozenset({"TCC", "TCP", "TA", "TD", "GL2C"})
# The SQC's counters are read through the SQ's slots.
BLOCK_OF_PREFIX = {"SQC": "SQ"}


@dataclass(frozen=True)
class Metric:
    """One derived number: the first formula whose counters were recorded is used."""

    name: str
    unit: str
    source: str
    note: str | None
    formulas: tuple[Formula, ...]
    together: bool  # a ratio: its counters belong into one pass
    extra: bool  # for the details: no verdict needs it, so it is collected on demand only


@dataclass(frozen=True)
class Check:
    """`left` <= `right` on every real device."""

    left: Formula
    right: Formula
    whole_block: bool  # a breach condemns every counter of that block in the pass

    @property
    def counters(self) -> tuple[str, ...]:
        return (*self.left.counters, *self.right.counters)


@dataclass(frozen=True)
class MetricSet:
    name: str
    metrics: Mapping[str, Metric]
    checks: tuple[Check, ...]
    slots: Mapping[str, int]


@cache
def metric_set(name: str) -> MetricSet:
    merged = _merged(name)
    sources = merged["sources"]
    metrics = {
        key: Metric(
            name=key,
            unit=entry["unit"],
            source=sources[entry["source"]],
            note=entry.get("note"),
            formulas=tuple(Formula(text) for text in entry["formulas"]),
            together=bool(entry.get("together", False)),
            extra=bool(entry.get("extra", False)),
        )
        for key, entry in sorted(merged["metrics"].items())
    }
    checks = tuple(
        Check(Formula(c["left"]), Formula(c["right"]), bool(c.get("whole_block", False)))
        for c in merged["checks"]
    )
    return MetricSet(name, metrics, checks, merged["slots"])


def metric_sets() -> tuple[str, ...]:
    folder = resources.files("rocm_perf_lab.arch") / "metrics"
    return tuple(sorted(e.name[:-5] for e in folder.iterdir() if e.name.endswith(".toml")))


def _merged(name: str) -> dict[str, Any]:
    path = resources.files("rocm_perf_lab.arch") / "metrics" / f"{name}.toml"
    own = parse(path.read_text(encoding="utf-8"))
    base: dict[str, Any] = (
        _merged(own["inherits"])
        if "inherits" in own
        else {"sources": {}, "metrics": {}, "checks": [], "slots": {}}
    )
    return {
        "sources": {**base["sources"], **own.get("sources", {})},
        "metrics": {**base["metrics"], **own.get("metrics", {})},
        "checks": [*base["checks"], *own.get("checks", [])],
        "slots": {**base["slots"], **own.get("slots", {})},
    }


def base_name(counter: str) -> str:
    """`TCC_HIT_sum` and `TCC_HIT` are the same count."""
    return counter[:-4] if counter.endswith("_sum") else counter


def block_of(counter: str) -> str:
    prefix = counter.split("_", 1)[0]
    return BLOCK_OF_PREFIX.get(prefix, prefix)


def collected_name(counter: str) -> str:
    """The name to ask the profiler for."""
    return f"{counter}_sum" if block_of(counter) in SUMMED_BLOCKS else counter


def counter_groups(
    architecture: str, want: Iterable[str] | None = None, details: bool = False
) -> list[list[str]]:
    """Counters for the metrics wanted, each list one pass that fits the slots.

    By default those the verdicts need; `details` adds the rest of the table. Counters of a ratio
    share a pass. `want` names metrics; a counter's own name works too.
    """
    metrics = metric_set(file_of(architecture)["metrics"])
    needed = sorted(n for n, m in metrics.metrics.items() if details or not m.extra)
    chosen = needed if want is None else list(dict.fromkeys(want))
    together: list[frozenset[str]] = []
    single: set[str] = set()
    for name in chosen:
        metric = metrics.metrics.get(name)
        counters = metric.formulas[0].counters if metric else (base_name(name),)
        if metric and metric.together:
            together.append(frozenset(counters) - {WITNESS})
        else:
            single.update(counters)
    single.discard(WITNESS)
    passes = pack(together, single, metrics.slots)
    return [[WITNESS, *(collected_name(c) for c in sorted(group))] for group in passes]


def fits(counters: Iterable[str], slots: Mapping[str, int]) -> bool:
    """Whether one pass can hold these and the witness; an unknown block gets two slots."""
    used = Tally(block_of(c) for c in {*counters, WITNESS})
    return all(count <= slots.get(block, 2) for block, count in used.items())


def pack(
    together: Iterable[frozenset[str]], single: Iterable[str], slots: Mapping[str, int]
) -> list[frozenset[str]]:
    """First fit, largest set first; a counter already in some pass costs that pass nothing."""
    sets = {s for s in together if s}
    sets = {s for s in sets if not any(s < other for other in sets)}
    ordered = sorted(sets, key=lambda s: (-len(s), sorted(s)))
    covered = frozenset[str]().union(*ordered)
    ordered += [frozenset({counter}) for counter in sorted(set(single) - covered)]
    passes: list[frozenset[str]] = []
    for group in ordered:
        ranked = sorted(range(len(passes)), key=lambda i: (-len(passes[i] & group), i))
        for index in ranked:
            if fits(passes[index] | group, slots):
                passes[index] |= group
                break
        else:
            passes.append(group)
    return passes
