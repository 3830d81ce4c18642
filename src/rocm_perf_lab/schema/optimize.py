"""optimize.json: what `optimize --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import DeviceInfo, Document, Model

Stage = Literal[
    "static_guard",
    "promise_guard",
    "compile",
    "code_guard",
    "resource_guard",
    "result_check",
    "gate",
    "end_to_end",
    "output_check",
    "accepted",
]
Interval = tuple[float | None, float | None]


class KernelResources(Model):
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    waves_per_simd: float | None
    occupancy_limiter: str | None


class Iteration(Model):
    index: int
    kernel: str
    proposal: str = Field(description="its title")
    rationale: str
    proposer: str
    rule: str | None = Field(description="which rule or model made it")
    stage: Stage = Field(description="the stage it reached: the one that refused it, or accepted")
    decision: Literal["accepted", "refused"]
    reason: str
    repairs: int = Field(description="rounds in which the compiler's words went back")
    speedup: float | None = Field(description="over the best so far; null: not measured")
    confidence_interval: Interval | None
    resources: KernelResources | None
    exact: bool | None = Field(description="results bit for bit those of the original")
    input_sets: list[str] = Field(description="inputs on which its results were compared")
    seconds: float


class LaunchCoverage(Model):
    """The launches of a kernel, all instances of its template together."""

    recorded: int = Field(description="launches of the program that differ in something")
    compared: int = Field(description="of these, captured and compared with the original's results")
    not_compared: list[str] = Field(description="what of them no comparison saw, in words")
    holds: str = Field(description="the limit the patch states: what all launches had in common")


class ProgramOutput(Model):
    """What the program itself prints and writes, changed build beside the original."""

    rule: str = Field(description="exact, numbers:TOL or ignore")
    agrees: bool | None = Field(description="of the result; null: it was not compared")
    compared: list[str] = Field(description="streams and files")
    masked: list[str] = Field(description="what differs between two runs of the original")


class KernelOutcome(Model):
    kernel: str
    critical_path_score: float | None
    share: float | None
    accepted: int = Field(description="proposals")
    speedup: float | None = Field(description="of the captured dispatch, original over final")
    confidence_interval: Interval | None
    baseline_ms: float | None
    final_ms: float | None
    notes: list[str]
    launches: LaunchCoverage | None = Field(default=None, description="what it was compared on")


class Withheld(Model):
    """What the rules would try if more might change."""

    kernel: str
    proposal: str = Field(description="its title")
    rule: str
    changes_rounding: bool = Field(description="results may differ in the last places")


class Further(Model):
    """A policy that permits more than this search had."""

    policy: Literal["body"]
    proposals: list[Withheld] = Field(description="on the result as it is, best first")
    why_not_default: str


class EndToEnd(Model):
    """The whole program, kernels and the gaps between them."""

    baseline_ms: float
    final_ms: float
    speedup: float


class OptimizeDocument(Document):
    speedup: float = Field(description="of the kernel improved most by time; 1: nothing accepted")
    confidence_interval: Interval | None = Field(
        description="of the speed-up; modelled: what the model's published error allows"
    )
    accepted: bool
    baseline_ms: float | None = Field(description="one dispatch of that kernel, as captured")
    final_ms: float | None
    iterations: list[Iteration]
    patch: str = Field(description="a unified diff that `git apply` takes; empty: nothing accepted")
    device: DeviceInfo
    timing: Literal["measured", "modelled"]
    program: str
    source: str
    kernels: list[KernelOutcome]
    end_to_end: EndToEnd | None
    proposer: str
    policy: Literal["unroll", "body"]
    further: Further | None = Field(
        default=None,
        description="proposals that the policy withheld; null: it permits all the rules have",
    )
    min_speedup: float
    confidence: float
    sandbox: Literal["bubblewrap", "landlock", "none"]
    stopped: str = Field(description="why the search ended")
    resumed: bool
    ledger: str
    ledger_head: str = Field(description="hash of the ledger's last entry")
    notes: list[str]
    output: ProgramOutput | None = Field(
        default=None, description="the program's own output; null: nothing got so far"
    )
