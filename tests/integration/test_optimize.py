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

from rocm_perf_lab.cli.ledger import EXIT_CODES
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize.verify import load, verify_claims
from support import bundle_edits
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


def test_a_bundle_is_confirmed(finished: tuple[Path, dict[str, Any]]) -> None:
    place, _ = finished
    said = ledger("verify", str(place / "proof")).stdout
    assert re.search(r"(?m)^confirmed on .* \(modelled, not measured", said)


def judged(bundle: Path) -> tuple[int, str]:
    """The exit code of `ledger verify`, and what it says."""
    try:
        with load(bundle) as found:
            result = verify_claims(found, "virtual", lambda _: None)
    except PerfLabError as error:
        return error.exit_code, error.message
    return EXIT_CODES[result.verdict], "\n".join(result.lines())


@pytest.mark.parametrize("lie", bundle_edits.LIES)
def test_a_bundle_that_contradicts_itself_is_refused(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path, lie: str
) -> None:
    tell_it, code, said = bundle_edits.LIES[lie]
    parts = bundle_edits.take_apart(finished[0] / "proof")
    tell_it(parts)
    found = judged(bundle_edits.seal(parts, tmp_path / "edited"))
    assert found[0] == code and said in found[1], found


@pytest.mark.parametrize(
    "lie",
    [
        name if name == "another result" else pytest.param(name, marks=pytest.mark.slow)
        for name in bundle_edits.LIES_TO_RUN
    ],
)
def test_a_bundle_that_agrees_with_itself_is_held_to_what_the_machine_finds(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path, lie: str
) -> None:
    tell_it, code, said = bundle_edits.LIES_TO_RUN[lie]
    parts = bundle_edits.take_apart(finished[0] / "proof")
    tell_it(parts)
    found = judged(bundle_edits.seal(parts, tmp_path / "edited"))
    assert found[0] == code and said in found[1], found


@pytest.mark.slow
def test_without_the_compiler_nothing_is_confirmed(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    place, _ = finished
    done = rocm_perf(
        "ledger", "verify", str(place / "proof"), env={"ROCM_PERF_TOOLCHAIN": "/nowhere"},
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 4, done.stdout + done.stderr
    assert "cannot be checked here: it does not build here" in done.stdout
    assert re.search("(?m)^unchecked on ", done.stdout)


def test_a_ledger_alone_proves_nothing(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    shutil.copy(str(finished[1]["ledger"]), tmp_path / "ledger.jsonl")
    assert "a ledger alone" in ledger("verify", str(tmp_path / "ledger.jsonl"), code=4).stdout


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


def test_killed_between_the_end_and_the_apply_the_run_goes_on_to_the_apply(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    place, document = finished
    run, source = Path(str(document["ledger"])).parent, place / "scale.cpp"
    assert not (run / "outcome.json").exists() and not (run / "work").exists()
    dead = subprocess.Popen(["true"])
    dead.wait()
    for left in (place / f".scale.cpp.{dead.pid}-abc", place / f".scale.cpp.{dead.pid}-def"):
        left.write_text("half of")
    try:
        for _ in ("before it was applied", "just after"):
            # As it stands when the search has ended, and nothing was handed over yet.
            (run / "outcome.json").write_text(json.dumps({**document, "ledger_head": ""}))
            done = optimize(place, "--apply", "--json")
            assert "building" not in done.stderr
            found = json.loads(done.stdout)
            assert found["resumed"] and found["ledger_head"] == document["ledger_head"]
            assert "#pragma unroll 4" in source.read_text()
            assert not (run / "outcome.json").exists()
        assert len(list(run.parent.iterdir())) == 1
        assert not list(place.glob(".scale.cpp.*"))
    finally:
        source.write_text(SOURCE)


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
    optimize(place, "--build", "none {source} {output}", code=3)
    assert not [p.name for p in place.iterdir() if p.name.startswith(".scale.cpp.")]
    assert not list((place / "runs").glob("*/work/*"))


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
