"""rocprofv3's command line and input files, as the passes they ask for."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import yaml

from rocm_perf_lab.errors import BadInput, UsageError

# The profiler this one stands in for: rocprofiler-sdk of ROCm 7.1.
SDK_VERSION, ROCM_VERSION = "1.1.0", "7.1.0"

FORMATS = ("rocpd", "csv", "json")
NOT_WRITTEN = {
    "pftrace": "rocm-perf report writes a Perfetto trace from the database",
    "otf2": "AMD's rocpd convert makes one from the database",
}

# flag -> what it switches on
TRACES: dict[str, tuple[str, ...]] = {
    "kernel-trace": ("kernel",),
    "hip-trace": ("hip_runtime", "hip_compiler"),
    "hip-runtime-trace": ("hip_runtime",),
    "hip-compiler-trace": ("hip_compiler",),
    "memory-copy-trace": ("copy",),
    "memory-allocation-trace": ("allocation",),
    "hsa-trace": ("hsa",),
    "hsa-core-trace": ("hsa",),
    "hsa-amd-trace": ("hsa",),
    "hsa-image-trace": ("hsa",),
    "hsa-finalizer-trace": ("hsa",),
    "marker-trace": ("marker",),
    "rccl-trace": ("rccl",),
    "kokkos-trace": ("marker",),
    "scratch-memory-trace": ("scratch",),
    "rocdecode-trace": ("media",),
    "rocjpeg-trace": ("media",),
    "runtime-trace": ("hip_runtime", "marker", "kernel", "copy", "allocation"),
    "sys-trace": ("hip_runtime", "hip_compiler", "hsa", "marker", "kernel", "copy", "allocation"),
}
SHORT = {"runtime-trace": "-r", "sys-trace": "-s"}
NEVER_RECORDED = {
    "hsa": "HSA calls",
    "marker": "roctx ranges",
    "rccl": "RCCL calls",
    "media": "rocDecode and rocJPEG calls",
    "scratch": "scratch allocations",
}
REFUSED = {
    "pc-sampling-beta-enabled": "PC sampling",
    "pc-sampling-method": "PC sampling",
    "pc-sampling-unit": "PC sampling",
    "pc-sampling-interval": "PC sampling",
    "att-perfcounters": "counters in a thread trace",
    "att-perfcounter-ctrl": "counters in a thread trace",
    "att-activity": "counters in a thread trace",
    "collection-period": "collection periods",
    "selected-regions": "profiling of selected regions",
    "extra-counters": "counters of one's own",
    "attach": "attaching to a running process",
    "preload": "preloading libraries",
}


@dataclass(frozen=True)
class ThreadTraceOptions:
    target_cu: int = 1
    shader_engines: int = 0x1
    simds: int = 0xF
    consecutive: int = 1
    gpus: tuple[int, ...] = ()  # by index; none: all


@dataclass(frozen=True)
class Pass:
    """One run of the program."""

    traces: frozenset[str] = frozenset()
    pmc: tuple[str, ...] = ()
    att: ThreadTraceOptions | None = None
    include: str | None = None
    exclude: str | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    directory: Path = Path()
    file: str | None = None
    formats: tuple[str, ...] = ("rocpd",)
    stats: bool = False
    truncate: bool = False
    mangled: bool = False
    subdirectory: str = ""


@dataclass(frozen=True)
class Command:
    passes: tuple[Pass, ...]
    program: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"rocprofv3: {message}", hint="rocprofv3 --help lists the options")


def _yes(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on", "y", "t"):
        return True
    if text.lower() in ("0", "false", "no", "off", "n", "f"):
        return False
    raise argparse.ArgumentTypeError(f"{text} is neither yes nor no")


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from None


def parser() -> argparse.ArgumentParser:
    p = _Parser(
        prog="rocprofv3",
        description="rocprofv3's stand-in for the virtual GPU of rocm-perf-lab: the same options, "
        "the same files. What follows -- is the program.",
        allow_abbrev=False,
    )
    p.add_argument("-v", "--version", action="store_true", help="Print the version and exit.")
    p.add_argument("-i", "--input", type=Path, help="Jobs: a YAML, JSON or text file.")
    p.add_argument("-d", "--output-directory", type=Path, help="Where files go.")
    p.add_argument(
        "-o", "--output-file", help="Their name, before _results.db [default: %%hostname%%/%%pid%%]"
    )
    p.add_argument(
        "-f", "--output-format", nargs="+", metavar="FORMAT", help="rocpd (default), csv, json"
    )
    for flag, what in TRACES.items():
        names = [SHORT[flag]] if flag in SHORT else []
        help_text = f"Trace {', '.join(what)}."
        p.add_argument(*names, f"--{flag}", nargs="?", const=True, type=_yes, help=help_text)
    p.add_argument("--stats", nargs="?", const=True, type=_yes, help="Statistics as CSV too.")
    p.add_argument("-S", "--summary", nargs="?", const=True, type=_yes, help=argparse.SUPPRESS)
    p.add_argument("-D", "--summary-per-domain", nargs="?", const=True, type=_yes)
    p.add_argument("-T", "--truncate-kernels", nargs="?", const=True, type=_yes)
    p.add_argument("-M", "--mangled-kernels", nargs="?", const=True, type=_yes)
    p.add_argument("--log-level", help="Accepted and ignored.")
    p.add_argument("--output-config", nargs="?", const=True, type=_yes)
    p.add_argument("--group-by-queue", nargs="?", const=True, type=_yes)
    p.add_argument("--kernel-rename", nargs="?", const=True, type=_yes)
    p.add_argument(
        "--pmc", nargs="*", action="append", metavar="COUNTER", help="One group of counters."
    )
    p.add_argument("--kernel-include-regex", metavar="REGEX", help="Count or trace only these.")
    p.add_argument("--kernel-exclude-regex", metavar="REGEX", help="All but these.")
    p.add_argument(
        "--kernel-iteration-range", nargs="+", metavar="RANGE", help="Launches: [1-3] 5, from 1."
    )
    p.add_argument(
        "--att", "--advanced-thread-trace", dest="att", nargs="?", const=True, type=_yes,
        help="A thread trace of each kernel's first launch.",
    )  # fmt: skip
    p.add_argument("--att-target-cu", type=_number, metavar="CU", help="0 to 15 [default: 1]")
    p.add_argument("--att-shader-engine-mask", type=_number, metavar="MASK", help="[0x1]")
    p.add_argument("--att-simd-select", type=_number, metavar="MASK", help="[0xF]")
    p.add_argument("--att-buffer-size", type=_number, help="Accepted; there is no buffer.")
    p.add_argument("--att-serialize-all", nargs="?", const=True, type=_yes)
    p.add_argument("--att-consecutive-kernels", type=_number, metavar="N")
    p.add_argument("--att-gpu-index", metavar="LIST", help="Trace on these GPUs only.")
    p.add_argument("--att-library-path", help="Accepted: nothing has to be decoded.")
    for flag in REFUSED:
        short = {"collection-period": ["-P"], "extra-counters": ["-E"]}.get(flag, [])
        p.add_argument(*short, f"--{flag}", nargs="*", help=argparse.SUPPRESS)
    return p


def parse(argv: Sequence[str]) -> Command:
    """The passes of a command line; its input file's jobs, changed by what the line itself says."""
    if "--" not in argv:
        raise UsageError(
            "rocprofv3: no program to run", hint="rocprofv3 [options] -- ./program [arguments]"
        )
    split = list(argv).index("--")
    given = vars(parser().parse_args(argv[:split]))
    program = tuple(argv[split + 1 :])
    if not program:
        raise UsageError("rocprofv3: no program after --")
    line = {
        name: value for name, value in given.items() if value is not None and value is not False
    }
    file = line.pop("input", None)
    if file is None:
        passes = [_pass(line)]
    else:
        jobs = read_jobs(file)
        prefix = "pmc" if file.suffix == ".txt" else "pass"
        passes = [
            replace(_pass({**job, **line}), subdirectory=f"{prefix}_{i}")
            for i, job in enumerate(jobs, 1)
        ]
    asked = frozenset().union(*(p.traces for p in passes))
    notes = tuple(
        f"{what} are not recorded on the virtual GPU"
        for kind, what in NEVER_RECORDED.items()
        if kind in asked and not (kind in ("hsa", "marker") and _blanket(line))
    )
    return Command(tuple(passes), program, notes)


def _blanket(line: Mapping[str, Any]) -> bool:
    return bool(line.get("sys_trace") or line.get("runtime_trace"))


def _pass(values: Mapping[str, Any]) -> Pass:
    """One pass from names as argparse and rocprofv3's input files spell them."""
    for flag, what in REFUSED.items():
        if values.get(flag.replace("-", "_")) is not None:
            raise BadInput(
                f"--{flag}: {what} is not available on the virtual GPU",
                hint="leave the option out",
            )
    traces = {
        kind
        for flag, kinds in TRACES.items()
        if values.get(flag.replace("-", "_"))
        for kind in kinds
    }
    pmc = _counters(values.get("pmc"))
    att = _thread_trace(values) if values.get("att") or _long_att(values) else None
    if pmc and att:
        raise UsageError("rocprofv3: --pmc and --att cannot be used together")
    formats = _formats(values.get("output_format"))
    return Pass(
        traces=frozenset(traces),
        pmc=pmc,
        att=att,
        include=_regex(values, "kernel_include_regex"),
        exclude=_regex(values, "kernel_exclude_regex"),
        ranges=_ranges(values.get("kernel_iteration_range")),
        directory=Path(values.get("output_directory") or ""),
        file=values.get("output_file"),
        formats=formats,
        stats=bool(values.get("stats")),
        truncate=bool(values.get("truncate_kernels")),
        mangled=bool(values.get("mangled_kernels")),
    )


def _long_att(values: Mapping[str, Any]) -> bool:
    return bool(values.get("advanced_thread_trace"))


def _counters(value: object) -> tuple[str, ...]:
    """--pmc: one group per run; separated by blanks or commas, `A:device=0` for one device."""
    if not value:
        return ()
    groups: list[Any] = value if isinstance(value, list) else [value]
    if groups and all(isinstance(group, list) for group in groups):
        if len(groups) > 1:
            raise UsageError(
                "rocprofv3: this version collects one group of counters per run",
                hint="give --pmc once, or each group a job of its own in an input file (-i)",
            )
        groups = groups[0]
    words = [w for text in groups for w in re.split(r"[\s,]+", str(text)) if w]
    if not words:
        raise UsageError("rocprofv3: --pmc names no counter")
    return tuple(dict.fromkeys(word.split(":device=")[0] for word in words))


def _regex(values: Mapping[str, Any], name: str) -> str | None:
    text = values.get(name)
    if text is None:
        return None
    try:
        re.compile(str(text))
    except re.error as error:
        flag = name.replace("_", "-")
        raise BadInput(f"--{flag}: {text} is not a regular expression: {error}") from None
    if "\n" in str(text):
        raise BadInput(f"--{name.replace('_', '-')}: a line break cannot be matched")
    return str(text)


def _ranges(value: object) -> tuple[tuple[int, int], ...]:
    """ "[1-3]" "5", or in one text "[1-3,5]"; from 1."""
    if value is None or value == "":
        return ()
    texts = value if isinstance(value, list) else [value]
    found: list[tuple[int, int]] = []
    for part in re.split(r"[\s,]+", re.sub(r"[\[\]]", " ", " ".join(map(str, texts))).strip()):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if match is None or int(match[2] or match[1]) < int(match[1]) or int(match[1]) < 1:
            raise BadInput(f"--kernel-iteration-range: {part!r} is no range like [1-3] or 5")
        found.append((int(match[1]), int(match[2] or match[1])))
    return tuple(found)


def _formats(value: object) -> tuple[str, ...]:
    words = value if isinstance(value, list) else [value or "rocpd"]
    names = [str(w).lower() for word in words for w in re.split(r"[\s,]+", str(word)) if w]
    for name in names:
        if name in NOT_WRITTEN:
            raise BadInput(f"the virtual GPU writes no {name}", hint=NOT_WRITTEN[name])
        if name not in FORMATS:
            raise UsageError(f"rocprofv3: no such format: {name}", hint=", ".join(FORMATS))
    return tuple(dict.fromkeys(names))


def _thread_trace(values: Mapping[str, Any]) -> ThreadTraceOptions:
    def number(name: str, otherwise: int, limit: int) -> int:
        value = values.get(name, otherwise)
        try:
            result = int(str(value), 0)
        except ValueError:
            raise BadInput(f"--{name.replace('_', '-')}: {value} is not a number") from None
        if not 0 <= result <= limit:
            raise BadInput(f"--{name.replace('_', '-')}: {value} is not between 0 and {limit:#x}")
        return result

    gpus = tuple(int(w) for w in re.findall(r"\d+", str(values.get("att_gpu_index", ""))))
    return ThreadTraceOptions(
        target_cu=number("att_target_cu", 1, 15),
        shader_engines=number("att_shader_engine_mask", 0x1, (1 << 32) - 1),
        simds=number("att_simd_select", 0xF, 0xF),
        consecutive=max(number("att_consecutive_kernels", 1, 1 << 20), 1),
        gpus=gpus,
    )


def read_jobs(path: Path) -> list[dict[str, Any]]:
    """The jobs of an input file: YAML or JSON with a list `jobs`, or lines `pmc: A B`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the input file {path}: {error}") from None
    if path.suffix == ".txt":
        return _text_jobs(text, path)
    try:
        document = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        what = str(error).splitlines()[0]
        raise BadInput(f"{path} cannot be read as {path.suffix[1:] or 'YAML'}: {what}") from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise BadInput(f"{path} has no list of jobs", hint="jobs: [{pmc: [SQ_WAVES]}]")
    known = set(vars(parser().parse_args([]))) | {"advanced_thread_trace"}
    for i, job in enumerate(jobs, 1):
        unknown = sorted(str(key) for key in job if key not in known)
        if unknown:
            raise BadInput(f"{path}: job {i} has an unknown key {unknown[0]}")
    return jobs


def _text_jobs(text: str, path: Path) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        key, colon, rest = line.partition(":")
        if key.strip() != "pmc" or not colon or not rest.split():
            raise BadInput(f"{path}:{number}: expected `pmc: COUNTER ...`")
        jobs.append({"pmc": rest.split()})
    if not jobs:
        raise BadInput(f"{path} has no line `pmc: COUNTER ...`")
    return jobs
