"""From findings to documents: one way, by names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from pydantic import ValidationError

from rocm_perf_lab.schema.common import Model, to_json


@dataclass(frozen=True)
class FoundPart:
    name: str
    ns: int


@dataclass(frozen=True)
class Found:
    label: str
    parts: tuple[FoundPart, ...]
    internal: object = None


class Part(Model):
    name: str


class Whole(Model):
    bottleneck: str
    parts: list[Part]
    notes: tuple[str, ...] = ()
    share: float | None


FOUND = Found("slow", (FoundPart("a", 1), FoundPart("b", 2)))


def test_fields_are_the_findings_attributes_and_what_is_said_otherwise() -> None:
    whole = Whole.of(FOUND, bottleneck=FOUND.label, share=None)
    assert whole == Whole(bottleneck="slow", parts=[Part(name="a"), Part(name="b")], share=None)


def test_a_part_of_a_finding_may_be_the_fields_type_itself() -> None:
    class Shown(Model):
        parts: list[FoundPart]

    shown = Shown.of(Found("slow", (FoundPart("a", cast(int, np.int64(7))),)))
    assert json.loads(to_json(shown)) == {"parts": [{"name": "a", "ns": 7}]}
    assert Shown.model_validate_json(to_json(shown)) == shown
    with pytest.raises(ValidationError, match="ns"):
        Shown.of(Found("slow", (FoundPart("a", cast(int, "many")),)))
    with pytest.raises(ValidationError, match="more"):
        Shown.model_validate({"parts": [{"name": "a", "ns": 7, "more": 1}]})


def test_a_field_the_finding_does_not_have_is_an_error_not_a_null() -> None:
    with pytest.raises(ValidationError, match="share"):
        Whole.of(FOUND, bottleneck="slow")


def test_of_what_is_unknown_every_field_without_a_default_is_null() -> None:
    class Known(Model):
        share: float | None
        reason: str

    assert Known.unknown(reason="not counted") == Known(share=None, reason="not counted")
    with pytest.raises(ValidationError, match="reason"):
        Known.unknown()
