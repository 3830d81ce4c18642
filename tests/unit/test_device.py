"""Which devices there are, and which one is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from rocm_perf_lab.device import discover, python_programs
from rocm_perf_lab.device.discover import Device
from rocm_perf_lab.errors import MissingTool, UsageError
from rocm_perf_lab.virtual import device_specs, native
from support.cli import complaint, rocm_perf


def node(topology: Path, number: int, **numbers: int) -> None:
    folder = topology / str(number)
    (folder / "mem_banks" / "0").mkdir(parents=True)
    heap, size = numbers.pop("heap_type", 1), numbers.pop("size_in_bytes", 0)
    lines = "".join(f"{key} {value}\n" for key, value in numbers.items())
    (folder / "properties").write_text(lines)
    bank = f"heap_type {heap}\nsize_in_bytes {size}\n"
    (folder / "mem_banks" / "0" / "properties").write_text(bank)
    (folder / "name").write_text("aqua\n")


def device(name: str, usable: bool = True) -> Device:
    kind: Literal["virtual", "hardware"] = "virtual" if name.startswith("virtual") else "hardware"
    return Device(name, kind, "gfx942", None, 304, 1 << 30, usable, None if usable else "why")


def test_gpus_of_the_driver_are_read_from_its_topology(tmp_path: Path) -> None:
    node(tmp_path, 0, simd_count=0, cpu_cores_count=96)
    node(
        tmp_path,
        1,
        simd_count=1216,
        simd_per_cu=4,
        gfx_target_version=90402,
        size_in_bytes=206141652992,
    )
    node(tmp_path, 10, simd_count=440, simd_per_cu=4, gfx_target_version=90010)
    driver = tmp_path / "kfd"
    driver.touch()
    first, second = discover.hardware(tmp_path, driver)
    assert (first.name, first.architecture, first.compute_units) == ("rocm:0", "gfx942", 304)
    assert first.memory_bytes == 206141652992
    assert first.usable
    assert (second.name, second.architecture, second.compute_units) == ("rocm:1", "gfx90a", 110)


def test_a_gpu_whose_driver_cannot_be_opened_is_listed_but_not_usable(tmp_path: Path) -> None:
    node(tmp_path, 0, simd_count=4, gfx_target_version=90402)
    (found,) = discover.hardware(tmp_path, tmp_path / "absent")
    assert not found.usable
    assert "render" in (found.reason or "")


def test_a_machine_without_the_driver_has_no_real_gpu(tmp_path: Path) -> None:
    assert discover.hardware(tmp_path / "absent", tmp_path / "kfd") == ()


@pytest.mark.parametrize(
    ("wanted", "environment", "known", "chosen"),
    [
        (None, {}, ("rocm:0", "virtual:mi300x"), "rocm:0"),
        (None, {}, ("virtual:mi300x",), "virtual:mi300x"),
        (None, {"ROCM_PERF_DEVICE": "virtual"}, ("rocm:0", "virtual:mi300x"), "virtual:mi300x"),
        ("rocm:0", {"ROCM_PERF_DEVICE": "virtual"}, ("rocm:0", "virtual:mi300x"), "rocm:0"),
        ("virtual", {}, ("rocm:0", "virtual:mi300x"), "virtual:mi300x"),
        ("virtual:mi300x*2", {}, ("virtual:mi300x",), "virtual:mi300x"),
    ],
)  # fmt: skip
def test_the_device_asked_for_wins_then_the_environment_then_a_real_one(
    wanted: str | None, environment: dict[str, str], known: tuple[str, ...], chosen: str
) -> None:
    found = tuple(device(name) for name in known)
    assert discover.choose(wanted, environment, found).name == chosen


@pytest.mark.parametrize("name", ["mi300x", "virtual:mi9", "virtual:mi300x*0", "rocm:7", "; rm"])
def test_an_unknown_device_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(UsageError) as error:
        discover.choose(name, {}, (device("virtual:mi300x"),))
    assert "virtual:mi300x" in (error.value.hint or "")


def test_a_device_that_is_not_usable_is_refused_with_the_reason() -> None:
    with pytest.raises(MissingTool) as error:
        discover.choose("rocm:0", {}, (device("rocm:0", usable=False),))
    assert error.value.hint == "why"


def test_a_real_device_is_the_only_one_its_program_sees() -> None:
    base = {"PATH": "/bin", "ROCM_PERF_DEVICE": "virtual"}
    made = discover.environment_for(device("rocm:3"), None, base)
    assert made.pop("PYTHONPATH") == str(python_programs.DRIVER_FOLDER)
    assert made == {"PATH": "/bin", "ROCR_VISIBLE_DEVICES": "3"}


def test_a_virtual_device_comes_before_the_libraries_of_rocm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / native.HSA_LIBRARY).touch()
    monkeypatch.setenv("ROCM_PERF_NATIVE_LIB", str(tmp_path))
    base = {"LD_LIBRARY_PATH": f"/opt/rocm/lib:{tmp_path}"}
    made = discover.environment_for(device("virtual:mi300x"), "virtual:mi300x*2", base)
    assert made["LD_LIBRARY_PATH"] == f"{tmp_path}:/opt/rocm/lib"
    assert made["ROCM_PERF_DEVICE"] == "virtual:mi300x*2"


def test_every_virtual_device_has_the_numbers_of_its_product() -> None:
    known = {spec.name: spec for spec in device_specs.specs()}
    mi300x = known["virtual:mi300x"]
    assert (mi300x.compute_units, mi300x.xccs, mi300x.shader_engines) == (304, 8, 32)
    assert mi300x.memory_bytes == 192 << 30
    assert known["virtual:mi250x"].architecture == "gfx90a"
    assert all("irtual" in spec.marketing_name for spec in known.values())


# ---- the commands


def test_run_passes_arguments_and_the_exit_code(tmp_path: Path, library: Path) -> None:
    done = rocm_perf("run", "/bin/sh", "--", "-c", 'echo "$ROCM_PERF_DEVICE"; exit 7', cwd=tmp_path)
    assert done.returncode == 7
    assert done.stdout == "virtual:mi300x\n"


def test_run_takes_options_after_the_program_as_the_programs_own(
    tmp_path: Path, library: Path
) -> None:
    done = rocm_perf("run", "--device", "virtual:mi250x", "echo", "--device", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "--device x\n")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("./absent",), 3, "./absent was not found"),
        (("absent-program",), 3, "not found on PATH"),
        (("./text",), 3, "is not executable"),
        (("--device", "tpu", "/bin/true"), 2, "no device is called tpu"),
        (("./empty",), 3, "cannot be run"),
    ],
)
def test_run_says_what_is_wrong_with_a_program_or_a_device(
    arguments: tuple[str, ...], code: int, says: str, tmp_path: Path, library: Path
) -> None:
    (tmp_path / "text").write_text("not a program")
    (tmp_path / "empty").write_bytes(b"\0\0\0\0")
    (tmp_path / "empty").chmod(0o755)
    assert says in complaint(rocm_perf("run", *arguments, cwd=tmp_path), code)


def test_run_without_the_libraries_says_how_to_build_them(tmp_path: Path) -> None:
    environment = {"ROCM_PERF_NATIVE_LIB": str(tmp_path), "ROCM_PERF_DEVICE": "virtual"}
    said = complaint(rocm_perf("run", "/bin/true", cwd=tmp_path, env=environment), 4)
    assert "make native" in said


def test_the_device_list_names_every_model(tmp_path: Path) -> None:
    done = rocm_perf("device", "list", cwd=tmp_path)
    assert done.returncode == 0
    assert all(spec.name in done.stdout for spec in device_specs.specs())


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that passes for the built libraries: these programs use no GPU."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / native.HSA_LIBRARY).touch()
    monkeypatch.setenv("ROCM_PERF_NATIVE_LIB", str(folder))
    monkeypatch.setenv("ROCM_PERF_DEVICE", "")
    return folder
