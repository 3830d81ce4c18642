"""What became of proposals, for the document, for the proposer, and back from the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocm_perf_lab.optimize import measure
from rocm_perf_lab.optimize.attempt import Outcome, finite
from rocm_perf_lab.optimize.target import Target
from rocm_perf_lab.schema.optimize import KernelOutcome, LaunchCoverage
from rocm_perf_lab.schema.prompt import PromptAttempt
from rocm_perf_lab.statistics import GateResult


def kernel_outcome(target: Target, accepted: int, found: measure.Measured | None) -> KernelOutcome:
    return KernelOutcome(
        kernel=target.name,
        critical_path_score=target.score,
        share=target.share,
        accepted=accepted,
        speedup=found.gate.speedup if found else None,
        confidence_interval=finite(found.gate.interval) if found else None,
        baseline_ms=found.a_median_ns / 1e6 if found else None,
        final_ms=found.b_median_ns / 1e6 if found else None,
        notes=target.notes if accepted else list(target.plan.notes),
        launches=_coverage(target) if accepted else None,
    )


def _coverage(target: Target) -> LaunchCoverage:
    family = target.family
    return LaunchCoverage(
        recorded=family.seen.launches,
        compared=family.launches_compared,
        not_compared=family.not_compared(),
        holds=family.limit(),
    )


def told(outcome: Outcome) -> PromptAttempt:
    return PromptAttempt.of(outcome, title=outcome.proposal.title)


def measured_before(known: Mapping[str, Any]) -> measure.Measured | None:
    samples, gate = known.get("samples_ns"), known.get("gate")
    if not samples or not gate:
        return None
    low, high = known["confidence_interval"]
    result = GateResult(
        gate["verdict"], known["speedup"], (low or 0.0, high if high is not None else float("inf")),
        len(samples["a"]), gate["reason"], gate["modelled"],
    )  # fmt: skip
    return measure.Measured(
        result, tuple(samples["a"]), tuple(samples["b"]), tuple(samples["cold_a"]),
        tuple(samples["cold_b"]),
    )  # fmt: skip
