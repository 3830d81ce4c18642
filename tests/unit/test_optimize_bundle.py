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
from rocm_perf_lab.optimize.claims import Claim, keep_images, read_images
from rocm_perf_lab.optimize.ledger import Ledger
from rocm_perf_lab.optimize.workspace import digest


def made(tmp_path: Path) -> tuple[Path, Claim, Path]:
    run = tmp_path / "run"
    (run / "capture-1" / "memory").mkdir(parents=True)
    (run / "capture-1" / "manifest.json").write_text("{}")
    (run / "capture-1" / "memory" / "region_1.bin").write_bytes(bytes(5000))
    before, after, capture = keep_images(run, 1, b"old code", b"new code")
    claim = Claim(
        number=1, kernel="k()", symbol="k", rule="unroll", speedup=1.3, min_speedup=1.02,
        confidence=0.95, floor_ns=0, timing="modelled", before=before, after=after, capture=capture,
    )  # fmt: skip
    (run / "sources").mkdir()
    text = digest("source")
    (run / "sources" / text).write_text("source")
    with Ledger(run / "ledger.jsonl") as ledger:
        ledger.append("end", {"claims": [claim.model_dump(mode="json")]})
    target = tmp_path / "proof.zip"
    write_bundle(run, [claim], [text], target)
    return run, claim, target


def test_what_went_in_comes_out(tmp_path: Path) -> None:
    run, claim, target = made(tmp_path)
    assert is_bundle(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with unpacked(target) as folder:
        names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        assert names == sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())
        assert read_images(folder, claim) == (b"old code", b"new code")
    assert not folder.exists()


def test_the_same_run_gives_the_same_file(tmp_path: Path) -> None:
    run, claim, target = made(tmp_path)
    again = tmp_path / "again.zip"
    sources = [p.name for p in (run / "sources").iterdir()]
    write_bundle(run, [claim], sources, again)
    assert (
        hashlib.sha256(target.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()
    )


def test_a_code_object_that_was_exchanged_is_found(tmp_path: Path) -> None:
    run, claim, _ = made(tmp_path)
    (run / "claims" / "1" / "after.hsaco").write_bytes(b"other code")
    with pytest.raises(BadInput, match="not the one"):
        read_images(run, claim)


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


def test_a_link_in_the_archive_becomes_a_plain_file(tmp_path: Path) -> None:
    target = tmp_path / "link.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("ledger.jsonl", "")
        info = zipfile.ZipInfo("sources/" + "0" * 64)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with unpacked(target) as folder:
        found = folder / "sources" / ("0" * 64)
        assert not found.is_symlink()
        assert found.read_text() == "/etc/passwd"


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "bomb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ledger.jsonl", "")
        archive.writestr("capture-1/memory.bin", bytes(50 << 20))
    monkeypatch.setattr(bundle, "MAX_BYTES", 10 << 20)
    with pytest.raises(BadInput, match="would unpack to"), unpacked(target):
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
    _, claim, _ = made(tmp_path)
    good = json.loads(claim.model_dump_json())
    for field, value in (
        ("speedup", -1), ("min_speedup", 0.5), ("confidence", 2), ("number", 0), ("before", "../x"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Claim.model_validate({**good, field: value})
