"""What a ledger claims of a kernel, and what `ledger verify --json` prints of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocm_perf_lab.schema.common import Model, Versioned
from rocm_perf_lab.schema.optimize import Interval

Timing = Literal["measured", "modelled"]
ClaimVerdict = Literal[
    "confirmed", "unchecked", "inconclusive", "refuted"
]  # each worse than the last
Verdict = Literal[ClaimVerdict, "unbroken"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

Time = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Times = Annotated[list[Time], Field(max_length=10_000)]
Some = Annotated[Times, Field(min_length=1)]


class Samples(Model):
    """Every time of a measurement, original and result in turns; cold: with flushed caches."""

    a: Some
    b: Some
    cold_a: Times
    cold_b: Times


class KeptLaunch(Model):
    """A captured launch beside the main one, on which results were compared."""

    folder: str = Field(pattern=r"^\d{2}$", description="in launches/N")
    capture: Sha256 = Field(description="of its manifest")


class Claim(Model):
    """`number` names its files: claims/N/before.hsaco, after.hsaco, capture-N and launches/N."""

    number: int = Field(ge=1, le=1000)
    kernel: str
    symbol: str
    rule: str | None
    speedup: float = Field(gt=0, allow_inf_nan=False)
    min_speedup: float = Field(ge=1, allow_inf_nan=False)
    confidence: float = Field(gt=0, lt=1)
    floor_ns: float = Field(ge=0, allow_inf_nan=False)
    timing: Timing
    samples_ns: Samples
    file: str = Field(description="the source that was changed, by its path in the first entry")
    source: Sha256 = Field(description="the text `after` was built from")
    places: tuple[str, str] = Field(description="folders that before and after were built in")
    before: Sha256
    after: Sha256
    capture: Sha256 = Field(description="of its manifest")
    launches: list[KeptLaunch] = Field(max_length=100, description="beside the main one")
    compared: int = Field(ge=1, description="launches that results were compared on in the run")


class CheckedClaim(Claim):
    """A claim, and what was found of it here."""

    verdict: ClaimVerdict
    reason: str
    speedup_here: float | None = Field(description="null: it was not measured")
    compared_again: list[str] = Field(description="launches on which results were compared here")
    confidence_interval: Interval | None = Field(description="of the speed-up here")


class VerificationDocument(Versioned):
    verdict: Verdict = Field(description="the worst of the claims'; unbroken: nothing is claimed")
    reason: str
    entries: int = Field(description="of the ledger")
    ledger_head: str = Field(description="hash of the ledger's last entry")
    timing: Timing | None = Field(description="of the speed-ups here; null: nothing was run")
    device: str | None
    claims: list[CheckedClaim]
