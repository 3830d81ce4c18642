"""From documents to the HTML report: adds what the page needs beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocm_perf_lab.analyze.occupancy_curves import Curve, Use, curves
from rocm_perf_lab.arch import load
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.report.run_page import Pages, render
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument
from rocm_perf_lab.workflow.documents import Documents

MOST_CURVES = 5
# A trace names its source files. Only what is a source file by its name is read, whatever the
# trace says: a report is passed on, and must not carry a reader's other files with it.
SOURCE_SUFFIXES = {
    *(".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".hip", ".cl"),
    *(".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".py", ".s"),
}
MOST_SOURCE_BYTES = 4 << 20


def report_html(documents: Documents, folder: Path | None = None) -> str:
    """`folder`: the run's, where source files are looked for as well."""
    return render(pages(documents, folder))


def pages(documents: Documents, folder: Path | None = None) -> Pages:
    return Pages(
        profile=documents.profile,
        roofline=documents.roofline,
        dag=documents.dag,
        analysis=documents.analysis,
        thread_trace=documents.thread_trace,
        timeline=documents.timeline,
        curves=_curves(documents.profile),
        sources=_sources(documents, folder),
    )


def _curves(profile: ProfileDocument) -> dict[str, tuple[Sequence[Curve], int]]:
    gpu = _gpu(profile)
    if gpu is None:
        return {}
    shown = [k for k in profile.kernels if not k.helper][:MOST_CURVES]
    found: dict[str, tuple[Sequence[Curve], int]] = {}
    for kernel in shown:
        use = _use(kernel)
        if use is not None and kernel.occupancy.theoretical is not None:
            found[kernel.kernel.name] = (curves(gpu, use), gpu.limits.max_waves_per_simd)
    return found


def _gpu(profile: ProfileDocument) -> Gpu | None:
    """The product that ran, not only its architecture; None where no file describes it."""
    architecture = profile.gpu.architecture or profile.provenance.device.architecture
    return load.recorded(architecture, profile.gpu.name or "") if architecture else None


def _use(kernel: KernelProfile) -> Use | None:
    r, o = kernel.resources, kernel.occupancy
    known = r.total_vgpr_per_thread is not None or r.vgpr_per_thread is not None
    if not known or r.lds_bytes is None or not o.threads_per_block:
        return None
    return Use(
        threads=o.threads_per_block,
        vgprs=r.vgpr_per_thread,
        agprs=r.agpr_per_thread,
        total_vgprs=r.total_vgpr_per_thread,
        sgprs=r.sgpr_per_wave,
        lds_bytes=r.lds_bytes,
    )


def _sources(documents: Documents, folder: Path | None) -> dict[str, list[str]]:
    """Source files the thread traces name: copies kept with the trace first, then on this disk."""
    found: dict[str, list[str]] = {}
    for trace in documents.thread_trace.traces if documents.thread_trace else ():
        beside = Path(trace.folder)
        if folder is not None and not beside.is_absolute():
            beside = folder / beside
        named = {
            part.rpartition(":")[0]
            for i in trace.instructions
            for part in (i.source or "").split(" -> ")
        }
        for name in sorted(named - {""} - found.keys()):
            path = Path(name)
            if path.suffix.lower() not in SOURCE_SUFFIXES:
                continue
            kept = sorted(beside.glob(f"source_*_{path.name}")) if _plain(path.name) else []
            for candidate in [*kept, path]:
                text = _read(candidate)
                if text is not None:
                    found[name] = text
                    break
    return found


def _plain(name: str) -> bool:
    return not any(c in name for c in "*?[]/\\")


def _read(path: Path) -> list[str] | None:
    try:
        if not path.is_file() or path.stat().st_size > MOST_SOURCE_BYTES:
            return None
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return None
