"""doctor.json: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import Model, Versioned


class Check(Model):
    name: str
    status: Literal["ok", "warning", "missing"] = Field(
        description="missing: something cannot be done without it; what for says what"
    )
    found: str
    needed_for: str
    fix: str | None


class DoctorDocument(Versioned):
    tool_version: str
    can: dict[str, bool] = Field(description="what can be done here")
    checks: list[Check]
