"""What every JSON file has in common: the schema version and where its content came from."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = "1.0"  # additive changes only


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DeviceInfo(Model):
    kind: Literal["hardware", "virtual", "unknown"]
    name: str | None
    architecture: str | None


class InputFile(Model):
    path: str
    sha256: str


class Provenance(Model):
    tool_version: str
    command: list[str]
    # Null for `analyze`: the same input must give the same bytes.
    started: str | None
    host: str | None
    device: DeviceInfo
    rocm: str | None
    inputs: list[InputFile]


class Document(Model):
    schema_version: Literal["1.0"] = "1.0"
    provenance: Provenance


def to_json(document: BaseModel) -> str:
    """The one way JSON leaves the program: stable order, ASCII, no NaN."""
    return json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False) + "\n"
