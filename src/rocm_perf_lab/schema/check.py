"""What `rocm-perf check` prints as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import Document, Model

Tool = Literal["memory", "init", "race", "sync", "hazards", "fault"]


class SourceFrame(Model):
    function: str
    file: str
    line: int


class HostFrame(Model):
    module: str = Field(description="the program or a library of it")
    function: str | None
    file: str | None = Field(description="null: the module has no debug information")
    line: int | None
    offset: int = Field(description="of the call, from where the module is loaded")


class Access(Model):
    """One side of a finding: what a work-item did, or work that the host asked for by a call."""

    access: str = Field(
        description="read, write, atomic update; reads or writes a register; empty: no access"
    )
    bytes: int = Field(description="of one work-item")
    kernel: str = Field(description="or the call of the host: hipMemcpyAsync …")
    source: str | None = Field(description="the program's own file:line; null without -g")
    frames: list[SourceFrame] = Field(description="the innermost first, then who called it")
    instruction: str
    code: str = Field(description="where in the kernel's code")
    workgroup: tuple[int, int, int] | None = Field(description="null: a call, or not known which")
    wave: int | None = Field(description="of the workgroup")
    work_item: tuple[int, int, int] | None = Field(description="null: one of the wave's")
    called: list[HostFrame] = Field(
        default=[], description="where the host launched or called it, where streams are compared"
    )


class Buffer(Model):
    kind: str = Field(description="device memory, LDS …")
    size: int | None
    offset: int | None = Field(description="of the first byte in question, from its start")
    arguments: list[str] = Field(
        description="kernel arguments that point into it: by name where that is known (Triton), "
        "else by where they stand in the argument block"
    )
    allocated: list[HostFrame] = Field(description="where the host asked for it")


class Finding(Model):
    tool: Tool
    kind: str = Field(description="as docs/check.md lists them")
    title: str
    advice: str
    detail: str | None
    count: int = Field(description="how often it was seen; the first time is described")
    bytes: int | None
    sides: list[Access]
    buffer: Buffer | None
    called: list[HostFrame] = Field(description="of a call of the host: where it was made")


class CheckedKernel(Model):
    kernel: str
    launches: int
    repeated: int = Field(
        description="launches not run: each would have done what one before it did"
    )
    workgroups: int
    accesses: int = Field(description="wave-instructions on global memory")
    lds_accesses: int
    bytes: int = Field(description="of global memory, the most of one launch; in lines of 64")
    same_value: int = Field(description="unordered writes that changed nothing: no findings")


class ApproximateInstruction(Model):
    """One whose result hardware may round otherwise; what it decided is not looked at."""

    instruction: str
    executed: int = Field(description="by waves, in launches that were watched")
    kernels: list[str]


class Coverage(Model):
    tools: list[Tool]
    kernels: list[CheckedKernel] = Field(description="those whose every access was watched")
    approximate: list[ApproximateInstruction] = Field(
        default=[], description="v_exp, v_log and their like, as far as they were executed"
    )
    not_covered: list[str] = Field(description="what could not be looked at, in words")


class CheckDocument(Document):
    program: list[str]
    ended: str = Field(description="how the program ended")
    findings: list[Finding]
    suppressed: int = Field(description="findings that a suppression matched")
    coverage: Coverage
    clean: bool = Field(description="nothing was found, and everything was looked at")
