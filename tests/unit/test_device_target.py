"""Where `profile` runs a program when it is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.collect.rocprofv3 import is_wrapper
from rocm_perf_lab.device import target
from rocm_perf_lab.errors import UsageError


@pytest.fixture(autouse=True)
def virtual_gpu_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(target.native, "find_library_dir", lambda: tmp_path)
    monkeypatch.setattr(
        target,
        "_virtual",
        lambda name, environment, why=None: target.Target("virtual", name, notice=why),
    )


def auto(tmp_path: Path, *, gpu: bool, installed: bool, wrapper: bool = False) -> target.Target:
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
    assert auto(tmp_path, gpu=True, installed=True).kind == "hardware"


def test_rocm_without_a_gpu_gives_way_to_the_virtual_one_and_says_so(tmp_path: Path) -> None:
    chosen = auto(tmp_path, gpu=False, installed=True)
    assert (chosen.kind, chosen.notice) == ("virtual", "no AMD GPU was found")


def test_a_gpu_without_a_profiler_gives_way_too(tmp_path: Path) -> None:
    chosen = auto(tmp_path, gpu=True, installed=False)
    assert (chosen.kind, chosen.notice) == ("virtual", "rocprofv3 is not installed")


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
