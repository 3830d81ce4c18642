"""All that was found out about one program: what the documents are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.analyze.evidence import KernelAnalysis
from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.metrics_table import Row
from rocm_perf_lab.analyze.modelled_error import ErrorClasses
from rocm_perf_lab.analyze.operators import OperatorTime
from rocm_perf_lab.analyze.roofline import RooflineFinding
from rocm_perf_lab.analyze.run_time import RunTime
from rocm_perf_lab.analyze.runtime import Runtime
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.trace.trace import Agent

SERIALISED = "only counter runs were given, and counting serialises dispatches"
NOT_RUN = "this kernel did not run in the run that was analysed"


@dataclass(frozen=True)
class Findings:
    times: Runtime
    gpu: Gpu | None
    agent: Agent | None
    roofline: RooflineFinding
    tables: Mapping[KernelKey, Sequence[Row]]  # every metric of the kernels that were counted
    dag: DagFinding
    run_time: RunTime | None
    kernels: tuple[KernelAnalysis, ...]
    att: tuple[ThreadTraceFinding, ...]
    att_of: Mapping[str, ThreadTraceFinding]  # by kernel name
    serialised: bool  # times come from counter runs
    errors: ErrorClasses | None  # of modelled times; None on hardware
    roofs_of_the_model: frozenset[str]  # ceilings that the virtual GPU is built with
    detailed: Mapping[str, float]  # by kernel name: how much of a modelled one was simulated
    sampling_error: Mapping[str, float]  # the same: standard error of its time from that
    operators: tuple[OperatorTime, ...]
    notes: tuple[str, ...]
