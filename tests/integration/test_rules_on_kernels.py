"""Every rule on kernels that check their own answers: built, run on the virtual GPU, compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.optimize.rules import RulesProposer
from rocm_perf_lab.optimize.rules.registers import keeps_occupancy, report
from support.catalogue import context
from support.cli import rocm_perf

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_compilers_report_decides_about_registers() -> None:
    asked = context("unroll", EXAMPLES / "softmax.cpp", None, "softmax_thread")
    wide = asked.source.replace("  for (int c = 0", "#pragma unroll 8\n  for (int c = 0")
    before, after = report(asked, asked.source), report(asked, wide)
    assert before is not None and after is not None
    assert after.vgprs > before.vgprs
    assert keeps_occupancy(asked, wide)
    hungry = asked.source.replace(
        "float top = -INFINITY", "volatile float many[2000]; many[row] = 1.0f; float top = many[1]"
    )
    assert not keeps_occupancy(asked, hungry)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "kernel"),
    [
        ("softmax", "softmax_thread"),
        ("softmax", "softmax_wave"),
        ("attention", "weigh"),
        ("attention", "scores"),
        ("attention", "fused"),
        ("gemm", "gemm_naive"),
        ("gemm", "gemm_tiled"),
        ("reduction", "sum_atomic"),
        ("nbody", "step"),
        ("stencil", "laplacian"),
    ],
)
def test_every_rewrite_gives_the_right_answer(example: str, kernel: str, tmp_path: Path) -> None:
    path = EXAMPLES / f"{example}.cpp"
    asked = context("body", path, None, kernel, (256, 1, 1))
    proposals = tuple(RulesProposer().propose(asked))
    assert proposals, "no rule has anything to say"
    for number, proposal in enumerate(proposals):
        source, program = tmp_path / f"{number}.cpp", tmp_path / f"{number}"
        source.write_text(proposal.source, "utf-8")
        built = rocm_perf("hipcc", "-O3", "-I", EXAMPLES, source, "-o", program)
        assert built.returncode == 0, (proposal.title, built.stderr)
        ran = rocm_perf("run", "--device", "virtual", program, timeout=600)
        assert ran.returncode == 0, (proposal.title, ran.stdout)
