"""`rocm-perf optimize` as a user runs it: what is proved is kept, and nothing is lost."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.optimize.claims import keep_images
from rocm_perf_lab.optimize.ledger import Ledger, read
from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu
from support.optimize_driver import WRONG

SOURCE = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#include "factor.h"

__global__ void scale(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];
  for (int c = 0; c < columns; ++c) out[row * columns + c] = in[row * columns + c] / sum * FACTOR;
}

int main(int argc, char**) {
  const int rows = 64, columns = 96;
  std::vector<float> x(rows * columns, 0.5f), y(rows * columns);
  float *in, *out;
  if (hipMalloc(&in, x.size() * 4) || hipMalloc(&out, x.size() * 4)) return 2;
  (void)hipMemcpy(in, x.data(), x.size() * 4, hipMemcpyHostToDevice);
  scale<<<1, 64>>>(in, out, rows, columns);
  (void)hipMemcpy(y.data(), out, x.size() * 4, hipMemcpyDeviceToHost);
  for (float v : y) if (v < 0.0208f || v > 0.0209f) return 1;
  return argc > 1;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("optimize")
    (folder / "scale.cpp").write_text(SOURCE)
    (folder / "factor.h").write_text("#define FACTOR 2.0f\n")
    hipcc("-O3", "-g", folder / "scale.cpp", "-o", folder / "scale")
    return folder


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Path:
    """A tree of the test's own. The debug information names the first, so the source is given."""
    folder = tmp_path / "tree"
    shutil.copytree(built, folder)
    return folder


def command(place: Path, *words: str) -> list[str]:
    return [
        sys.executable, "-m", "support.optimize_driver", "optimize", str(place / "scale"),
        "--source", str(place / "scale.cpp"), "--device", "virtual", "--proposer", "unrolls",
        "--out", str(place / "runs"), *words,
    ]  # fmt: skip


def optimize(place: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(place, *words),
        cwd=REPOSITORY / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return done


def ledger(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = rocm_perf("ledger", *words, timeout=600)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def finished(built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """One whole run, looked at by several tests."""
    folder = tmp_path_factory.mktemp("finished") / "tree"
    shutil.copytree(built, folder)
    done = optimize(folder, "--json", "--bundle", str(folder / "proof"))
    return folder, json.loads(done.stdout)


def test_a_wrong_proposal_is_refused_and_a_right_one_accepted(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    place, document = finished
    first, second, *_ = document["iterations"]
    # Under the policy `unroll` another bound is not even compiled.
    assert (first["proposal"], first["stage"]) == (WRONG, "static_guard")
    assert (second["proposal"], second["stage"]) == ("unroll by 4", "accepted")
    assert second["exact"] is True
    assert len(second["input_sets"]) >= 4
    assert document["accepted"] is True
    assert document["speedup"] > 1.02
    assert document["device"]["kind"] == "virtual"
    assert document["timing"] == "modelled"
    assert document["final_ms"] < document["baseline_ms"]
    assert (place / "scale.cpp").read_text() == SOURCE


def test_what_the_policy_withheld_is_in_the_document_and_on_the_page(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    _, document = finished
    assert document["policy"] == "unroll" and document["further"]["policy"] == "body"
    titles = [p["proposal"] for p in document["further"]["proposals"]]
    assert any("__restrict__" in title for title in titles)
    page = (Path(str(document["ledger"])).parent / "report.html").read_text("utf-8")
    assert f"it has {len(titles)} more proposals for scale" in page
    assert "Not the default" in page


def test_the_patch_is_one_that_git_takes(finished: tuple[Path, dict[str, Any]]) -> None:
    place, document = finished
    tree = place.parent / "git"
    tree.mkdir()
    shutil.copy(place / "scale.cpp", tree)
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    patch = str(document["patch"])
    name = next(line[6:] for line in patch.splitlines() if line.startswith("+++ b/"))
    strip = str(1 + name.count("/"))
    subprocess.run(
        ["git", "apply", f"-p{strip}", "-"], cwd=tree, input=patch, text=True, check=True
    )
    assert "#pragma unroll 4" in (tree / "scale.cpp").read_text()


def test_the_ledger_tells_what_was_tried_and_holds(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    _, document = finished
    path = Path(str(document["ledger"]))
    shown = ledger("show", str(path)).stdout
    assert WRONG in shown
    assert "ACCEPTED" in shown
    lines = path.read_text().splitlines(keepends=True)
    changed = tmp_path / "ledger.jsonl"
    changed.write_text("".join([*lines[:1], lines[1].replace("refused", "accepted"), *lines[2:]]))
    assert "was changed" in ledger("verify", str(changed), code=3).stderr


def test_a_bundle_is_confirmed_and_one_with_exchanged_code_is_not_read(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    import zipfile

    place, _ = finished
    said = ledger("verify", str(place / "proof")).stdout
    assert re.search(r"(?m)^confirmed on .* \(modelled, not measured", said)
    other = tmp_path / "other"
    with zipfile.ZipFile(place / "proof") as old, zipfile.ZipFile(other, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("after.hsaco"):
                data = data[:-1] + bytes([data[-1] ^ 1])
            new.writestr(entry, data)
    assert "not the one the ledger" in ledger("verify", str(other), code=3).stderr


def forged(run: Path, target: Path, before: bytes, after: bytes) -> Path:
    """The run with other code objects in it, every hash and seal made anew to fit them."""
    shutil.copytree(run, target)
    (target / "ledger.jsonl").unlink()
    hashes = dict(
        zip(("before", "after", "capture"), keep_images(target, 1, before, after), strict=True)
    )
    with Ledger(target / "ledger.jsonl") as new:
        for entry in read(run / "ledger.jsonl").entries:
            claims = [{**claim, **hashes} for claim in entry.data.get("claims", [])]
            new.append(entry.kind, {**entry.data, "claims": claims} if claims else entry.data)
    return target


def test_a_false_claim_with_all_seals_in_order_is_refuted(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    _, document = finished
    run = Path(str(document["ledger"])).parent
    images = run / "claims" / "1"
    old, new = (images / "before.hsaco").read_bytes(), (images / "after.hsaco").read_bytes()
    text = SOURCE.replace("c < columns;", "c < columns / 2;")
    (tmp_path / "factor.h").write_text("#define FACTOR 2.0f\n")
    (tmp_path / "wrong.cpp").write_text(text)
    hipcc("-O3", "--genco", tmp_path / "wrong.cpp", "-o", tmp_path / "wrong.hsaco")
    wrong = read_code_objects(tmp_path / "wrong.hsaco")[0].elf.data

    slower = forged(run, tmp_path / "slower", new, old)
    found = json.loads(ledger("verify", str(slower), "--json", code=1).stdout)
    assert (found["verdict"], found["timing"]) == ("refuted", "modelled")
    assert found["claims"][0]["speedup"] > 1 > found["claims"][0]["speedup_here"]

    differs = forged(run, tmp_path / "differs", old, wrong)
    said = ledger("verify", str(differs), code=1).stdout
    assert "the result differs" in said
    assert re.search("(?m)^refuted on ", said)


def test_a_program_that_fails_is_bad_input(place: Path) -> None:
    done = optimize(place, "--", "fail", code=3)
    assert "exited with code 1" in done.stderr
    assert (place / "scale.cpp").read_text() == SOURCE


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--budget", "soon"], 2, "not a time"),
        (["--build", "hipcc {source}"], 2, "{output}"),
        (["--build", "sh -c 'exit 1' {source} {output}"], 3, "cannot be built"),
        (["--kernel", "("], 2, "regular expression"),
        (["--proposer", "magic"], 2, "no such proposer"),
        (["--source", "nowhere.cpp"], 3, "nowhere.cpp"),
        (["--apply", "--patch", "x"], 2, "choose one"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    place: Path, words: list[str], code: int, said: str
) -> None:
    done = optimize(place, *words, code=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def killed(place: Path, after_s: float) -> bool:
    """Start, kill the whole of it after a while; whether it was still running."""
    with subprocess.Popen(
        command(place, "--apply", "--json"),
        cwd=REPOSITORY / "tests", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return True
    return False


def kill_and_go_on(place: Path, kills: int, within_s: float) -> None:
    """The source is always as it was or as accepted; the next run takes up what was done."""
    chance = random.Random(kills)
    accepted = None
    for _ in range(kills):
        running = killed(place, chance.uniform(0, within_s))
        now = (place / "scale.cpp").read_text()
        if now != SOURCE:
            assert now.replace("#pragma unroll 4\n", "") == SOURCE
            accepted = now
        if not running and accepted is not None:
            (place / "scale.cpp").write_text(SOURCE)  # again from the beginning
    if (place / "scale.cpp").read_text() == SOURCE:
        optimize(place, "--apply")
        accepted = (place / "scale.cpp").read_text()
    assert accepted is not None
    for path in (place / "runs").glob("*/ledger.jsonl"):
        ledger("show", str(path))
    left = [p.name for p in place.iterdir() if p.name.startswith(".scale.cpp.")]
    assert len(left) <= 1  # a kill between two instructions of --apply may leave its copy


@pytest.mark.slow
def test_killed_at_any_moment_the_source_is_whole_and_the_run_goes_on(place: Path) -> None:
    kill_and_go_on(place, 2, 8.0)


@pytest.mark.slow
def test_two_hundred_kills_lose_no_source(place: Path) -> None:
    started = time.monotonic()
    optimize(place, "--apply")
    whole = time.monotonic() - started
    (place / "scale.cpp").write_text(SOURCE)
    shutil.rmtree(place / "runs")
    kill_and_go_on(place, 200, whole)
