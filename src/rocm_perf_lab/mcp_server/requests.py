"""What a client may ask, and within which bounds. Everything in a request is hostile.

A field that is not named here is refused, and so is a path that leaves the folder the server was
started in. Programs are a name and a list of words; nothing is ever given to a shell.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_CHARS = 100_000
USUAL_CHARS = 20_000


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has characters that are not printable")
    return text


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("has a NUL character")
    return text


def _inside(text: str) -> str:
    """A path within the working folder, links followed."""
    _no_nul(text)
    here = Path.cwd().resolve()
    try:
        full = (here / text).resolve()
    except (OSError, RuntimeError):
        raise ValueError("is not a path that can be followed") from None
    if not full.is_relative_to(here):
        raise ValueError("is outside the folder this server works in")
    return text


def _program(text: str) -> str:
    """A file within the working folder, or a plain name that PATH resolves."""
    return _inside(text) if "/" in text else _no_nul(text)


def _regex(text: str) -> str:
    try:
        re.compile(_one_line(text))
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]
Word = Annotated[str, Field(max_length=8192), AfterValidator(_no_nul)]
PathText = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_inside)]
Program = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_program)]
Regex = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_regex)]
Part = Literal[
    "summary", "kernels", "roofline", "path", "lines", "metrics",
    "profile.json", "roofline.json", "dag.json", "analysis.json", "thread_trace.json",
]  # fmt: skip
PART_HELP = (
    "summary: the verdict in words; kernels, roofline, path, lines (hot lines of a thread trace), "
    "metrics: tables; NAME.json: the document"
)


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    max_chars: int = Field(USUAL_CHARS, ge=500, le=MOST_CHARS, description="of the answer's text")
    timeout_s: float = Field(600.0, ge=1, le=7200, description="for the whole call, in seconds")


class Paged(Request):
    offset: int = Field(0, ge=0, description="first character to show; a cut answer names it")


class OfProgram(Request):
    program: Program = Field(
        description="a file in the working folder, ./app, or a name in PATH, python3"
    )
    arguments: list[Word] = Field([], max_length=256, description="one element for each word")
    device: Name = Field("auto", description="auto, rocm, virtual, or a device's name")


class ProfileRequest(OfProgram):
    runs: int = Field(3, ge=1, le=50, description="timing runs after one warm-up")
    counters: bool = Field(True, description="collect hardware counters")
    att: bool = Field(False, description="also take a thread trace of the dominant kernel")
    kernel: Regex | None = Field(None, description="only kernels that match")
    part: Part = Field("summary", description=PART_HELP)


class AnalyzeRequest(Request):
    traces: list[PathText] = Field(
        [], max_length=256, description="rocpd databases, rocprofv3 JSON, folders of them"
    )
    att: list[PathText] = Field([], max_length=64, description="folders of thread traces")
    kernel: Regex | None = Field(None, description="only kernels that match")
    gpu: Name | None = Field(None, description="which GPU, where the traces do not say")
    part: Part = Field("summary", description=PART_HELP)


class ShowRequest(Paged):
    run: PathText | None = Field(None, description="a kept run by name or folder; null: the latest")
    part: Part = Field("summary", description=PART_HELP)


class RunsRequest(Paged):
    pass


class CompareRequest(Paged):
    a: PathText = Field(description="the baseline: a kept run, traces, or hyperfine's JSON")
    b: PathText = Field(description="what is compared with it")
    fail_on: list[Name] = Field(
        [], max_length=32, description='gates: "runtime>5%", "kernel:NAME>10%", "vgprs>0"'
    )
    kernel: Regex | None = Field(None, description="only kernels that match")
    format: Literal["markdown", "json"] = "markdown"


class ExplainRequest(Paged):
    rule: Name | None = Field(None, description="a verdict's label or a rule; null: all rules")


class CaptureRequest(OfProgram):
    kernel: Regex = Field(description="the kernel to capture, by its name")
    index: int = Field(0, ge=0, description="which of its launches")
    max_bytes: int = Field(
        4 << 30, ge=1, description="refuse, before writing, what could become larger"
    )


class ReplayRequest(Paged):
    capture: PathText | None = Field(None, description="a capture's folder; null: the newest")
    action: Literal["info", "run", "profile"] = Field(
        "run", description="what is in it; run and compare the output; profile it alone"
    )
    hsaco: PathText | None = Field(None, description="run this build of the kernel instead")
    iterations: int | None = Field(None, ge=1, le=10_000, description="null: as many as fit 20 s")
    counters: bool = Field(True, description="for profile: collect hardware counters")
    att: bool = Field(True, description="for profile: take a thread trace")
    verify: Annotated[str, Field(pattern=r"^(exact|[0-9.eE+-]{1,20})$")] | None = Field(
        None, description='"exact" or a tolerance; null: a tolerance by type'
    )
    dtype: Name | None = Field(None, description="type of the output: f32, bf16, i32 …")
    device: Name | None = Field(None, description="null: the first with the capture's ISA")


class DoctorRequest(Paged):
    pass
