"""The question put to a proposer: the kernel, its profile, the evidence, what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocm_perf_lab.analyze.thread_trace.finding import StallSite, ThreadTraceSummary
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.kernel_source import Located, base_name
from rocm_perf_lab.optimize.promises import Seen, parameters, told
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument
from rocm_perf_lab.schema.prompt import (
    Policy,
    PromptAttempt,
    PromptDevice,
    PromptDocument,
    PromptKernel,
    PromptMeasurement,
)

TASK = (
    "Rewrite one HIP kernel so that it runs faster with the same results. Answer with JSON only: "
    '{"proposals": [{"title": ..., "rationale": ..., "kernel": ...}]}, where "kernel" is the '
    "whole new definition that takes the place of kernel.text."
)

MAX_PROPOSALS = 8
RULES = (
    "No preprocessor directives other than those already there and `#pragma unroll`.",
    "No inline assembly, no new static or global variables, no local classes or lambdas, no goto.",
    "No calls but those already made, HIP's mathematics, vector, shuffle and barrier functions, "
    "and __builtin_nontemporal_load and _store.",
    "Every output must be written as before: results are compared on captured and on new inputs.",
    "A change counts only if it is measured faster; it is compiled and run in a sandbox.",
)
RULES_OF: dict[Policy, tuple[str, ...]] = {
    "unroll": (
        "Everything up to the opening brace of the body stays as it is, token for token.",
        "Only `#pragma unroll` before loops may be added, removed or changed, and the loop that "
        "has one may be rewritten; nothing else.",
    ),
    "body": (
        "Everything up to the opening brace of the body stays as it is, token for token, but "
        "__launch_bounds__ may be added or changed, no lower than measurement.block, and "
        "__restrict__ added to pointer parameters.",
    ),
}


def build_context(
    located: Located,
    *,
    kernel: str,
    profile: ProfileDocument,
    policy: Policy,
    flags: Sequence[str] = (),
    attempts: Sequence[PromptAttempt] = (),
    seen: Seen | None = None,
) -> Context:
    """`kernel` as the profiler names it; `flags` are hipcc's of the build that was profiled."""
    measured = _measured(profile, kernel)
    trace = profile.thread_trace
    if trace is not None and not any(
        base_name(t.name) == located.kernel for t in trace.kernels if t.latency
    ):
        trace = None
    usable = trace is not None and trace.usable
    text = located.extent.text(located.source)
    known = told(seen, parameters(text, located.kernel)) if seen and policy == "body" else []
    prompt = PromptDocument(
        task=TASK,
        policy=policy,
        rules=[*RULES_OF[policy], *RULES, *known],
        kernel=PromptKernel.of(
            located, name=measured.kernel.name, file=located.path.name, text=text
        ),
        device=PromptDevice.of(profile.gpu, kind=profile.provenance.device.kind),
        measurement=PromptMeasurement.of(
            measured,
            grid=measured.kernel.grid,
            block=measured.kernel.block,
            stall_fractions=trace.fractions if trace is not None and usable else None,
            stall_sites=_without_folders(trace) if trace is not None and usable else [],
        ),
        attempts=list(attempts),
        max_proposals=MAX_PROPOSALS,
    )
    return Context(
        prompt=prompt,
        path=located.path,
        source=located.source,
        kernel=located.kernel,
        extent=located.extent,
        flags=tuple(flags),
        architecture=architecture_of(profile),
        seen=seen,
    )


def architecture_of(profile: ProfileDocument) -> str:
    return (profile.gpu.architecture or "gfx942").partition(":")[0]


def _without_folders(trace: ThreadTraceSummary) -> list[StallSite]:
    """Where files lie on this machine is nobody's business."""

    def shorter(source: str | None) -> str | None:
        return source.rpartition("/")[2] if source else source

    return [
        replace(
            site,
            source=shorter(site.source),
            waits_for=tuple(replace(w, source=shorter(w.source)) for w in site.waits_for),
        )
        for site in trace.stall_sites
    ]


def _measured(profile: ProfileDocument, kernel: str) -> KernelProfile:
    for found in profile.kernels:
        if found.kernel.name == kernel:
            return found
    for found in profile.kernels:
        if base_name(found.kernel.name) == base_name(kernel):
            return found
    raise BadInput(f"the profile has no kernel {kernel}")
