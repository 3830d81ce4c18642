"""rocprofv3's command line: what the installed one can do, and how to ask it.

Written for ROCm 6.2 to 10; what a version offers is read from its own `--help` and `--version`,
never assumed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.errors import MissingTool

# From rocprofiler-sdk 1.3.0 (ROCm 7.13) on, --pmc may be repeated: one pass per occurrence.
_REPEATED_PMC = (1, 3, 0)


@dataclass(frozen=True)
class Profiler:
    command: tuple[str, ...]
    version: str | None  # of rocprofiler-sdk
    rocm_version: str | None
    writes_rocpd: bool  # else its JSON is read
    takes_pmc: bool  # else counters go through an input file
    takes_att: bool
    repeats_pmc: bool
    takes_ranges: bool = False  # of a kernel's launches


def find(command: Sequence[str] | None = None) -> Profiler:
    """The installed rocprofv3, or the one given."""
    command = tuple(command or (_locate(),))
    version = _ask(command, "--version")
    help_text = _ask(command, "--help")
    sdk = _field(version, "version")
    return Profiler(
        command=command,
        version=sdk,
        rocm_version=_field(version, "rocm_version"),
        writes_rocpd="rocpd" in help_text,
        takes_pmc="--pmc" in help_text,
        takes_att=re.search(r"--att\b", help_text) is not None,
        takes_ranges="--kernel-iteration-range" in help_text,
        repeats_pmc=_version_tuple(sdk) >= _REPEATED_PMC,
    )


def installed() -> str | None:
    """Where ROCm's rocprofv3 is, if anywhere."""
    for candidate in _candidates():
        usable = os.access(candidate, os.X_OK) and Path(candidate).is_file()
        if usable and not _is_stand_in(Path(candidate)):
            return candidate
    return None


def is_wrapper(path: str) -> bool:
    """Whether this rocprofv3 stands outside any ROCm tree: somebody put it there on purpose.

    A script that runs AMD's elsewhere needs no GPU on this machine, so its absence says nothing.
    """
    library = Path(path).resolve().parent.parent / "lib"
    return not any(library.glob("librocprofiler-sdk*"))


def _is_stand_in(path: Path) -> bool:
    """Whether it is the virtual GPU's, put on PATH under AMD's name."""
    with path.open("rb") as file:
        return b"rocm_perf_lab.virtual.rocprofv3" in file.read(512)


def _locate() -> str:
    if found := installed():
        return found
    raise MissingTool(
        "rocprofv3 was not found on PATH, in $ROCM_PATH/bin or under /opt/rocm*",
        hint="install ROCm 6.2 or later (package rocprofiler-sdk), or use --no-rocprof "
        "to time the program from the host",
    )


def _candidates() -> Iterator[str]:
    if on_path := shutil.which("rocprofv3"):
        yield on_path
    for variable in ("ROCM_PATH", "ROCM_HOME"):
        if root := os.environ.get(variable):
            yield str(Path(root, "bin", "rocprofv3"))
    yield "/opt/rocm/bin/rocprofv3"
    yield from sorted(map(str, Path("/opt").glob("rocm-*/bin/rocprofv3")), reverse=True)


def _ask(command: tuple[str, ...], flag: str) -> str:
    try:
        answer = subprocess.run(
            [*command, flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingTool(f"{command[0]} {flag} does not work: {error}") from None
    return answer.stdout + answer.stderr


def _field(text: str, name: str) -> str | None:
    match = re.search(rf"^\s*{name}\s*:\s*(\S+)", text, re.MULTILINE)
    return match.group(1) if match else None


def _version_tuple(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version or "")[:3])


def trace_command(profiler: Profiler, out: Path, program: Sequence[str]) -> list[str]:
    """One run with kernel, HIP and copy tracing: times and dependencies."""
    flags = ["--kernel-trace", "--hip-trace", "--memory-copy-trace"]
    return [*profiler.command, *flags, *_output(profiler, out), "--", *program]


def counter_command(
    profiler: Profiler,
    groups: Sequence[Sequence[str]],
    out: Path,
    program: Sequence[str],
    kernel_regex: str | None = None,
) -> list[str]:
    """One run that collects `groups`; more than one group only where the version takes several."""
    flags: list[str] = []
    if profiler.takes_pmc:
        for group in groups:
            flags += ["--pmc", *group]
    else:
        job = out / "counters.txt"
        job.write_text("".join(f"pmc: {' '.join(group)}\n" for group in groups), "ascii")
        flags += ["-i", str(job)]
    if kernel_regex is not None:
        flags += ["--kernel-include-regex", kernel_regex]
    return [*profiler.command, *flags, *_output(profiler, out), "--", *program]


def att_command(
    profiler: Profiler,
    out: Path,
    program: Sequence[str],
    kernel_regex: str,
    target_cu: int | None = None,
    launch: int | None = None,
) -> list[str]:
    """One thread-trace run limited to one kernel, and to one launch of it (from 1)."""
    flags = ["--att", "--kernel-include-regex", kernel_regex]
    if launch is not None and profiler.takes_ranges:
        flags += ["--kernel-iteration-range", f"[{launch}-{launch}]"]
    if target_cu is not None:
        flags += ["--att-target-cu", str(target_cu)]
    # -o would leave out the pid, and several processes would then write one file.
    return [*profiler.command, *flags, "-d", str(out), "--", *program]


def _output(profiler: Profiler, out: Path) -> list[str]:
    return ["-d", str(out), "--output-format", "rocpd" if profiler.writes_rocpd else "json"]


def outputs(out: Path) -> list[Path]:
    """Every trace file a run left under its folder (one per process and pass)."""
    return sorted([*out.rglob("*_results.db"), *out.rglob("*_results.json")])


def kernel_regex(name: str) -> str:
    """A regular expression for one kernel: its name up to the parameter list.

    rocprofv3 matches with C++ ECMAScript rules anywhere in the name.
    """
    match = re.match(r"((?:\(anonymous namespace\)|[^(<])*)", name.removeprefix("void "))
    head = match.group(1).strip() if match else ""
    return re.sub(r"([][\\^$.|?*+(){}])", r"\\\1", head) or ".*"
