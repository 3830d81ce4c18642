"""From the recorder's log to rows: damaged logs, addresses, registers, names, statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.device import toolchain_shim
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.virtual.rocprofv3 import agents
from rocm_perf_lab.virtual.rocprofv3.log import CLOCK_ORIGIN_NS as START
from rocm_perf_lab.virtual.rocprofv3.log import read_log, read_logs
from rocm_perf_lab.virtual.rocprofv3.process_rows import Addresses, truncated

PROCESS = {"r": "process", "pid": 7, "ppid": 1, "real": 5, "command": "app\0-n\x00\xc3\xa4\0"}
LAUNCH = {
    "r": "dispatch", "t": 7, "c": 1, "d": 1, "s": 0, "q": 1, "agent": 1, "k": 64,
    "w": [64, 1, 1], "g": [128, 1, 1], "lds": 0, "scratch": 0, "want": 1,
}  # fmt: skip
DONE = {"r": "done", "d": 1, "ns": 10, "cycles": 21, "mhz": 2100.0, "detail": 1.0, "cus": 2,
        "ok": 1, "sampling": 0.0, "counters": {"TCC_HIT": [[0, 0, 3, 5.0]]}}  # fmt: skip
RAN = {"r": "dispatched", "d": 1, "b": START + 50, "e": START + 60}


def log(folder: Path, *records: object, tail: str = "") -> Path:
    path = folder / "7.log"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records) + tail)
    return path


def test_a_log_becomes_records(tmp_path: Path) -> None:
    found = read_log(log(tmp_path, PROCESS, LAUNCH, DONE, RAN, {"r": "end", "real": 9}))
    assert found is not None
    assert (found.pid, found.command, found.real_end) == (7, ("app", "-n", "ä"), 9)
    (launch,) = found.finished
    assert (launch.grid, launch.counted) == ((128, 1, 1), True)
    assert (launch.start, launch.end) == (START + 50, START + 60)
    assert found.modelled[1].counters == {"TCC_HIT": {(0, 0, 3): 5.0}}


CALL = {"r": "enter", "t": 7, "c": 1, "n": "hipMalloc", "b": START, "a": []}
ALLOCATED = {"r": "alloc", "t": 7, "c": 1, "b": START + 10, "agent": 1, "at": 4096, "size": 64}
COPY = {"r": "copy", "t": 8, "c": 2, "n": 1, "s": 0, "to": 4096, "ta": 1, "size": 64,
        "from": 1 << 44, "fa": 0}  # fmt: skip
FILL = {"r": "fill", "t": 8, "c": 2, "n": 2, "s": 0, "to": 4096, "ta": 1, "size": 64,
        "groups": 1, "rows": 1}  # fmt: skip


def test_work_has_the_times_that_the_clock_said_and_processes_their_places(tmp_path: Path) -> None:
    copied = [
        {"r": "transferred", "n": number, "b": START + 5, "e": START + 9} for number in (2, 1)
    ]
    ended = {"r": "exit", "t": 7, "c": 1, "v": 0, "e": START + 30}
    found = read_log(log(tmp_path, PROCESS, CALL, ALLOCATED, ended, COPY, FILL, *copied))
    assert found is not None
    found.begin_at(7_000_000_000)
    (call,), (memory,), (copy, fill) = found.calls, found.memory, found.transfers
    assert (call.start, call.end) == (7_000_000_000, 7_000_000_030)
    assert (memory.start, memory.end) == (call.start + 10, call.end)
    assert (copy.start, copy.end) == (fill.start, fill.end) == (call.start + 5, call.start + 9)
    assert (copy.thread, fill.source, fill.rows) == (1, None, True)
    assert (found.start, found.end) == (call.start, call.end)


def test_a_call_that_never_returned_lasts_to_the_end(tmp_path: Path) -> None:
    found = read_log(log(tmp_path, PROCESS, CALL, LAUNCH, DONE, RAN))
    assert found is not None and found.calls[0].end == found.end == START + 60


def test_half_a_line_at_the_end_of_a_killed_process_is_no_matter(tmp_path: Path) -> None:
    found = read_log(log(tmp_path, PROCESS, LAUNCH, tail='{"r":"do'))
    assert found is not None and len(found.launches) == 1 and not found.modelled


def test_an_empty_log_is_no_process(tmp_path: Path) -> None:
    log(tmp_path)
    assert read_logs(tmp_path) == []


def test_a_dispatch_that_faulted_has_no_outcome(tmp_path: Path) -> None:
    found = read_log(log(tmp_path, PROCESS, LAUNCH, {**DONE, "ok": 0}))
    assert found is not None and not found.modelled


def test_a_log_that_could_not_be_written_is_no_recording(tmp_path: Path) -> None:
    path = log(tmp_path, PROCESS)
    path.chmod(0o400)  # how the recorder marks it
    with pytest.raises(BadInput, match="the recording of process 7 is incomplete"):
        read_logs(tmp_path)


def test_device_addresses_stay_and_host_addresses_are_numbered() -> None:
    addresses = Addresses([(0x2010_0000_0000, 0x2010_0001_0000)])
    assert addresses(0x2010_0000_0040) == 0x2010_0000_0040
    first, second = addresses(0x7FFC_1234_5678), addresses(0x5555_0000_1000)
    assert first != second and addresses(0x7FFC_1234_5678) == first
    assert addresses.text("(nil)") == "0x0"
    assert addresses.text("0x2") == "0x2"  # hipStreamPerThread
    assert addresses.text("{16, 1, 1}") == "{16, 1, 1}"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void softmax_block<256>(float const*, float*, int)", "softmax_block"),
        ("ns::copy(double*)", "copy"),
        ("(anonymous namespace)::k(int)", "k"),
        ("plain", "plain"),
    ],
)
def test_truncated_names(name: str, short: str) -> None:
    assert truncated(name) == short


def test_agents_by_name() -> None:
    first, second = agents.gpus("virtual:mi300x,virtual:mi250x")
    assert (first.number, first.handle, second.number) == (1, 5600, 2)
    assert second.extdata["gfx_target_version"] == 90010
    assert len(agents.gpus("virtual:mi300x*2")) == 2
    with pytest.raises(UsageError, match="no device is called ROCM_PERF_DEVICE=virtual:h100"):
        agents.gpus("virtual:h100")


def test_the_stand_in_on_path_is_not_taken_for_amd_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    binaries = toolchain_shim.make_shims()
    assert (binaries / "rocprofv3").exists()
    monkeypatch.setenv("PATH", str(binaries))
    for variable in ("ROCM_PATH", "ROCM_HOME"):
        monkeypatch.delenv(variable, raising=False)
    found = rocprofv3.installed()
    assert found is None or not found.startswith(str(binaries))
