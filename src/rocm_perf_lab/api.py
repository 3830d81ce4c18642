"""The Python interface: `import rocm_perf_lab as rpl`.

    run = rpl.analyze("out_results.db")     # or rpl.profile("./app"), rpl.load()
    run.kernels[0].bottleneck               # typed, as in profile.json
    run.to_pandas()                         # one row per kernel
    run.save_report("report.html")
    rpl.compare("before.db", "after.db").runtime.verdict

In a notebook a run shows its story, kernels, roofline and timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import MissingTool
from rocm_perf_lab.report.run_page import fragment
from rocm_perf_lab.report.story import story
from rocm_perf_lab.schema.analysis import AnalysisDocument
from rocm_perf_lab.schema.comparison import ComparisonDocument
from rocm_perf_lab.schema.dag import DagDocument
from rocm_perf_lab.schema.disasm import Disassembly
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument
from rocm_perf_lab.schema.roofline import RooflineDocument
from rocm_perf_lab.schema.thread_trace import ThreadTraceDocument
from rocm_perf_lab.schema.timeline import TimelineDocument
from rocm_perf_lab.workflow import (
    Choices,
    Documents,
    ProfileOptions,
    analyze_files,
    profile_program,
)
from rocm_perf_lab.workflow.compare import compare_paths
from rocm_perf_lab.workflow.disasm import disassembly
from rocm_perf_lab.workflow.documents import write_documents
from rocm_perf_lab.workflow.load import open_run
from rocm_perf_lab.workflow.report import pages, report_html

if TYPE_CHECKING:
    import pandas

StrPath = str | Path
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One analysed run: the documents `rocm-perf` writes, as typed objects."""

    documents: Documents = field(repr=False)
    name: str
    folder: Path | None = None

    @property
    def profile(self) -> ProfileDocument:
        return self.documents.profile

    @property
    def kernels(self) -> list[KernelProfile]:
        """Longest first."""
        return self.documents.profile.kernels

    @property
    def roofline(self) -> RooflineDocument | None:
        return self.documents.roofline

    @property
    def dag(self) -> DagDocument | None:
        return self.documents.dag

    @property
    def analysis(self) -> AnalysisDocument | None:
        return self.documents.analysis

    @property
    def thread_trace(self) -> ThreadTraceDocument | None:
        return self.documents.thread_trace

    @property
    def timeline(self) -> TimelineDocument | None:
        return self.documents.timeline

    @property
    def virtual(self) -> bool:
        """Times and counters are modelled, not measured."""
        return self.profile.provenance.device.kind == "virtual"

    def story(self) -> str:
        return " ".join(story(self.profile, self.dag))

    def to_pandas(self) -> pandas.DataFrame:
        """One row per kernel; what is not known is missing. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingTool(
                "to_pandas() needs pandas", hint="pip install 'rocm-perf-lab[notebook]'"
            ) from None
        return pandas.DataFrame([_row(kernel) for kernel in self.kernels])

    def to_html(self) -> str:
        """The whole report as one page."""
        return report_html(self.documents, self.folder)

    def save_report(self, path: StrPath) -> Path:
        write_file(Path(path), self.to_html())
        return Path(path)

    def _repr_html_(self) -> str:
        parts = ("kernels", "roofline", "timeline")
        return fragment(pages(self.documents, self.folder), parts)


def _row(k: KernelProfile) -> dict[str, Any]:
    return {
        "kernel": k.kernel.name,
        "dispatches": k.dispatches,
        "total_ms": k.total_ms,
        "share": k.share,
        "median_ms": k.dispatch.median_ms,
        "vgprs": k.resources.total_vgpr_per_thread,
        "sgprs": k.resources.sgpr_per_wave,
        "lds_bytes": k.resources.lds_bytes,
        "scratch_bytes": k.resources.scratch_bytes,
        "occupancy": k.occupancy.theoretical,
        "occupancy_limiter": k.occupancy.limiter,
        "operational_intensity": k.roofline.operational_intensity,
        "gflops": k.roofline.achieved_gflops,
        "gbps": k.roofline.achieved_bandwidth_gbps,
        "roofline_position": k.roofline.roofline_position,
        "fraction_of_roof": k.roofline.fraction_of_roof,
        "critical_path_score": k.critical_path.critical_path_score,
        "bottleneck": k.bottleneck.bottleneck,
        "confidence": k.bottleneck.confidence,
        "runtime_helper": k.helper,
    }


def analyze(
    *traces: StrPath,
    att: Sequence[StrPath] = (),
    kernel: str | None = None,
    gpu: str | None = None,
    tell: Tell = lambda _: None,
) -> Run:
    """Traces that rocprofv3 has written, as `rocm-perf analyze`. Needs no GPU; keeps nothing."""
    paths = [Path(trace) for trace in traces]
    choices = Choices(kernel=kernel, gpu=gpu)
    found = analyze_files(paths, att=tuple(map(Path, att)), choices=choices, tell=tell)
    return Run(found, paths[0].stem if paths else "thread trace")


def load(run: StrPath | None = None, root: StrPath = run_folder.ROOT) -> Run:
    """A kept run by folder or name; the latest where none is named."""
    opened = open_run([str(run)] if run is not None else [], Path(root))
    return Run(opened.documents, opened.name, opened.folder)


def profile(
    program: str,
    *arguments: str,
    runs: int = 3,
    counters: bool = True,
    att: bool = False,
    device: str = "auto",
    kernel: str | None = None,
    timeout_s: float = 600.0,
    root: StrPath = run_folder.ROOT,
    tell: Tell = lambda _: None,
) -> Run:
    """Run a program under rocprofv3, as `rocm-perf profile`; the run is kept under `root`.

    `timeout_s` bounds each of its runs; `tell` hears what is going on.
    """
    options = ProfileOptions(
        program=program,
        arguments=arguments,
        runs=runs,
        counters=counters,
        att=att,
        device=device,
        timeout_s=timeout_s,
        choices=Choices(kernel=kernel),
    )
    label = run_folder.label_of(program, arguments)
    with run_folder.new_run(Path(root), label) as made:
        documents = profile_program(options, made.folder, tell)
        write_documents(documents, made.folder)
    return Run(documents, label, made.final)


def compare(
    a: StrPath,
    b: StrPath,
    fail_on: Sequence[str] = (),
    kernel: str | None = None,
    root: StrPath = run_folder.ROOT,
) -> ComparisonDocument:
    """Runs, traces or timings, as `rocm-perf compare`: is B faster than A?"""
    return compare_paths(a, b, root=Path(root), rules=fail_on, kernel=kernel)


def disassemble(
    file: StrPath, kernel: str | None = None, arch: str = "", block: int | None = None
) -> Disassembly:
    """The kernels in a program, as `rocm-perf disasm`: resources, occupancy, instructions."""
    return disassembly(Path(file), kernel, arch, block)
