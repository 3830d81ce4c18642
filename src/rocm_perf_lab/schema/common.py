"""What every JSON file has in common: the schema version and where its content came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict
from typing_extensions import Self

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


class Model(BaseModel):
    # A part of a finding may be a field's type itself: validated again, its numbers become plain
    # ones of the kind the field says.
    # JSON knows neither infinity nor NaN, and what is not known is null.
    model_config = ConfigDict(
        extra="forbid", frozen=True, revalidate_instances="always", allow_inf_nan=False
    )

    @classmethod
    def of(cls, finding: object, **otherwise: object) -> Self:
        """The one way from a finding to what a file says of it.

        Fields are the finding's attributes of the same name, parts of it likewise; `otherwise`
        holds those that the file names or says otherwise.
        """
        return cls.model_validate(_Seen(finding, otherwise), from_attributes=True)

    @classmethod
    def unknown(cls, **known: object) -> Self:
        """Nothing is known but this: what has no default is null."""
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        return cls.model_validate({**dict.fromkeys(required), **known})


class _Seen:
    def __init__(self, finding: object, otherwise: Mapping[str, object]) -> None:
        self._finding, self._otherwise = finding, otherwise

    def __getattr__(self, name: str) -> object:
        if name in self._otherwise:
            return self._otherwise[name]
        return getattr(self._finding, name)


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


class Versioned(Model):
    """A file or an answer of its own, not a part of one."""

    schema_version: Literal["1.0"] = "1.0"  # additive changes only


class Document(Versioned):
    provenance: Provenance


def to_json(document: BaseModel) -> str:
    """The one way JSON leaves the program: stable order, ASCII, no NaN."""
    text = document.model_dump_json(indent=2)
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"
