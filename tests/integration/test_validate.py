"""`rocm-perf device validate`: what comes out is near what was published, and says so if not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.cli.device import _print_probes
from rocm_perf_lab.errors import MissingTool
from rocm_perf_lab.validate import matrix, probes
from rocm_perf_lab.validate.build import architecture_of, build, output
from rocm_perf_lab.validate.probes import Compared, compare, known, published
from rocm_perf_lab.virtual import native
from rocm_perf_lab.virtual.model_parameters import table
from support.cli import rocm_perf
from support.hip_build import need_virtual_gpu

pytestmark = pytest.mark.compiler


def test_the_model_is_within_the_documented_bounds(tmp_path: Path) -> None:
    need_virtual_gpu()
    times = tmp_path / "times.csv"
    times.write_text("kernel_name,problem_size,min_ms\nfir,1024_taps8,0.0042\nother,1,1\n")
    words = ("device", "validate", "--json", "--times", times)
    done = rocm_perf(*words, cwd=tmp_path, timeout=400)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = [*published()["probes"], *published()["rates"], *matrix.cycles("gfx942")]
    assert [line["name"] for line in found["lines"]] == names
    assert all(line["ok"] and line["source"] for line in found["lines"])
    (row,) = found["times"]
    assert (row["program"], found["times_error"]["all"]["rows"]) == ("fir", 1)
    assert found["times_left_out"] == ["other"]


def test_the_table_fits_a_terminal_and_names_every_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [
        Compared("a", "v_mfma_f32_16x16x16bf16_1k", "cycles", (32,), 31.999, 0.05, "a table"),
        Compared("b", "L2 read, 8 MiB", "GB/s", (14310, 15030), 15007.4, 0.05, "a benchmark"),
        Compared("c", "HBM read", "GB/s", (1165,), 2000, 0.05, "a benchmark"),
    ]
    _print_probes("virtual:x", lines)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("a table") == shown.count("a benchmark") == 1
    assert "-0.0 %" not in shown and shown.count("FAR OFF") == 1


def test_an_error_beyond_the_bound_is_exit_code_1_and_named(tmp_path: Path) -> None:
    need_virtual_gpu()
    times = tmp_path / "times.csv"
    times.write_text("kernel_name,problem_size,min_ms\nvectoradd,1024,1.0\n")
    done = rocm_perf("device", "validate", "--quick", "--times", times, cwd=tmp_path)
    assert done.returncode == 1
    assert "median error of the kernel times" in done.stderr
    assert "vectoradd 1024" in done.stdout and "v_mfma_f32_32x32x8_f16" in done.stdout


def test_bad_input_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("a,b\n1,2\n")
    done = rocm_perf("device", "validate", "--times", "times.csv", cwd=tmp_path)
    assert done.returncode == 3 and "kernel_name" in done.stderr
    (tmp_path / "zero.csv").write_text("kernel_name,problem_size,min_ms\nrelu,1024,0\n")
    done = rocm_perf("device", "validate", "--times", "zero.csv", cwd=tmp_path)
    assert done.returncode == 3 and "no possible size or time" in done.stderr
    done = rocm_perf("device", "validate", "--device", "virtual:mi300x,virtual:mi210", cwd=tmp_path)
    assert done.returncode == 2 and "not one virtual device" in done.stderr


def test_a_device_of_which_nothing_is_published_is_said_to_be_unvalidated(tmp_path: Path) -> None:
    done = rocm_perf("device", "validate", "--device", "virtual:mi325x", cwd=tmp_path)
    assert done.returncode == 0 and "no published numbers" in done.stdout
    done = rocm_perf("device", "validate", "--device", "virtual:mi325x", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["ok"] is None


@pytest.mark.parametrize("device", ["virtual:mi210", "virtual:mi250x"])
def test_gfx90a_is_within_the_documented_bounds(device: str, tmp_path: Path) -> None:
    need_virtual_gpu()
    words = ("device", "validate", "--quick", "--device", device, "--json")
    done = rocm_perf(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["lines"]
    instructions = {*matrix.cycles("gfx90a")}
    assert {line["name"] for line in lines} <= {*probes.published_of(device)} | instructions
    assert instructions <= {line["name"] for line in lines}
    assert len(lines) >= 4 and all(line["ok"] for line in lines)


@pytest.mark.parametrize("device", ["virtual:mi300x", "virtual:mi210"])
def test_vector_instructions_run_beside_a_matrix_instruction_where_amds_table_lets_them(
    device: str, tmp_path: Path
) -> None:
    need_virtual_gpu()
    beside, architecture = 4, architecture_of(device)
    (tmp_path / "matrix.hip").write_text(matrix.source(architecture, beside))
    program = build("matrix", tmp_path, device, tmp_path / "matrix.hip")
    environment = native.environment(device, os.environ) | {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    found = dict(map(str.split, output([program], environment).splitlines()))
    alone = table()["matrix_alone"][architecture]
    for name, cycles in matrix.cycles(architecture).items():
        least = max(cycles, alone.get(name, 4) + 4 * beside)
        # Two waves that issue in order do not fill both units without a gap.
        assert 0.99 * least <= float(found[name]) <= 1.15 * least, name


def test_without_a_compiler_it_is_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = subprocess.CompletedProcess([], 4, "", "no clang")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: missing)
    with pytest.raises(MissingTool, match="no compiler") as raised:
        build("probes", Path())
    assert raised.value.exit_code == 4


def test_an_error_is_that_of_the_nearest_measured_value() -> None:
    def error(modelled: float, *measured: float) -> float:
        return Compared("x", "x", "1", measured, modelled, 0.05, "").error

    assert error(110, 100) == pytest.approx(0.1)
    assert error(90, 100, 120) == pytest.approx(-0.1)
    assert error(132, 100, 120) == pytest.approx(0.1)
    assert error(110, 100, 120) == 0
    assert not Compared("x", "x", "1", (100,), 106, 0.05, "").ok


def test_only_what_is_published_of_a_device_is_compared() -> None:
    text = "".join(f"{name} 1\n" for name in published()["probes"])
    assert len(compare(text, "virtual:mi300x")) == len(published()["probes"])
    accelerated = {line.name: line for line in compare(text, "virtual:mi300a")}
    assert "infinity_cache_read" not in accelerated
    assert "MI300A" in accelerated["hbm"].source
    assert known("virtual") == "virtual:mi300x"


def test_the_device_is_the_one_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROCM_PERF_DEVICE", raising=False)
    assert known("auto") == "virtual:mi300x"
    monkeypatch.setenv("ROCM_PERF_DEVICE", "virtual:mi300a")
    assert known("auto") == "virtual:mi300a"
    assert known("virtual:mi300x") == "virtual:mi300x"


def test_every_published_number_says_where_it_comes_from() -> None:
    sources = published()["sources"]
    for device in (*probes.ALIKE, *published()["devices"]):
        for name, entry in probes.published_of(device).items():
            assert entry["source"] in sources and entry["measured"] and entry["bound_percent"], name
            assert entry["words"] and entry["unit"] is not None, name
            assert set(entry.get("devices", probes.ALIKE)) <= set(probes.ALIKE), name
