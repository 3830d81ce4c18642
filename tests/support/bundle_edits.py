"""A genuine bundle, taken apart, lied in, and sealed again so that every hash fits."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.optimize.ledger import Ledger, parse
from rocm_perf_lab.optimize.patch import make_patch
from rocm_perf_lab.statistics import median

LEDGER = "ledger.jsonl"
KERNEL, LOADED = "capture-1/kernel.hsaco", "capture-1/code_objects/0.hsaco"
BEFORE, AFTER = "claims/1/before.hsaco", "claims/1/after.hsaco"
MANIFEST = "capture-1/manifest.json"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Parts:
    files: dict[str, bytes]
    entries: list[tuple[str, dict[str, Any]]]
    # What is done to the sealed ledger, and to the archive while it is written.
    ledger: Callable[[bytes], bytes] = lambda text: text
    archive: Callable[[zipfile.ZipFile], None] = lambda _: None
    after: Callable[[bytes], bytes] = lambda data: data
    compression: dict[str, int] = field(default_factory=dict)

    @property
    def start(self) -> dict[str, Any]:
        return self.entries[0][1]

    @property
    def end(self) -> dict[str, Any]:
        return self.entries[-1][1]

    @property
    def claim(self) -> dict[str, Any]:
        return self.end["claims"][0]

    @property
    def accepted(self) -> dict[str, Any]:
        return next(d for k, d in self.entries if k == "attempt" and d["decision"] == "accepted")

    @property
    def refused(self) -> dict[str, Any]:
        return next(d for k, d in self.entries if k == "attempt" and d["decision"] == "refused")

    def put(self, text: str) -> str:
        """A source more; its name."""
        name = sha(text.encode())
        self.files[f"sources/{name}"] = text.encode()
        return name

    def source(self, name: str) -> str:
        return self.files[f"sources/{name}"].decode()


def take_apart(bundle: Path) -> Parts:
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    entries = [(e.kind, copy.deepcopy(dict(e.data))) for e in parse(files.pop(LEDGER), "l").entries]
    return Parts(files, entries)


def seal(parts: Parts, target: Path) -> Path:
    """Every hash made anew: of code, of the capture, of the ledger's entries."""
    if MANIFEST in parts.files:
        manifest = json.loads(parts.files[MANIFEST])
        for name, known in manifest["files"].items():
            data = parts.files.get(f"capture-1/{name}")
            if data is not None:
                known.update(bytes=len(data), sha256=sha(data))
        parts.files[MANIFEST] = json.dumps(manifest).encode()
    for claim in parts.end.get("claims", []) if parts.entries[-1][0] == "end" else []:
        for key, name in (("before", BEFORE), ("after", AFTER), ("capture", MANIFEST)):
            if name in parts.files:
                claim[key] = sha(parts.files[name])
    path = target.with_suffix(".jsonl")
    path.unlink(missing_ok=True)
    with Ledger(path) as ledger:
        for kind, entry in parts.entries:
            ledger.append(kind, entry)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**parts.files, LEDGER: parts.ledger(path.read_bytes())}.items():
            archive.writestr(name, data, parts.compression.get(name, zipfile.ZIP_DEFLATED))
        parts.archive(archive)
    target.write_bytes(parts.after(target.read_bytes()))
    return target


# ---- lies, each a function that changes the parts


def claims_100x(parts: Parts) -> None:
    parts.claim["speedup"] = parts.end["speedup"] = 100.0


def claims_more(factor: float) -> Callable[[Parts], None]:
    """A larger number, and the times for it."""

    def lie(parts: Parts) -> None:
        times = parts.claim["samples_ns"]
        times["b"] = [time / factor for time in times["b"]]
        parts.claim["speedup"] = parts.end["speedup"] = median(times["a"]) / median(times["b"])
        parts.claim["floor_ns"] = 0.0

    return lie


def number_in_ledger(text: bytes) -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        parts.ledger = lambda ledger: re.sub(rb'"speedup":[0-9.]+', b'"speedup":' + text, ledger)

    return lie


def other_result(parts: Parts) -> None:
    """Another text in the place of the accepted one, and a diff that leads to it."""
    before = parts.source(parts.claim["source"])
    text = before.replace("#pragma unroll 4", "#pragma unroll 2")
    assert text != before
    name = parts.put(text)
    old = parts.accepted["source"]
    parts.accepted["source"] = parts.claim["source"] = name
    parts.end["sources"][parts.claim["file"]]["after"] = name
    parts.accepted["diff"] = make_patch(Path("x"), parts.source(parts.accepted["base"]), text)
    del parts.files[f"sources/{old}"]


def other_original(parts: Parts) -> None:
    """A text that compiles to slower code in the place of the original."""
    file, old = parts.claim["file"], parts.accepted["base"]
    text = parts.source(old).replace("float sum = 0.0f;", "volatile float sum = 0.0f;")
    assert text != parts.source(old)
    name = parts.put(text)
    parts.start["files"][file] = parts.start["sources"][file] = name
    parts.accepted["base"] = parts.refused["base"] = name
    parts.end["sources"][file]["before"] = name
    parts.accepted["diff"] = make_patch(Path("x"), text, parts.source(parts.claim["source"]))
    del parts.files[f"sources/{old}"]


def slowed_original(*names: str) -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        for name in names:
            parts.files[name] = parts.files[AFTER]

    return lie


def with_file(name: str, data: bytes = b"more") -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        parts.files[name] = data

    return lie


def without(part_of_name: str) -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        del parts.files[next(name for name in parts.files if part_of_name in name)]

    return lie


def in_claim(**fields: Any) -> Callable[[Parts], None]:
    return lambda parts: parts.claim.update(fields)


def in_accepted(**fields: Any) -> Callable[[Parts], None]:
    return lambda parts: parts.accepted.update(fields)


def without_last(count: int) -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        del parts.entries[-count:]

    return lie


def outside(parts: Parts) -> None:
    """Another file of the run by a path that leads out of where it is unpacked."""
    name = parts.start["files"][parts.claim["file"]]
    parts.start["files"]["/../../../../../../tmp/evil.h"] = name


def link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("sources/" + "0" * 64)
    info.external_attr = 0o120777 << 16
    archive.writestr(info, "/etc/passwd")


def archive_edit(**how: Any) -> Callable[[Parts], None]:
    def lie(parts: Parts) -> None:
        for name, value in how.items():
            setattr(parts, name, value)

    return lie


def hidden_member(data: bytes) -> bytes:
    """Bytes between the last member and the list of members, which is moved to fit."""
    at = data.index(b"PK\x01\x02")
    end = data.rindex(b"PK\x05\x06")
    place = int.from_bytes(data[end + 16 : end + 20], "little") + 8
    moved = data[end : end + 16] + place.to_bytes(4, "little") + data[end + 20 :]
    return data[:at] + b"UNLISTED" + data[at:end] + moved


Lie = Callable[[Parts], None]
# What is done, the exit code, and words of the sentence. None of these needs a compiler or a GPU.
LIES: dict[str, tuple[Lie, int, str]] = {
    "claims 100x": (claims_100x, 3, "says 100.000x, and its times say 1.3"),
    "the end alone says 100x": (lambda p: p.end.update(speedup=100.0), 3, "and no claim does"),
    "NaN": (number_in_ledger(b"NaN"), 3, "is not JSON"),
    "Infinity": (number_in_ledger(b"Infinity"), 3, "is not JSON"),
    "1e999": (number_in_ledger(b"1e999"), 3, "a number without end"),
    "another number, not sealed": (number_in_ledger(b"9.5"), 3, "its hash does not fit"),
    "negative times": (
        lambda p: p.claim["samples_ns"].update(b=[-1.0] * 4), 3, "makes no sense",
    ),
    "no times": (lambda p: p.claim["samples_ns"].update(a=[], b=[]), 3, "makes no sense"),
    "an attempt says 50x": (in_accepted(speedup=50.0), 3, "attempt 2 says 50.000x"),
    "no end": (without_last(1), 3, "the ledger does not end"),
    "only the start": (without_last(3), 3, "the ledger does not end"),
    "an empty ledger": (archive_edit(ledger=lambda _: b""), 3, "the ledger does not end"),
    "the last line is cut": (archive_edit(ledger=lambda t: t[:-9]), 3, "was cut off"),
    "a second end": (
        lambda p: p.entries.insert(1, ("end", p.end)), 3, "is not of one run",
    ),
    "the accepted attempt is gone": (
        lambda p: p.entries.remove(("attempt", p.accepted)), 3, "do not lead from the original",
    ),
    "accepted turned to refused": (
        in_accepted(decision="refused"), 3, "attempt 2 is refused, and it ended at accepted",
    ),
    "refused turned to accepted": (
        lambda p: p.refused.update(decision="accepted", stage="accepted"), 3,
        "attempt 1 was accepted and never measured",
    ),
    "another diff": (
        lambda p: p.accepted.update(diff=p.accepted["diff"].replace("unroll 4", "unroll 8")), 3,
        "its diff does not lead to its source",
    ),
    "a source changed": (
        lambda p: p.files.update({f"sources/{p.claim['source']}": b"other"}), 3, "was changed",
    ),
    "a source missing": (
        lambda p: without(p.claim["source"])(p), 3, "is missing",
    ),
    "the original as the result": (
        lambda p: p.claim.update(source=p.accepted["base"]), 3, "no attempt on it was accepted",
    ),
    "a claim of another kernel": (
        in_claim(symbol="other"), 3, "no attempt on it was accepted",
    ),
    "a claim of another file": (in_claim(file="/other.cpp"), 3, "is no source of the run"),
    "a lower bar": (in_claim(min_speedup=1.0), 3, "another bar than the run"),
    "claims taken away": (lambda p: p.end.update(claims=[]), 3, "contradicts itself"),
    "a claim of no fields": (lambda p: p.end.update(claims=[{}]), 3, "makes no sense"),
    "two claims, one number": (
        lambda p: p.end.update(claims=[p.claim, p.claim]), 3, "under one number",
    ),
    "before is other code": (slowed_original(BEFORE), 3, "not the code that was captured"),
    "before and kernel.hsaco are": (
        slowed_original(BEFORE, KERNEL), 3, "not the code that was captured",
    ),
    "the capture's loaded code is": (
        slowed_original(LOADED), 3, "not the code that was captured",
    ),
    "a capture without its memory": (
        without("/memory/"), 3, "memory",
    ),
    "an unnamed source": (with_file("sources/" + "a" * 64), 3, "which nothing in it names"),
    "an unnamed claim": (with_file("claims/2/after.hsaco"), 3, "which nothing in it names"),
    "an unnamed file of a capture": (
        with_file("capture-1/more.bin"), 3, "which nothing in it names",
    ),
    "a name that leads out": (with_file("../evil"), 3, "which no bundle does"),
    "a folder": (with_file("sources/"), 3, "which no bundle does"),
    "a file that leads out": (outside, 3, "which is no path"),
    "a link": (archive_edit(archive=link), 3, "is not a plain file"),
    "an exotic packing": (
        archive_edit(compression={KERNEL: zipfile.ZIP_LZMA}), 3, "in a way no bundle is",
    ),
    "a bomb": (with_file("capture-1/zeros.bin", bytes(100 << 20)), 3, "times its size"),
    "a source too large": (
        with_file("sources/" + "b" * 64, bytes(17 << 20)), 3, "would be 17825792 bytes",
    ),
    "a hidden member": (archive_edit(after=hidden_member), 3, "that its list does not name"),
    "a comment": (
        archive_edit(archive=lambda a: setattr(a, "comment", b"hello")), 3, "does not name",
    ),
}  # fmt: skip

# These are compiled, or run: what they say only a machine can refute.
LIES_TO_RUN: dict[str, tuple[Lie, int, str]] = {
    "another result": (
        other_result, 1, "the accepted source does not compile to the code that is with it",
    ),
    "another original": (
        other_original, 1, "the original source does not compile to the code that is with it",
    ),
    "a slowed original everywhere": (
        slowed_original(BEFORE, KERNEL, LOADED), 1, "the original source does not compile",
    ),
    "the original as after.hsaco": (
        lambda p: p.files.update({AFTER: p.files[BEFORE]}), 1,
        "the accepted source does not compile",
    ),
    "100x with the times for it": (
        claims_more(100 / 1.3), 1, "x is claimed, and no more than 1.36",
    ),
    "a tenth more with the times for it": (
        claims_more(1.1), 1, "x is claimed, and no more than 1.36",
    ),
    "a build that is no compiler": (
        lambda p: p.start.update(build=["cp", "{source}", "{output}"]), 4,
        "it was built by 'cp': verify runs compilers only",
    ),
    "another version": (lambda p: p.start.update(tool="9.9"), 4, "version 9.9 built it"),
}  # fmt: skip
