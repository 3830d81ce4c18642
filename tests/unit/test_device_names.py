"""One grammar of device names: the table of docs/device.md, run through the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.virtual import device_names, native
from support.cli import rocm_perf

PAGE = Path(__file__).parents[2] / "docs" / "device.md"
ROW = re.compile(r"^\| `(.*?)` \| (yes|no)(, not by the native library)? \|")


def table() -> list[tuple[str, bool, bool]]:
    text = PAGE.read_text(encoding="utf-8")
    part = text.split("<!-- device names -->")[1].split("<!-- /device names -->")[0]
    rows = [match for line in part.splitlines() if (match := ROW.match(line))]
    assert len(rows) > 15
    return [(m[1], m[2] == "yes", m[2] == "yes" and not m[3]) for m in rows]


TABLE = table()


@pytest.mark.parametrize(("name", "accepted", "native_too"), TABLE)
def test_the_parser_is_the_table(name: str, accepted: bool, native_too: bool) -> None:
    del native_too
    if not accepted:
        with pytest.raises(UsageError):
            device_names.parse(name)
        return
    found = device_names.parse(name)
    assert device_names.parse(str(found)) == found


def test_the_option_comes_before_the_environment_and_auto_asks_for_nothing() -> None:
    environment = {"ROCM_PERF_DEVICE": "virtual:mi250x"}
    assert str(device_names.wanted("rocm:1", environment)) == "rocm:1"
    for nothing in (None, "", "auto"):
        assert str(device_names.wanted(nothing, environment)) == "virtual:mi250x"
    assert device_names.wanted(None, {}).kind == "auto"
    with pytest.raises(UsageError, match="ROCM_PERF_DEVICE=mi300x"):
        device_names.wanted(None, {"ROCM_PERF_DEVICE": "mi300x"})


@pytest.mark.parametrize(("name", "accepted", "native_too"), TABLE)
def test_the_native_library_reads_the_same_names(
    name: str, accepted: bool, native_too: bool
) -> None:
    folder = native.find_library_dir()
    if folder is None:
        pytest.skip("the native libraries are not built")
    code = (
        "import ctypes, sys\n"
        f"hsa = ctypes.CDLL({str(folder / native.HSA_LIBRARY)!r})\n"
        "sys.exit(hsa.hsa_init() != 0)"
    )
    environment = {**os.environ, "ROCM_PERF_DEVICE": name}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode == 0) == (accepted and native_too), done.stderr
    if "mi355x" in name:
        assert "gfx950 code is not executed here" in done.stderr
        with pytest.raises(UsageError, match="gfx950 code is not executed here"):
            device_names.parse(name)


@pytest.mark.parametrize("where", ["option", "environment"])
@pytest.mark.parametrize("command", ["run", "profile"])
@pytest.mark.parametrize("name", ["virtual:mi9", "virtual:mi300x*0", "mi300x", "rocm,virtual"])
def test_commands_refuse_what_the_table_refuses(
    name: str, command: str, where: str, tmp_path: Path
) -> None:
    option = ["--device", name] if where == "option" else []
    environment = {"ROCM_PERF_DEVICE": name} if where == "environment" else {}
    done = rocm_perf(command, *option, "/bin/true", cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert (
        f"no device is called {'ROCM_PERF_DEVICE=' * (where == 'environment')}{name}" in done.stderr
    )


def test_several_virtual_devices_reach_the_program_by_option_and_environment(
    tmp_path: Path,
) -> None:
    if native.find_library_dir() is None:
        pytest.skip("the native libraries are not built")
    several = "virtual:mi300x*2,virtual:mi250x"
    script = ["/bin/sh", "-c", 'echo "$ROCM_PERF_DEVICE"']
    for words, environment in ((["--device", several], {}), ([], {"ROCM_PERF_DEVICE": several})):
        done = rocm_perf("run", *words, *script, cwd=tmp_path, env=environment)
        assert done.stdout == f"{several}\n", done.stderr


def test_rocm_where_there_is_none_is_a_missing_device(tmp_path: Path) -> None:
    if discover.hardware():
        pytest.skip("there is an AMD GPU here")
    done = rocm_perf("run", "--device", "rocm", "/bin/true", cwd=tmp_path)
    assert done.returncode == 4 and "no AMD GPU" in done.stderr


def test_programs_find_the_compiler_that_hiprtc_needs(tmp_path: Path) -> None:
    """Run-time compilation starts this installation's own hipcc, unless another is named."""
    if native.find_library_dir() is None:
        pytest.skip("the native libraries are not built")
    script = ["/bin/sh", "-c", 'echo "$ROCM_PERF_HIPCC"']
    words = ["--device", "virtual"]
    found = rocm_perf("run", *words, *script, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
    assert Path(found.stdout.strip()).name == "rocm-perf" and Path(found.stdout.strip()).is_file()
    named = rocm_perf("run", *words, *script, cwd=tmp_path, env={"ROCM_PERF_HIPCC": "/my/hipcc"})
    assert named.stdout == "/my/hipcc\n"
