"""`rocm-perf runs --json`: the runs that are kept."""

from __future__ import annotations

from pydantic import Field

from rocm_perf_lab.schema.common import Model, Versioned


class KeptRun(Model):
    name: str = Field(description="as `show`, `report` and `compare` take it")
    folder: str
    label: str = Field(description="the program, or the file analyzed")
    made: str | None = Field(description="ISO 8601, from the folder's name")
    bytes: int
    latest: bool


class RunsDocument(Versioned):
    runs: list[KeptRun] = Field(description="oldest first")
