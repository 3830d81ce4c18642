"""A bundle from anywhere: only what a bundle holds comes out, and only where it should."""

from __future__ import annotations

import hashlib
import json
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import bundle
from rocm_perf_lab.optimize.bundle import is_bundle, unpacked, write_bundle
from rocm_perf_lab.optimize.claims import keep_images, kept_launch, read_images
from rocm_perf_lab.optimize.ledger import Ledger
from rocm_perf_lab.optimize.story import Story
from rocm_perf_lab.optimize.workspace import digest
from rocm_perf_lab.schema.verification import Claim, Samples
from support.captures import write_capture

SOURCE = "int x;\n"


def made(tmp_path: Path) -> tuple[Path, Story, Path]:
    """A run with a capture of the smallest kind; what it says is not looked into here."""
    run = tmp_path / "run"
    write_capture(run / "capture-1")
    write_capture(run / "launches" / "1" / "00")
    before, after, capture = keep_images(run, 1, b"old code", b"new code")
    text = digest(SOURCE)
    claim = Claim(
        number=1, kernel="k()", symbol="k", rule="unroll", speedup=1.3, min_speedup=1.02,
        confidence=0.95, floor_ns=0, timing="modelled", before=before, after=after, capture=capture,
        samples_ns=Samples(a=[13.0], b=[10.0], cold_a=[], cold_b=[]), file="/x.cpp", source=text,
        places=("/a", "/b"), launches=[kept_launch(run / "launches" / "1" / "00")], compared=2,
    )  # fmt: skip
    (run / "sources").mkdir()
    (run / "sources" / text).write_text(SOURCE)
    files = {"/x.cpp": text}
    with Ledger(run / "ledger.jsonl") as ledger:
        ledger.append(
            "start",
            {"sources": files, "order": ["/x.cpp"], "files": files, "build": ["hipcc"],
             "tool": "1", "min_speedup": 1.02, "confidence": 0.95},
        )  # fmt: skip
        ledger.append(
            "end",
            {"accepted": True, "speedup": 1.3, "claims": [claim.model_dump(mode="json")],
             "sources": {"/x.cpp": {"before": text, "after": text}}},
        )  # fmt: skip
        story = Story(ledger.entries)
    target = tmp_path / "proof.zip"
    write_bundle(run, story, target)
    return run, story, target


def test_what_went_in_comes_out(tmp_path: Path) -> None:
    run, story, target = made(tmp_path)
    assert is_bundle(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with unpacked(target) as folder:
        names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        assert names == sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())
        assert read_images(folder, story.end.claims[0]) == (b"old code", b"new code")
    assert not folder.exists()


def test_the_same_run_gives_the_same_file(tmp_path: Path) -> None:
    run, story, target = made(tmp_path)
    again = tmp_path / "again.zip"
    write_bundle(run, story, again)
    assert (
        hashlib.sha256(target.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()
    )


def test_a_code_object_that_was_exchanged_is_found(tmp_path: Path) -> None:
    run, story, _ = made(tmp_path)
    (run / "claims" / "1" / "after.hsaco").write_bytes(b"other code")
    with pytest.raises(BadInput, match="not the one"):
        read_images(run, story.end.claims[0])


def test_the_capture_of_a_further_launch_that_was_exchanged_is_found(tmp_path: Path) -> None:
    run, story, _ = made(tmp_path)
    (run / "launches" / "1" / "00" / "manifest.json").write_bytes(b"{}")
    with pytest.raises(BadInput, match="not the one"):
        read_images(run, story.end.claims[0])


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "sources/../../evil", "capture-1/a/b/c", "capture-1/..", "x.py",
     "claims/1/before.hsaco/x", "capture-1/.hidden", "ledger.jsonl/x", "sources/" + "0" * 63],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    target = tmp_path / "evil.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("ledger.jsonl", "")
        archive.writestr(name, "evil")
    with pytest.raises(BadInput), unpacked(target):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["evil.zip"]


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "bomb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ledger.jsonl", "")
        archive.writestr("capture-1/memory.bin", bytes(5 << 20))
    monkeypatch.setattr(bundle, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadInput, match="would be 5242880 bytes"), unpacked(target):
        pass


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_bundle_is_bad_input_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    _, _, target = made(folder)
    whole = bytearray(target.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    target.write_bytes(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    try:
        with unpacked(target) as out:
            assert (out / "ledger.jsonl").exists()
    except BadInput:
        pass


def test_the_claim_of_a_stranger_is_checked(tmp_path: Path) -> None:
    _, story, _ = made(tmp_path)
    good = json.loads(story.end.claims[0].model_dump_json())
    for field, value in (
        ("speedup", -1), ("min_speedup", 0.5), ("confidence", 2), ("number", 0), ("before", "../x"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Claim.model_validate({**good, field: value})
