"""hipcc's command line, sorted into what each step needs. No I/O but response files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import UsageError

HIP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C", ".cu", ".hip", ".CPP"})
OTHER_SOURCES = {".c": "c", ".s": "assembler", ".S": "assembler-with-cpp", ".i": "cpp-output"}

# Options whose value is the next word.
WITH_VALUE = frozenset(
    "-o -x -I -D -U -L -l -include -imacros -isystem -iquote -idirafter -iprefix -isysroot "
    "-MF -MT -MQ -MJ -Xclang -Xlinker -Xpreprocessor -Xassembler -Xarch_host -Xarch_device "
    "-mllvm -T -u -z -e "
    "--param -target --sysroot -arch -framework -working-directory -stdlib++-isystem "
    "-rpath --offload-arch --amdgpu-target --rocm-path --hip-path --cuda-path".split()
)
LINK_PREFIXES = ("-l", "-L", "-Wl,", "-T", "-z", "-u", "-fuse-ld=", "-rtlib=", "--ld-path=")
LINK_WORDS = frozenset(
    "-shared -static -static-libgcc -static-libstdc++ -rdynamic -s -pie -no-pie -nostdlib "
    "-nodefaultlibs -nostartfiles -r -static-pie -shared-libgcc".split()
)
# Ours to decide, or meaningless without ROCm: taken off the line.
DROPPED = frozenset(
    "-nogpulib -nogpuinc --hip-link --genco -use-staticlib --use-staticlib -use-sharedlib "
    "-no-hip-rt --no-gpu-bundle-output --gpu-bundle-output --short -fno-gpu-rdc "
    "--offload-compress --no-offload-compress -no-offload-compress --offload-new-driver "
    "--no-offload-new-driver --rocm-path --hip-path --cuda-path "
    "-fhip-new-launch-api".split()
)
DROPPED_PREFIXES = (
    "--rocm-path=", "--hip-path=", "--hip-version=", "--rocm-device-lib-path=", "--cuda-path=",
    "--hip-device-lib-path=", "--hip-device-lib=", "--offload-compression-level=",
)  # fmt: skip
# What the linker must hear of as well.
BOTH_STEPS = frozenset("-pthread -fopenmp -m32 -m64 -flto".split())
BOTH_STEPS_PREFIXES = (
    "-fsanitize", "-fopenmp", "--coverage", "-stdlib=", "-pg", "-fprofile", "--sysroot=",
)  # fmt: skip
QUESTIONS = frozenset(
    "--version -dumpversion -dumpmachine --print-targets --help -print-search-dirs "
    "--print-shim-dir -print-resource-dir".split()
)
# Words that say something about the whole command.
SETTINGS: dict[str, dict[str, Any]] = {
    **{word: {"stage": "object"} for word in ("-c", "--compile")},
    **{word: {"stage": "assembly"} for word in ("-S", "--assemble")},
    **{word: {"stage": "preprocess"} for word in ("-E", "--preprocess")},
    **{word: {"stage": "dependencies"} for word in ("-M", "-MM")},
    **{word: {"side": "device"} for word in ("--offload-device-only", "--cuda-device-only")},
    **{word: {"side": "host"} for word in ("--offload-host-only", "--cuda-host-only")},
    "--offload-host-device": {"side": "both"},
    "--genco": {"genco": True, "side": "device"},
    "--no-gpu-bundle-output": {"bundle_output": False},
    "-no-hip-rt": {"runtime": False},
    "-fgpu-rdc": {"rdc": True},
    "--emit-static-lib": {"static_library": True},
    "-emit-llvm": {"emit_llvm": True},
    **{
        f"{dash}save-temps{at}": {"save_temps": "cwd"}
        for dash in ("-", "--")
        for at in ("", "=cwd")
    },
    **{f"{dash}save-temps=obj": {"save_temps": "obj"} for dash in ("-", "--")},
    "-v": {"verbose": True},
    "-###": {"verbose": True, "dry_run": True},
    **{word: {"question": word} for word in QUESTIONS},
}
DEPENDENCY_WORDS = frozenset("-M -MM -MD -MMD -MP -MG -MV".split())


@dataclass(frozen=True)
class Input:
    path: str
    language: str  # "hip", "c", "c++", "assembler", ... or "" for what only the linker reads


@dataclass(frozen=True)
class Command:
    """What one call of hipcc asks for."""

    stage: str = "link"  # link, object (-c), assembly (-S), preprocess (-E), dependencies (-M)
    output: str | None = None
    inputs: tuple[Input, ...] = ()
    archs: tuple[str, ...] = ()
    compile_flags: tuple[str, ...] = ()  # both sides
    host_flags: tuple[str, ...] = ()
    device_flags: tuple[str, ...] = ()
    dependency_flags: tuple[str, ...] = ()
    link_line: tuple[str, ...] = ()  # objects and libraries in their order; inputs as "\0index"
    side: str = "both"  # both, host, device
    bundle_output: bool = True
    genco: bool = False
    rdc: bool = False
    emit_llvm: bool = False
    static_library: bool = False  # --emit-static-lib: an archive in place of a program
    save_temps: str = ""  # "", "cwd" or "obj"
    verbose: bool = False
    dry_run: bool = False
    runtime: bool = True  # link libamdhip64
    jobs: int = 1
    device_lib: str = ""  # --rocm-perf-device-lib: own, amd, auto or a folder
    question: str = ""  # "--version" and the like: answered without compiling


def expand_response_files(args: Sequence[str], depth: int = 0) -> list[str]:
    words: list[str] = []
    for arg in args:
        if not arg.startswith("@") or not Path(arg[1:]).is_file():
            words.append(arg)
            continue
        if depth > 8:
            raise UsageError(f"response files nest too deep at {arg}")
        words += expand_response_files(shlex.split(Path(arg[1:]).read_text()), depth + 1)
    return words


def parse(args: Sequence[str]) -> Command:
    """Sort the words. Unknown options go to the compiler as they are."""
    sorter = _Sorter()
    words = iter(expand_response_files(args))
    for word in words:
        value = ""
        if word in WITH_VALUE or word.startswith("-Xarch_gfx") or word == "-Xoffload-linker":
            value = next(words, "")
            if not value and word in WITH_VALUE:
                raise UsageError(f"hipcc: option {word} needs a value")
        sorter.take(word, value)
    return sorter.command()


class _Sorter:
    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.language = ""  # -x, for the inputs after it
        self.inputs: list[Input] = []
        self.archs: list[str] = []
        self.both: list[str] = []
        self.host: list[str] = []
        self.device: list[str] = []
        self.depends: list[str] = []
        self.link: list[str] = []

    def take(self, word: str, value: str) -> None:
        if not word.startswith("-") or word == "-":
            self.inputs.append(Input(word, self.language or _language(word)))
            self.link.append(f"\0{len(self.inputs) - 1}")
            return
        steps = (self._whole, self._dependencies, self._architectures, self._one_side, self._link)
        if not any(step(word, value) for step in steps):
            self.both += [word, value] if value else [word]
            if word in BOTH_STEPS or word.startswith(BOTH_STEPS_PREFIXES):
                self.link.append(word)

    def _whole(self, word: str, value: str) -> bool:
        """What concerns the command as a whole; some of it is said again to other steps."""
        if word == "-o" or (word.startswith("-o") and not word.startswith("-objc")):
            self.settings["output"] = value or word[2:]
        elif word == "-x" or (word.startswith("-x") and len(word) > 2):
            chosen = value or word[2:]
            self.language = {"none": "", "cu": "hip", "cuda": "hip"}.get(chosen, chosen)
        elif word.startswith("--rocm-perf-device-lib="):
            self.settings["device_lib"] = word.partition("=")[2]
        elif word.startswith("-parallel-jobs="):
            self.settings["jobs"] = _number(word)
        elif word in SETTINGS:
            self.settings |= SETTINGS[word]
            return word not in DEPENDENCY_WORDS
        else:
            return False
        return True

    def _dependencies(self, word: str, value: str) -> bool:
        mine = word in DEPENDENCY_WORDS or word.startswith(("-MF", "-MT", "-MQ")) or word == "-MJ"
        if mine:
            self.depends += [word, value] if value else [word]
        return mine

    def _architectures(self, word: str, value: str) -> bool:
        name, _, given = word.partition("=")
        names = (value or given).split(",")
        if name in ("--offload-arch", "--amdgpu-target"):
            self.archs += names
        elif name == "--no-offload-arch":
            self.archs = [] if "all" in names else [a for a in self.archs if a not in names]
        else:
            return False
        return True

    def _one_side(self, word: str, value: str) -> bool:
        if word == "-Xarch_host":
            self.host.append(value)
        elif word == "-Xarch_device" or word.startswith("-Xarch_gfx"):
            self.device.append(value)
        else:
            return (
                word == "-Xoffload-linker" or word in DROPPED or word.startswith(DROPPED_PREFIXES)
            )
        return True

    def _link(self, word: str, value: str) -> bool:
        if word == "-rpath":
            self.link.append(f"-Wl,-rpath,{value}")
        elif word in LINK_WORDS or word.startswith(LINK_PREFIXES) or word == "-Xlinker":
            self.link += [word, value] if value else [word]
        else:
            return False
        return True

    def command(self) -> Command:
        found = Command(
            **self.settings,
            inputs=tuple(self.inputs),
            archs=tuple(dict.fromkeys(arch for arch in self.archs if arch)),
            compile_flags=tuple(self.both),
            host_flags=tuple(self.host),
            device_flags=tuple(self.device),
            dependency_flags=tuple(self.depends),
            link_line=tuple(self.link),
        )
        return replace(found, stage="object") if found.genco and found.stage == "link" else found


def _language(path: str) -> str:
    name = Path(path).name
    suffix = Path(name).suffix
    if suffix in HIP_SUFFIXES:
        return "hip"
    if suffix in OTHER_SOURCES:
        return OTHER_SOURCES[suffix]
    if suffix in (".bc", ".ll"):
        return "ir"
    return ""


def _number(word: str) -> int:
    text = word.partition("=")[2]
    if not text.isdigit():
        raise UsageError(f"hipcc: {word}: not a number")
    return max(1, min(int(text), 64))
