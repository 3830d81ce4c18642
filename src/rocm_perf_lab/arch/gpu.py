"""What is known about a GPU: every number with its unit, its kind and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# datasheet: the vendor's figure, or one derived from it. measured: read or timed on hardware.
# doc: AMD's documentation or LLVM's target description. unchecked: written from memory.
Kind = Literal["datasheet", "measured", "doc", "unchecked"]
KINDS: tuple[Kind, ...] = ("datasheet", "measured", "doc", "unchecked")
CeilingKind = Literal["datasheet", "measured"]

MEMORY_LEVELS = ("hbm", "mall", "l2", "l1", "lds")
VALU_PIPES = ("valu_f16", "valu_f32", "valu_f64")
MFMA_PIPES = (
    "mfma_f64",
    "mfma_f32",
    "mfma_xf32",
    "mfma_f16",
    "mfma_bf16",
    "mfma_f8",
    "mfma_f6f4",
    "mfma_i8",
)
COMPUTE_PIPES = VALU_PIPES + MFMA_PIPES


@dataclass(frozen=True)
class Quantity:
    value: float
    unit: str
    kind: Kind
    source: str


@dataclass(frozen=True)
class WaveLimits:
    """What bounds the waves resident together, per SIMD or per scheduling domain.

    A domain is what one workgroup runs on: a CU on GCN and CDNA, a WGP (two CUs) on RDNA,
    where HIP compiles for WGP mode unless told otherwise. Register figures are for `wave_size`
    lanes; a wave64 on a wave32 machine takes two of them.
    """

    max_waves_per_simd: int
    simds_per_domain: int
    cus_per_domain: int
    vgprs: int
    vgpr_granule: int
    agprs: Literal["none", "separate", "unified"]
    sgpr_steps: tuple[tuple[int, int], ...]  # (up to this many SGPRs, waves per SIMD); () no limit
    lds_bytes_per_domain: int
    lds_bytes_per_workgroup: int
    lds_granule_bytes: int
    max_workgroups_per_domain: int  # of more than one wave: each holds a barrier
    wave_size: int


@dataclass(frozen=True)
class Gpu:
    """One GPU as the analyses see it: an architecture, a product if recognised, what was recorded.

    `datasheet` and `measured` hold ceilings by name (`hbm`, `l2`, `mfma_bf16`, …) in GB/s,
    GFLOP/s or GIOP/s; a ceiling that is not known is absent. `notes` say what was derived.
    """

    architecture: str
    family: str
    product: str | None
    metrics: str  # name of the counter formulas that apply
    limits: WaveLimits
    wave_size: int
    simds_per_cu: int
    cu_count: int | None
    xcc_count: int | None
    clock_mhz: float | None
    max_waves_per_cu: int
    mall_bytes: int | None = None  # the Infinity Cache's size, where there is one
    datasheet: Mapping[str, Quantity] = field(default_factory=dict)
    measured: Mapping[str, Quantity] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def ceiling(self, name: str, kind: CeilingKind) -> Quantity | None:
        """The ceiling asked for; the datasheet's where none was measured (its kind says so)."""
        if kind == "measured" and name in self.measured:
            return self.measured[name]
        return self.datasheet.get(name)

    def highest(self, name: str) -> float | None:
        """The most any source grants: what goes beyond it is impossible, not fast."""
        found = [q[name].value for q in (self.datasheet, self.measured) if name in q]
        return max(found, default=None)
