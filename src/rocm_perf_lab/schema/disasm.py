"""What `rocm-perf disasm … --json` prints."""

from __future__ import annotations

from pydantic import Field

from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.schema.common import Model, Versioned


class KernelArgument(Model):
    name: str
    kind: str
    type: str
    offset: int
    size: int


class KernelInstruction(Model):
    address: int
    encoding: str = Field(description="32-bit words in hexadecimal")
    text: str
    file: str | None = Field(description="of the program's own line, where a header was inlined")
    line: int | None
    source: str | None = Field(
        default=None, description="file:line, callers of inlined code after ' -> '"
    )


class KernelResources(Model):
    vgpr_per_thread: int = Field(description="architectural VGPRs the code uses")
    agpr_per_thread: int = Field(description="accumulation VGPRs the code uses")
    total_vgpr_per_thread: int | None = Field(
        default=None, description="allocated, both kinds together, as `profile` has it"
    )
    sgpr_per_wave: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    kernarg_bytes: int
    max_threads_per_block: int
    wave_size: int


class DisassembledKernel(Model):
    name: str = Field(description="the symbol")
    demangled: str = Field(description="the name as the source has it")
    architecture: str
    resources: KernelResources
    occupancy: Occupancy = Field(description="of the block asked for, or the largest allowed")
    occupancy_by_block: list[Occupancy] = Field(
        default=[], description="of the block asked for, or of usual sizes up to the largest"
    )
    arguments: list[KernelArgument]
    instructions: list[KernelInstruction] | None
    instructions_reason: str | None = Field(description="why there are no instructions")


class Disassembly(Versioned):
    file: str
    kernels: list[DisassembledKernel]
