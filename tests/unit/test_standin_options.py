"""rocprofv3's command line as the stand-in understands it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.errors import BadInput, PerfLabError, UsageError
from rocm_perf_lab.virtual.rocprofv3 import names, options
from rocm_perf_lab.virtual.rocprofv3.options import ThreadTraceOptions, parse


def one(*words: str) -> options.Pass:
    (wanted,) = parse([*words, "--", "app"]).passes
    return wanted


def test_what_the_collector_asks_for_is_understood(tmp_path: Path) -> None:
    help_text = options.parser().format_help()
    profiler = rocprofv3.Profiler(
        ("rocprofv3",), options.SDK_VERSION, None, True, True, True, False
    )
    assert "rocpd" in help_text and "--pmc" in help_text and "--att" in help_text
    program = ("./app", "--pmc", "-n", "5")
    trace = parse(rocprofv3.trace_command(profiler, tmp_path, program)[1:])
    assert trace.program == program
    assert trace.passes[0].traces == {"kernel", "hip_runtime", "hip_compiler", "copy"}
    counted = rocprofv3.counter_command(profiler, [["A", "B"]], tmp_path, program, "ker.*")
    assert parse(counted[1:]).passes[0].pmc == ("A", "B")
    assert parse(counted[1:]).passes[0].include == "ker.*"
    traced = parse(rocprofv3.att_command(profiler, tmp_path, program, "k", 0)[1:]).passes[0]
    assert traced.att == ThreadTraceOptions(target_cu=0)
    assert traced.directory == tmp_path


def test_counters_may_be_separated_by_blanks_or_commas() -> None:
    assert one("--pmc", "A,B", "C", "D:device=0", "A").pmc == ("A", "B", "C", "D")


def test_switches_take_yes_and_no() -> None:
    assert one("--kernel-trace", "no", "--hip-runtime-trace", "yes").traces == {"hip_runtime"}
    assert "kernel" in one("-s").traces and "kernel" in one("--runtime-trace").traces
    assert one("--hip-trace").traces == {"hip_runtime", "hip_compiler"}


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (["[1-3]", "5"], ((1, 3), (5, 5))),
        (["[2,4]"], ((2, 2), (4, 4))),
        (["7"], ((7, 7),)),
    ],
)
def test_ranges_of_launches(text: list[str], ranges: tuple[tuple[int, int], ...]) -> None:
    assert one("--pmc", "A", "--kernel-iteration-range", *text).ranges == ranges


@pytest.mark.parametrize(
    ("words", "error", "sentence"),
    [
        (["--pmc", "A", "--pmc", "B"], UsageError, "one group of counters per run"),
        (["--pmc"], UsageError, "names no counter"),
        (["--pmc", "A", "--att"], UsageError, "cannot be used together"),
        (["-f", "pftrace"], BadInput, "writes no pftrace"),
        (["-f", "xml"], UsageError, "no such format: xml"),
        (["--kernel-trace", "maybe"], UsageError, "neither yes nor no"),
        (["--no-such-flag"], UsageError, "--no-such-flag"),
        (["--pc-sampling-beta-enabled"], BadInput, "PC sampling is not available"),
        (["--att-perfcounters", "SQ_WAVES"], BadInput, "is not available on the virtual GPU"),
        (["--kernel-include-regex", "("], BadInput, "is not a regular expression"),
        (["--kernel-iteration-range", "[3-1]"], BadInput, "no range"),
        (["--kernel-iteration-range", "0"], BadInput, "no range"),
        (["--att", "--att-target-cu", "16"], BadInput, "between 0 and 0xf"),
        (["-i", "nowhere.yaml"], BadInput, "cannot read the input file"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], error: type[PerfLabError], sentence: str
) -> None:
    with pytest.raises(error) as found:
        parse([*words, "--", "app"])
    assert sentence in found.value.message


def test_a_program_is_needed() -> None:
    for words in (["--kernel-trace"], ["--kernel-trace", "--"]):
        with pytest.raises(UsageError, match="no program"):
            parse(words)


def test_what_is_never_recorded_is_said_once() -> None:
    assert parse(["--hsa-trace", "--", "app"]).notes == (
        "HSA calls are not recorded on the virtual GPU",
    )
    assert parse(["--sys-trace", "--", "app"]).notes == ()


JOBS = {
    "jobs.yaml": "jobs:\n - pmc: [A, B]\n   kernel_iteration_range: '[2,4]'\n - pmc: C\n",
    "jobs.json": '{"jobs": [{"pmc": ["A", "B"], "kernel_iteration_range": "[2,4]"}, {"pmc": "C"}]}',
    "jobs.txt": "# two groups\npmc: A B\n\npmc: C # the second\n",
}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_of_an_input_file_are_passes(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(JOBS[name])
    first, second = parse(["-i", str(file), "-d", "out", "--", "app"]).passes
    assert (first.pmc, second.pmc) == (("A", "B"), ("C",))
    assert first.directory == Path("out")
    prefix = "pmc" if name.endswith("txt") else "pass"
    assert (first.subdirectory, second.subdirectory) == (f"{prefix}_1", f"{prefix}_2")
    if prefix == "pass":
        assert first.ranges == ((2, 2), (4, 4))


def test_a_thread_trace_job(tmp_path: Path) -> None:
    file = tmp_path / "att.yaml"
    file.write_text(
        'jobs: [{advanced_thread_trace: true, att_target_cu: 2, att_shader_engine_mask: "0x11", '
        'att_simd_select: "0x3", att_buffer_size: "0x6000000"}]'
    )
    (wanted,) = parse(["-i", str(file), "--", "app"]).passes
    assert wanted.att == ThreadTraceOptions(target_cu=2, shader_engines=0x11, simds=3)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.yaml", "jobs: [", "cannot be read as yaml"),
        ("a.json", "{", "cannot be read as json"),
        ("a.yaml", "pmc: [A]", "has no list of jobs"),
        ("a.yaml", "jobs: [{pcm: [A]}]", "unknown key pcm"),
        ("a.txt", "pcm: A", "a.txt:1: expected"),
        ("a.txt", "", "has no line"),
    ],
)
def test_a_bad_input_file_is_named(name: str, text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(BadInput) as found:
        parse(["-i", str(file), "--", "app"])
    assert sentence in found.value.message


def test_placeholders_of_output_names() -> None:
    def expand(text: str) -> str:
        return names.expand(
            text, pid=7, parent=3, hostname="h", program="/x/app", environment={"A": "b"}
        )

    assert expand("%hostname%/%pid%") == "h/7"
    assert expand("%argt%_%ppid%_%env{A}%_$ENV{A}_%rank%") == "app_3_b_b_0"
    assert expand("100%_%nothing%") == "100%_%nothing%"
