"""Where `profile` runs a program when it is not told."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.collect.rocprofv3 import is_wrapper
from rocm_perf_lab.device import target
from rocm_perf_lab.errors import MissingTool, UsageError
from rocm_perf_lab.virtual import native

MODELLED = "running on the Virtual AMD Instinct MI300X; times and counters are modelled"


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that looks like a built virtual GPU."""
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / native.HSA_LIBRARY).touch()
    monkeypatch.setenv("ROCM_PERF_NATIVE_LIB", str(folder))
    return folder


def auto(
    tmp_path: Path, *, gpu: bool, installed: bool, wrapper: bool = False
) -> target.ProfilingTarget:
    driver = tmp_path / "kfd"
    if gpu:
        driver.touch()
    return target.choose(
        "auto",
        rocprofv3_installed=installed,
        rocprofv3_is_wrapper=wrapper,
        environment={},
        driver=driver,
    )


def test_rocm_with_a_gpu_is_used(tmp_path: Path) -> None:
    chosen = auto(tmp_path, gpu=True, installed=True)
    assert (chosen.kind, chosen.profiler, chosen.notice) == ("hardware", None, None)


def test_rocm_without_a_gpu_gives_way_to_the_virtual_one_and_says_so(tmp_path: Path) -> None:
    chosen = auto(tmp_path, gpu=False, installed=True)
    assert (chosen.kind, chosen.name) == ("virtual", "virtual:mi300x")
    assert chosen.notice == f"no AMD GPU was found: {MODELLED}"


def test_a_gpu_without_a_profiler_gives_way_too(tmp_path: Path) -> None:
    chosen = auto(tmp_path, gpu=True, installed=False)
    assert chosen.kind == "virtual"
    assert chosen.notice == f"rocprofv3 is not installed: {MODELLED}"


def test_a_virtual_gpu_that_is_not_built_is_not_fallen_back_on(
    libraries: Path, tmp_path: Path
) -> None:
    (libraries / native.HSA_LIBRARY).unlink()
    assert auto(tmp_path, gpu=False, installed=False).kind == "hardware"
    with pytest.raises(MissingTool, match="virtual:mi300x cannot be used"):
        target.choose("virtual", rocprofv3_installed=True, environment={})


def test_programs_get_what_the_virtual_gpu_needs_and_nothing_else(libraries: Path) -> None:
    environment = {"LD_LIBRARY_PATH": "/opt/x", "HOME": "/home/me"}
    chosen = target.choose("virtual", rocprofv3_installed=True, environment=environment)
    assert chosen.environment["LD_LIBRARY_PATH"] == f"{libraries}:/opt/x"
    assert chosen.environment["ROCM_PERF_DEVICE"] == "virtual:mi300x"
    assert "HOME" not in chosen.environment
    assert chosen.profiler == (sys.executable, "-m", target.STAND_IN)
    assert importlib.util.find_spec(target.STAND_IN) is not None
    assert chosen.notice is None, "it was the user's own choice"
    assert chosen.architecture == "gfx942"


def test_one_of_several_real_gpus_is_the_only_one_seen() -> None:
    chosen = target.choose("rocm:2", rocprofv3_installed=True, environment={})
    assert (chosen.kind, chosen.environment) == ("hardware", {"ROCR_VISIBLE_DEVICES": "2"})


def test_a_rocprofv3_of_the_users_own_is_trusted(tmp_path: Path) -> None:
    assert auto(tmp_path, gpu=False, installed=True, wrapper=True).kind == "hardware"


def test_a_script_outside_a_rocm_tree_is_a_wrapper(tmp_path: Path) -> None:
    tool = tmp_path / "rocm" / "bin" / "rocprofv3"
    tool.parent.mkdir(parents=True)
    tool.touch()
    assert is_wrapper(str(tool))
    (tmp_path / "rocm" / "lib").mkdir()
    (tmp_path / "rocm" / "lib" / "librocprofiler-sdk.so.1").touch()
    assert not is_wrapper(str(tool))


def test_an_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no device is called mi400"):
        target.choose("mi400", rocprofv3_installed=False)
