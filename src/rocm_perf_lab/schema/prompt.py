"""What a proposer is told and what it answers: the JSON that `--proposer command:` programs and
language models see. Nothing else leaves the machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.thread_trace.finding import Fractions, StallSite
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.schema.common import Model, Versioned
from rocm_perf_lab.schema.profile import BottleneckSummary, Resources, RooflineSummary

Policy = Literal["unroll", "body"]

MAX_TITLE = 200
MAX_RATIONALE = 4_000
MAX_KERNEL_TEXT = 200_000
MAX_PROPOSALS = 32


class PromptKernel(Model):
    name: str = Field(description="as the profiler writes it")
    file: str = Field(description="the file's name, without its folder")
    first_line: int
    last_line: int
    text: str = Field(description="the definition, from its first token to its closing brace")
    used: list[str] = Field(
        description="definitions of the same file that it uses: functions, types, constants, macros"
    )


class PromptDevice(Model):
    kind: Literal["hardware", "virtual", "unknown"]
    name: str | None
    architecture: str | None
    wave_size: int | None
    compute_units: int | None


class PromptMeasurement(Model):
    grid: tuple[int, int, int] | None = Field(description="work-items, not workgroups")
    block: tuple[int, int, int] | None
    dispatches: int
    runtime_ms: float = Field(description="sum over the dispatches of one run")
    share: float | None = Field(description="of the kernel time of one run")
    resources: Resources
    occupancy: Occupancy
    roofline: RooflineSummary
    bottleneck: BottleneckSummary
    stall_fractions: Fractions | None = Field(description="from a thread trace, where one was made")
    stall_sites: list[StallSite]


class PromptAttempt(Model):
    title: str
    stage: str = Field(description="the stage it reached")
    accepted: bool
    reason: str
    diff: str = Field(description="unified diff against the source it was tried on")


class PromptRepair(Model):
    """A proposal that did not compile comes back with what the compiler said."""

    round: int = Field(ge=1, le=3)
    title: str
    kernel: str
    diagnostics: str


class PromptDocument(Versioned):
    task: str
    policy: Policy
    rules: list[str]
    kernel: PromptKernel
    device: PromptDevice
    measurement: PromptMeasurement
    attempts: list[PromptAttempt]
    repair: PromptRepair | None = None
    max_proposals: int = Field(ge=1, le=MAX_PROPOSALS)


class AnswerProposal(Model):
    title: str = Field(min_length=1, max_length=MAX_TITLE)
    rationale: str = Field(default="", max_length=MAX_RATIONALE)
    kernel: str = Field(
        min_length=1,
        max_length=MAX_KERNEL_TEXT,
        description="the whole new definition; takes the place of the prompt's kernel.text",
    )


class AnswerDocument(Model):
    """What a proposer prints or a model answers."""

    proposals: list[AnswerProposal] = Field(max_length=MAX_PROPOSALS)
