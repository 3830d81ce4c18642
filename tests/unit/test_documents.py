"""From findings to documents: one way, by names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from pydantic import ValidationError

from rocm_perf_lab.schema.common import Model, to_json
from rocm_perf_lab.workflow.provenance import without_secrets


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


def test_a_number_that_is_none_does_not_become_a_file() -> None:
    class Known(Model):
        share: float

    with pytest.raises(ValueError, match="finite number"):
        to_json(Known(share=float("nan")))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--api-key", "sk-1", "-n", "5"], ["--api-key", "***", "-n", "5"]),
        (["--token=abc"], ["--token=***"]),
        (["HF_TOKEN=abc=d"], ["HF_TOKEN=***"]),
        (["--env=API_KEY=abc"], ["--env=API_KEY=***"]),
        (["-c", "PASSWORD=abc ./app"], ["-c", "PASSWORD=***"]),
        (["tokens.txt", "--tokenizer", "bpe"], ["tokens.txt", "--tokenizer", "***"]),
        (["--size=64", "key", "a=b"], ["--size=64", "key", "a=b"]),
    ],
)
def test_a_command_line_is_kept_without_what_looks_like_a_secret(
    given: list[str], kept: list[str]
) -> None:
    assert without_secrets(["rocm-perf", *given]) == ["rocm-perf", *kept]
