"""Where the time of a run went, as profile.json has it."""

from __future__ import annotations

from typing import Any

from rocm_perf_lab.analyze.culprits import Culprit
from rocm_perf_lab.analyze.phases import OneTime
from rocm_perf_lab.analyze.run_time import PARTS, RunTime, Stretch
from rocm_perf_lab.analyze.run_verdict import one_time_sentence
from rocm_perf_lab.schema import profile


def where_document(found: RunTime) -> profile.WhereTheTimeGoes:
    steady, rounds = found.steady, found.rounds
    return profile.WhereTheTimeGoes(
        **_part(found.whole),
        runtime_kernel_share=found.runtime_kernel_share,
        collective_share=found.collective_share,
        one_time=[_one_time(stretch, found.whole.ns) for stretch in found.one_time],
        first_round_ms=rounds[0] / 1e6 if rounds is not None else None,
        usual_round_ms=rounds[1] / 1e6 if rounds is not None else None,
        steady=profile.PartOfRun(**_part(steady)) if steady is not None else None,
        reasons=found.reasons,
        verdict=profile.RunVerdict.of(found.verdict, bottleneck=found.verdict.label),
    )


def _part(stretch: Stretch) -> dict[str, Any]:
    words = {name: text for name, _, text in PARTS}
    return {
        "makespan_ms": stretch.ns / 1e6,
        "parts": [
            profile.TimePart(
                name=part.name,
                words=words[part.name],
                ms=None if part.ns is None else part.ns / 1e6,
                share=part.share,
            )
            for part in stretch.parts
        ],
        "kernel_busy_share": stretch.kernel_busy_share,
        "device_idle_share": stretch.idle_share,
        "host_calls": [
            profile.HostCall.of(c, total_ms=c.total_ns / 1e6) for c in stretch.host_calls
        ],
        "gaps": [_gap(culprit) for culprit in stretch.gaps],
    }


def _gap(culprit: Culprit) -> profile.Gap:
    return profile.Gap.of(culprit, start_ms=culprit.start_ns / 1e6, ms=culprit.ns / 1e6)


def _one_time(stretch: OneTime, whole: int) -> profile.OneTimeStretch:
    return profile.OneTimeStretch(
        kind=stretch.kind,
        words=one_time_sentence(stretch),
        start_ms=stretch.start_ns / 1e6,
        ms=stretch.ns / 1e6,
        share=stretch.ns / whole,
        copies_ms=stretch.copies_ns / 1e6,
        gap=_gap(stretch.culprit) if stretch.culprit is not None else None,
    )
