"""`import rocm_perf_lab as rpl`: typed, lazy, and the same numbers as the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rocm_perf_lab as rpl
from rocm_perf_lab.errors import BadInput
from support.cli import rocm_perf
from support.databases import write_database


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("api")
    write_database(found / "a.db", {"gemm<b>": [50_000] * 30, "copy": [10_000] * 30})
    return found


def test_the_interface_says_what_the_command_line_says(folder: Path) -> None:
    run = rpl.analyze(folder / "a.db")
    done = rocm_perf("analyze", "a.db", "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert run.kernels[0].kernel.name == told["kernel"]["name"] == "gemm<b>"
    assert run.profile.runtime_ms == told["runtime_ms"]
    assert "2 kernels" in run.story() and not run.virtual
    kept = rpl.load(root=folder / ".rocpd_profile")
    assert kept.kernels == run.kernels


def test_a_run_shows_itself_in_a_notebook(folder: Path) -> None:
    html = rpl.analyze(folder / "a.db")._repr_html_()
    assert "gemm&lt;b&gt;" in html and "<b>" not in html
    assert 'class="timeline"' in html


def test_kernels_as_a_table(folder: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = rpl.analyze(folder / "a.db").to_pandas()
    assert list(table["kernel"]) == ["gemm<b>", "copy"]
    assert table["total_ms"].sum() == pytest.approx(1.8)


def test_comparing_and_bad_input(folder: Path) -> None:
    assert rpl.compare(folder / "a.db", folder / "a.db").runtime.verdict == "same"
    with pytest.raises(BadInput):
        rpl.analyze(folder / "none.db")


def test_importing_costs_nothing_and_the_function_outlives_its_room() -> None:
    code = (
        "import sys, rocm_perf_lab as rpl; assert 'numpy' not in sys.modules;"
        "from rocm_perf_lab.analyze import runtime; assert callable(rpl.analyze), rpl.analyze;"
        "assert runtime.measure is not None"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
