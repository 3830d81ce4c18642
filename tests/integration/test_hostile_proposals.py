"""Every wrong proposal of the catalogue that compiles, through the real stages: none is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from rocm_perf_lab.arch.load import gpu
from rocm_perf_lab.optimize import result_check, trial
from rocm_perf_lab.optimize.attempt import Attempt, Best, Outcome
from rocm_perf_lab.optimize.build import Builder, Built, default_recipe
from rocm_perf_lab.optimize.family import make_family
from rocm_perf_lab.optimize.measure import Bar
from rocm_perf_lab.optimize.proposal import Context, Proposal
from rocm_perf_lab.optimize.sandbox import Limits, Sandbox, available
from rocm_perf_lab.optimize.target import Target, open_confined
from rocm_perf_lab.replay.capture import CaptureOptions, capture_program
from rocm_perf_lab.replay.format import open_capture
from rocm_perf_lab.replay.launches import launch_of, record_launches
from support.catalogue import TARGET, Entry, context, entries
from support.hip_build import need_virtual_gpu

# What the catalogue calls results is caught there, or by a guard before it.
STAGES = {
    "results": {"result_check"},
    "gate": {"gate", "code_guard", "static_guard"},
    "any": {
        "static_guard",
        "promise_guard",
        "compile",
        "code_guard",
        "resource_guard",
        "result_check",
        "gate",
    },
}


class Silent:
    name = "test"

    def propose(self, context: Context) -> list[Proposal]:
        return []

    def repair(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Bench:
    builder: Builder
    original: Built
    target: Target
    folder: Path


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("hostile")
    work = folder / "work"
    work.mkdir()
    box = Sandbox(available(), work, (TARGET.parent,), Limits(wall_s=300))
    builder = Builder(default_recipe("gfx942"), box, (TARGET,), "gfx942")
    original = builder.build(TARGET, TARGET.read_text("utf-8"), work / "original")
    capture = folder / "capture"
    capture_program(
        CaptureOptions(str(original.program), (), r"^target\(", out=capture, device="virtual")
    )
    seeing = Sandbox(box.kind, work, (capture,), box.limits)
    with open_capture(capture) as opened:
        main = launch_of(opened)
    symbol, options = main.symbol, CaptureOptions(str(original.program), (), "", device="virtual")
    family = make_family(
        original, capture, main, record_launches(options), options, folder / "launches",
        lambda path: lambda seed: open_confined(path, "virtual", seeing, seed), lambda _: None,
    )  # fmt: skip
    target = Target(
        number=1, name="target", symbol=symbol, capture=capture, device="virtual", box=seeing,
        threads=64, dynamic_lds_bytes=0, gpu=gpu("gfx942"), floor_ns=0.0, score=1.0, share=1.0,
        family=family,
        plan=result_check.prepare(lambda seed: open_confined(capture, "virtual", seeing, seed)),
    )  # fmt: skip
    return Bench(builder, original, target, folder)


def tried(bench: Bench, entry: Entry) -> Outcome:
    source = TARGET.read_text("utf-8")
    proposal = Proposal(entry.source, entry.name, "", entry.policy, "test")
    return Attempt(
        proposal, context(policy=entry.policy), Silent(), bench.target, bench.original,
        Best(source, bench.original), bench.builder, bench.builder.box.work / "candidate",
        Bar(1.02, 0.95), lambda *_: None,
    ).run()  # fmt: skip


def refused_where_it_should_be(bench: Bench, entry: Entry) -> None:
    outcome = tried(bench, entry)
    assert not outcome.accepted
    assert outcome.stage in STAGES[entry.stage], f"{outcome.stage}: {outcome.reason}"


WRONG = entries("results.toml")


@pytest.mark.slow
@pytest.mark.parametrize("entry", WRONG, ids=lambda e: e.name)
def test_every_wrong_proposal_is_refused(
    bench: Bench, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "LEAST_LIMIT_S", 5.0)
    refused_where_it_should_be(bench, entry)


@pytest.mark.slow
def test_an_honest_change_passes_every_stage_but_the_bar(bench: Bench) -> None:
    """So that a refusal above is the proposal's fault and not the bench's."""
    text = TARGET.read_text("utf-8").replace(
        "  for (int c = 0; c < columns; ++c) {\n    sum", "#pragma unroll 4\n  for (int c = 0; "
        "c < columns; ++c) {\n    sum",
    )  # fmt: skip
    outcome = tried(bench, Entry("unroll by 4", text, "unroll", "any", None))
    assert outcome.stage in ("gate", "accepted"), outcome.reason
    assert outcome.checked is not None
    assert outcome.checked.exact
