"""The rocprofv3 stand-in as a program: the files it writes, and what it does in trouble."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocm_perf_lab.trace.att import read as read_att
from rocm_perf_lab.trace.read import read_traces
from support.hip_build import REPOSITORY
from support.virtual_profile import PROGRAMS, build, databases, query, standin

SMALL = ("-n", "8192")
TRACES = ("--kernel-trace", "--hip-trace", "--memory-copy-trace", "--memory-allocation-trace")


@pytest.fixture(scope="module")
def vcopy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(REPOSITORY / "examples" / "vcopy.cpp", tmp_path_factory.mktemp("vcopy"), "-g")


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(PROGRAMS / "profile_endings.cpp", tmp_path_factory.mktemp("endings"))


@pytest.fixture(scope="module")
def traced(vcopy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    formats = ("-f", "rocpd", "csv", "--stats")
    standin(*TRACES, *formats, "-d", folder, "-o", "x_%pid%", "--", vcopy, *SMALL, cwd=folder)
    (found,) = databases(folder)
    return found


def test_calls_dispatches_and_copies_are_linked_as_rocprofv3_links_them(traced: Path) -> None:
    linked = query(
        traced,
        """SELECT r.name, count(*) FROM regions r JOIN kernels k
           ON k.stack_id = r.stack_id AND k.guid = r.guid GROUP BY r.name""",
    )
    assert linked == [("hipLaunchKernel", 3), ("hipMemset", 1)]
    copies = query(
        traced,
        """SELECT c.name, r.name, c.size FROM memory_copies c JOIN regions r
           ON c.stack_id = r.stack_id AND c.guid = r.guid ORDER BY c.start""",
    )
    assert copies == [
        ("MEMORY_COPY_HOST_TO_DEVICE", "hipMemcpy", 65536),
        ("MEMORY_COPY_DEVICE_TO_HOST", "hipMemcpy", 65536),
    ]
    kinds = query(traced, "SELECT type, count(*), max(size) FROM memory_allocations GROUP BY type")
    assert [kind for kind, _, _ in kinds] == ["ALLOC", "FREE"]
    assert kinds[0][2] >= 65536


def test_a_call_s_arguments_are_recorded(traced: Path) -> None:
    rows = query(
        traced,
        """SELECT a.name, a.value FROM rocpd_arg a JOIN rocpd_region r ON r.event_id = a.event_id
           JOIN rocpd_string s ON s.id = r.name_id WHERE s.string = 'hipLaunchKernel'
           ORDER BY a.event_id, a.position""",
    )
    assert dict(rows[:6]) | {"function_address": "", "args": ""} == {
        "function_address": "",
        "numBlocks": "{32, 1, 1}",
        "dimBlocks": "{256, 1, 1}",
        "args": "",
        "sharedMemBytes": "0",
        "stream": "0x0",
    }


def test_time_is_in_order(traced: Path) -> None:
    assert query(traced, "SELECT count(*) FROM rocpd_kernel_dispatch WHERE end <= start") == [(0,)]
    early = """SELECT count(*) FROM kernels k JOIN regions r ON r.stack_id = k.stack_id
               WHERE k.start < r.start"""
    assert query(traced, early) == [(0,)]
    ((synced, ended),) = query(
        traced,
        """SELECT (SELECT end FROM regions WHERE name = 'hipDeviceSynchronize'),
           (SELECT max(end) FROM kernels)""",
    )
    assert synced >= ended


def test_the_symbol_has_the_kernel_s_resources(traced: Path) -> None:
    rows = query(
        traced,
        """SELECT kernel_name, display_name, arch_vgpr_count, accum_vgpr_count, sgpr_count,
           group_segment_size, private_segment_size FROM rocpd_info_kernel_symbol
           WHERE kernel_name NOT LIKE '__amd_rocclr_%'""",
    )
    # As recorded on MI300X: 4 + 4 VGPRs, 16 SGPRs.
    name = "vecCopy(double const*, double*, double*, int, int)"
    assert rows == [("_Z7vecCopyPKdPdS1_ii.kd", name, 4, 4, 16, 0, 0)]


def test_the_agent_is_an_mi300x_that_says_it_is_virtual(traced: Path) -> None:
    ((name, product, extra),) = query(
        traced, "SELECT name, product_name, extdata FROM rocpd_info_agent WHERE type = 'GPU'"
    )
    facts = json.loads(extra)
    assert (name, product) == ("gfx942", "Virtual AMD Instinct MI300X")
    recorded = {"cu_count": 304, "simd_count": 1216, "num_xcc": 8, "array_count": 32}
    recorded |= {"gfx_target_version": 90402, "max_engine_clk_fcompute": 2100}
    assert {key: facts[key] for key in recorded} == recorded
    assert facts["mem_banks"][0]["width"] == 8192


def test_the_trace_reader_reads_it_like_any_other(traced: Path) -> None:
    (trace,) = read_traces([traced])
    assert trace.virtual and not trace.notes
    names = [trace.kernels[k].name.partition("(")[0] for k in trace.dispatches.kernel]
    assert names == ["__amd_rocclr_fillBufferAligned", *["vecCopy"] * 3]
    assert trace.dispatches.grid[1].tolist() == [8192, 1, 1] and len(trace.copies) == 2


def test_csv_and_statistics_agree_with_the_database(traced: Path) -> None:
    base = traced.name.removesuffix("_results.db")
    with (traced.parent / f"{base}_kernel_stats.csv").open() as file:
        shown = {
            (r["Name"], int(r["Calls"]), int(r["TotalDurationNs"])) for r in csv.DictReader(file)
        }
    rows = query(traced, "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name")
    assert shown == set(rows) and len(rows) == 2
    with (traced.parent / f"{base}_kernel_trace.csv").open() as file:
        assert len(list(csv.DictReader(file))) == sum(count for _, count, _ in rows)


def test_json_holds_what_the_database_holds(vcopy: Path, tmp_path: Path) -> None:
    words = ("-f", "json", "rocpd", "-d", tmp_path, "--", vcopy, *SMALL)
    standin(*TRACES, *words, cwd=tmp_path)
    (path,) = databases(tmp_path)
    (ours,), (theirs,) = (read_traces([p]) for p in (path.with_suffix(".json"), path))
    assert ours.virtual
    assert ours.dispatches.start_ns.tolist() == theirs.dispatches.start_ns.tolist()
    assert ours.copies.size_bytes.tolist() == theirs.copies.size_bytes.tolist()
    assert ours.regions.stream_handle.tolist() == theirs.regions.stream_handle.tolist()
    assert ours.kernels[0].total_vgprs == theirs.kernels[0].total_vgprs == 8
    standin("--pmc", "SQ_WAVES", "-o", "c", *words, cwd=tmp_path)
    (counted,) = read_traces([tmp_path / "c_results.json"])
    assert counted.counters["SQ_WAVES"].total.tolist() == [128.0] * 3


def test_counters_have_a_row_per_hardware_instance(vcopy: Path, tmp_path: Path) -> None:
    pmc = ("SQ_WAVES", "TCC_REQ", "TCC_REQ_sum", "GRBM_GUI_ACTIVE", "WRITE_SIZE")
    standin("--pmc", *pmc, "-d", tmp_path, "--", vcopy, *SMALL, cwd=tmp_path)
    (path,) = databases(tmp_path)
    rows = query(
        path,
        """SELECT c.name, count(*), sum(p.value) FROM rocpd_pmc_event p
           JOIN rocpd_info_pmc c ON c.id = p.pmc_id JOIN rocpd_kernel_dispatch k
           ON k.event_id = p.event_id WHERE k.dispatch_id = 1 GROUP BY c.name""",
    )
    found = {name: (instances, total) for name, instances, total in rows}
    assert found["SQ_WAVES"] == (32, 128.0)  # shader engines; 8192 work-items
    assert found["TCC_REQ"][0] == 128  # 16 channels of 8 XCDs
    assert found["GRBM_GUI_ACTIVE"][0] == 8
    assert found["TCC_REQ_sum"] == (1, found["TCC_REQ"][1])
    assert found["WRITE_SIZE"] == (1, 64.0)  # KiB


@pytest.mark.parametrize(
    ("pmc", "sentence"),
    [
        (["SQ_WAVE"], "SQ_WAVE is not a counter of gfx942"),
        (["CPC_CPC_STAT_BUSY"], "CPC_CPC_STAT_BUSY is not modelled on the virtual gfx942"),
        (["TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE"], "5 TCC counters do not fit"),
    ],
)
def test_a_counter_that_cannot_be_had_is_refused_before_anything_runs(
    endings: Path, tmp_path: Path, pmc: list[str], sentence: str
) -> None:
    done = standin("--pmc", *pmc, "-d", tmp_path, "--", endings, "sleep", cwd=tmp_path, code=3)
    assert sentence in done.stderr
    assert not databases(tmp_path)


def test_counters_only_of_the_launches_asked_for(vcopy: Path, tmp_path: Path) -> None:
    words = ("--pmc", "SQ_WAVES", "--kernel-iteration-range", "[2-3]", "-d", tmp_path)
    standin(*words, "--kernel-include-regex", "vec.*py", "--", vcopy, *SMALL, cwd=tmp_path)
    (path,) = databases(tmp_path)
    counted = query(path, "SELECT DISTINCT dispatch_id FROM counters_collection ORDER BY 1")
    assert counted == [(2,), (3,)]


def test_counters_of_a_kernel_that_the_program_did_not_wait_for(
    endings: Path, tmp_path: Path
) -> None:
    standin("--pmc", "SQ_WAVES", "-d", tmp_path, "--", endings, "leave", cwd=tmp_path)
    (path,) = databases(tmp_path)
    waves = query(path, "SELECT dispatch_id, sum(value) FROM counters_collection GROUP BY 1")
    assert waves == [(1, 1.0), (2, 1.0)]


def test_each_job_of_an_input_file_is_a_pass(vcopy: Path, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("jobs:\n  - pmc: [SQ_WAVES]\n  - pmc: [SQ_INSTS]\n    output_file: two\n")
    standin("-i", jobs, "-d", tmp_path / "out", "--", vcopy, *SMALL, cwd=tmp_path)
    one, two = databases(tmp_path / "out")
    assert one.relative_to(tmp_path / "out").parts[0] == "pass_1"
    assert two == tmp_path / "out" / "pass_2" / "two_results.db"
    assert query(two, "SELECT DISTINCT counter_name FROM counters_collection") == [("SQ_INSTS",)]


def test_the_same_program_and_input_give_the_same_bytes(vcopy: Path, tmp_path: Path) -> None:
    contents = []
    for name in ("a", "b"):
        out = tmp_path / name
        env = {"ROCM_PERF_REPRODUCIBLE": "1"}
        standin(*TRACES, "-d", out, "-o", "x", "--", vcopy, *SMALL, cwd=tmp_path, env=env)
        standin("--pmc", "SQ_WAVES", "TCC_HIT", "SQ_WAVE_CYCLES", "-d", out, "-o", "y", "--",
                vcopy, *SMALL, cwd=tmp_path, env=env)  # fmt: skip
        contents.append([path.read_bytes() for path in databases(out)])
    assert len(contents[0]) == 2
    assert contents[0] == contents[1]


def test_a_thread_trace_holds_the_waves_with_their_source_lines(
    vcopy: Path, tmp_path: Path
) -> None:
    standin("--att", "--att-target-cu", "0", "-d", tmp_path, "--", vcopy, *SMALL, cwd=tmp_path)
    (folder,) = tmp_path.glob("ui_output_agent_5600_dispatch_*")  # once per kernel: the first
    assert folder.name.endswith("dispatch_1")
    assert (tmp_path / f"stats_{folder.name}.csv").exists()
    assert list(folder.glob("se0_sm*_sl*_wv*.json"))
    assert list(tmp_path.rglob("*_gfx942_code_object_id_1.out"))
    code = json.loads((folder / "code.json").read_text())["code"]
    hits = {row[0].split()[0]: row[6] for row in code if not row[0].startswith(";")}
    assert hits["global_load_dwordx2"] == hits["global_store_dwordx2"] > 0
    assert any(row[3].rpartition("/")[2].startswith("vcopy.cpp:") for row in code)
    assert read_att(folder) is not None


def test_a_kernel_that_never_runs_is_named_with_those_that_did(vcopy: Path, tmp_path: Path) -> None:
    words = ("--att", "--kernel-include-regex", "gemm", "-d", tmp_path)
    done = standin(*words, "--", vcopy, *SMALL, cwd=tmp_path)
    assert "nothing was traced: no kernel that was launched matches; launched were:" in done.stderr
    assert "vecCopy(double const*" in done.stderr
    assert not list(tmp_path.glob("ui_output*"))


@pytest.mark.parametrize(
    ("how", "code", "sentence", "counts"),
    [
        ("code", 7, "exited with code 7", [1]),
        ("crash", -signal.SIGSEGV, "was killed by SIGSEGV", [1]),
        ("fault", 5, "1 dispatches did not run to their end", [1]),
        ("quick", 0, "", [1]),
        ("fork", 0, "", [1]),
        ("threads", 0, "", [2]),
        ("children", 0, "", [1, 1, 1]),
        ("idle", 0, "the program did not use the GPU", []),
    ],
)
def test_however_a_program_ends_what_it_did_is_kept(
    endings: Path, tmp_path: Path, how: str, code: int, sentence: str, counts: list[int]
) -> None:
    done = standin("--kernel-trace", "-d", tmp_path, "--", endings, how, cwd=tmp_path, code=code)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    found = [query(path, "SELECT count(*) FROM kernels")[0][0] for path in databases(tmp_path)]
    assert found == counts


def test_processes_with_one_output_name_do_not_overwrite_each_other(
    endings: Path, tmp_path: Path
) -> None:
    words = ("--kernel-trace", "-d", tmp_path, "-o", "x", "--", endings, "children")
    done = standin(*words, cwd=tmp_path)
    assert len(databases(tmp_path)) == 3
    assert "several processes" in done.stderr


def test_ctrl_c_keeps_what_was_recorded_and_leaves_nothing_half_written(
    endings: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab.virtual.rocprofv3", "--kernel-trace", "-d", ".",
         "--", str(endings), "sleep"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert "interrupted: what profile_endings did until then is kept" in error
    (path,) = databases(tmp_path)
    assert query(path, "SELECT count(*) FROM kernels") == [(1,)]
    assert not list(tmp_path.rglob(".*"))


def test_a_full_disk_leaves_no_database(endings: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab.virtual.rocprofv3", "--kernel-trace", "-d", ".",
         "--", str(endings)],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ,
        # Files of 64 KiB at most: enough for the log, not for a database.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "cannot write" in done.stderr and "choose another place with -d" in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
