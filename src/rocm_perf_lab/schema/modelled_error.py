"""What every modelled time carries: how far such times were from published ones."""

from __future__ import annotations

from pydantic import Field

from rocm_perf_lab.arch.model_error import ErrorClass
from rocm_perf_lab.schema.common import Model


class ModelledError(Model):
    """How far modelled times of this class are from published ones; a share of the measured."""

    kind: ErrorClass = Field(description="by what limits the kernel or the run")
    words: str = Field(description="the class in words")
    validated: bool = Field(description="published times of such kernels were compared")
    typical: float | None = Field(description="median error, without its sign; 0.05: 5 % off")
    worst: float | None
    rows: int = Field(description="published times compared")
    source: str | None = Field(description="programs and device of those times")
    reason: str | None = Field(description="why there is no figure")
    sampling: float | None = Field(
        default=None,
        description="standard error that comes on top, where a part was simulated and the rest "
        "extrapolated from it (`detailed_fraction`); a share of the modelled time",
    )
