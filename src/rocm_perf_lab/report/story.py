"""The story of a run in a few sentences: what ran, how long, what limits it, what would help."""

from __future__ import annotations

from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.units import duration, milliseconds, percent, spread
from rocm_perf_lab.schema.dag import DagDocument
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument


def story(profile: ProfileDocument, dag: DagDocument | None = None) -> list[str]:
    sentences = []
    own = [k for k in profile.kernels if not k.helper]
    if profile.runtime_ms is not None:
        calls = sum(k.dispatches for k in own)
        kernels = f"{len(own)} kernel{'s' * (len(own) != 1)}"
        text = (
            f"{kernels} in {calls:,} launches took {milliseconds(profile.runtime_ms)} of GPU time"
        )
        if profile.provenance.device.kind == "virtual":
            text += ", as the virtual GPU models it"
        s = profile.stability
        if s is not None and s.repeats_exactly:
            text += f"; {s.runs} runs repeat exactly"
        elif s is not None and s.cv is not None and s.classification is not None:
            text += f"; {s.runs} runs agree to {spread(s.cv)} ({s.classification})"
        sentences.append(text + ".")
    elif profile.host_wall_ms is not None:
        sentences.append(
            f"The program took {milliseconds(profile.host_wall_ms)} by the host's clock."
        )
    dominant = dominant_kernel(profile)
    if dominant is not None:
        name = short_name(dominant.kernel.name, 60)
        share = f" and is {percent(dominant.share)} of it" if dominant.share is not None else ""
        sentences.append(f"{name} took {milliseconds(dominant.total_ms)}{share}.")
    if profile.timeline is not None and profile.timeline.makespan_ms > 0:
        t = profile.timeline
        busy = t.busy_ms / t.makespan_ms
        sentences.append(
            f"From the first to the last operation on the GPU {milliseconds(t.makespan_ms)} "
            f"passed; the GPU was busy for {percent(busy)} of that."
        )
    if profile.bottleneck is not None and profile.bottleneck.bottleneck != "unknown":
        label = profile.bottleneck.bottleneck.replace("_", " ")
        sentences.append(f"It is {label} ({profile.bottleneck.confidence} confidence).")
    if dag is not None and dag.makespan_ns and dominant is not None:
        for kernel in dag.kernels:
            if kernel.name != dominant.kernel.name:
                continue
            twice = next((w for w in kernel.what_if if w.speedup == 2.0), None)
            if twice is not None and twice.makespan_ns:
                gain = dag.makespan_ns / twice.makespan_ns
                sentences.append(
                    f"Were it twice as fast, the run would be {gain:.2f}x as fast "
                    f"({duration(twice.makespan_ns)})."
                )
    return sentences


def dominant_kernel(profile: ProfileDocument) -> KernelProfile | None:
    if profile.kernel is None:
        return None
    return next((k for k in profile.kernels if k.kernel.name == profile.kernel.name), None)
