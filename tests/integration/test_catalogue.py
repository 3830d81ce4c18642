"""The catalogue of hostile and wrong proposals through the whole command: none is accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.optimize.proposal import Policy
from support.catalogue import HOSTILE, TARGET, entries
from support.cli import rocm_perf
from support.hip_build import REPOSITORY, need_virtual_gpu
from support.mutated_programs import PROGRAMS, chosen, tally
from support.proposal_runs import honest, judged, other_honest
from support.wrong_kernels import STAGES, WrongKernel, wrong_kernels

WRONG = wrong_kernels()
OTHER_HONEST = other_honest()
# What the catalogue calls static is refused before anything is compiled.
EARLY = {"static": {"static_guard"}, "syntax": {"compile"}}
LATE = {
    "static_guard", "promise_guard", "compile", "code_guard", "resource_guard", "result_check",
    "gate", "end_to_end", "output_check",
}  # fmt: skip


def test_the_catalogue_has_at_least_150_proposals_in_classes() -> None:
    edits = entries(*HOSTILE)
    kernels = [kernel for each in WRONG.values() for kernel in each]
    assert len({e.name for e in edits}) == len(edits) >= 150
    assert len({k.offer.title for k in kernels}) == len(kernels) >= 100
    assert len({k.kind for k in kernels}) >= 20


def refused(program: str, kernels: list[WrongKernel], folder: Path) -> None:
    right = honest(program)
    fates = {f.title: f for f in judged(program, [*(k.offer for k in kernels), right], folder)}
    wrong = [
        f"{k.offer.title}: {fate.stage}: {fate.reason}"
        for k in kernels
        if (fate := fates[k.offer.title]).stage not in STAGES[k.stage]
    ]
    assert not wrong, "\n".join(wrong)
    # So that a refusal above is the kernel's fault and not the program's. Reading needs none.
    if all(k.stage == "static" for k in kernels):
        return
    assert fates[right.title].accepted, fates[right.title].reason


def test_a_kernel_that_does_nothing_is_refused_where_its_output_is_there_already(
    tmp_path: Path,
) -> None:
    """One of them all in the quick tests; that the honest one is accepted is among the slow."""
    need_virtual_gpu()
    (fate,) = judged("settled", [WRONG["settled"][0].offer], tmp_path)
    assert fate.stage == "result_check", f"{fate.stage}: {fate.reason}"
    assert fate.reason.startswith("captured, outputs poisoned"), fate.reason


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG)
def test_every_wrong_kernel_is_refused(program: str, tmp_path: Path) -> None:
    need_virtual_gpu()
    refused(program, WRONG[program], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_HONEST)
def test_an_honest_kernel_of_another_kind_is_accepted(name: str, tmp_path: Path) -> None:
    need_virtual_gpu()
    program, offer, wanted = OTHER_HONEST[name]
    (fate,) = judged(program, [offer], tmp_path)
    assert fate.stage == wanted, f"{fate.stage}: {fate.reason}"


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_mutants_of_an_honest_kernel_are_refused(program: str, tmp_path: Path) -> None:
    """A few; benchmarks/mutants.py has all of them."""
    need_virtual_gpu()
    found = tally(program, chosen(program, 6), tmp_path)
    assert found.honest.accepted, found.honest.reason
    assert not found.accepted


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["unroll", "body"])
def test_every_hostile_edit_is_refused(policy: Policy, tmp_path: Path) -> None:
    need_virtual_gpu()
    program = tmp_path / "target"
    assert rocm_perf("hipcc", "-O3", TARGET, "-o", program, timeout=300).returncode == 0
    done = subprocess.run(
        [
            sys.executable, "-m", "support.optimize_driver", "optimize", program, "--source",
            TARGET, "--kernel", "target", "--device", "virtual", "--proposer", "catalogue",
            "--policy", policy, "--max-iterations", "1000", "--budget", "2h",
            "--out", tmp_path / "runs", "--json",
        ],
        cwd=REPOSITORY / "tests", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = {entry.name: entry for entry in entries(*HOSTILE) if entry.policy == policy}
    tried = {i["proposal"]: i for i in json.loads(done.stdout)["iterations"]}
    assert set(tried) == set(wanted)
    wrong = [
        f"{name}: {it['stage']}: {it['reason']}"
        for name, it in tried.items()
        if it["stage"] not in EARLY.get(wanted[name].stage, LATE)
    ]
    assert not wrong, "\n".join(wrong)
