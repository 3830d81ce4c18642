"""hipcc's command line, sorted into what each step needs. No I/O but response files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
DEPENDENCY_ONLY = frozenset({"-M", "-MM"})
DEPENDENCY_BESIDE = frozenset({"-MD", "-MMD", "-MP", "-MG", "-MV"})


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
    command = Command()
    inputs: list[Input] = []
    archs: list[str] = []
    both: list[str] = []
    host: list[str] = []
    device: list[str] = []
    depends: list[str] = []
    link: list[str] = []
    language = ""
    words = iter(expand_response_files(args))
    for word in words:
        value = ""
        if word in WITH_VALUE:
            value = next(words, "")
            if not value:
                raise UsageError(f"hipcc: option {word} needs a value")
        if not word.startswith("-") or word == "-":
            inputs.append(Input(word, language or _language(word)))
            link.append(f"\0{len(inputs) - 1}")
        elif word == "-o" or (word.startswith("-o") and not word.startswith("-objc")):
            command = replace(command, output=value or word[2:])
        elif word in ("-c", "--compile"):
            command = replace(command, stage="object")
        elif word in ("-S", "--assemble"):
            command = replace(command, stage="assembly")
        elif word in ("-E", "--preprocess"):
            command = replace(command, stage="preprocess")
        elif word in DEPENDENCY_ONLY:
            command = replace(command, stage="dependencies")
            depends.append(word)
        elif word in DEPENDENCY_BESIDE:
            depends.append(word)
        elif word in ("-MF", "-MT", "-MQ", "-MJ"):
            depends += [word, value]
        elif word.startswith(("-MF", "-MT", "-MQ")):
            depends.append(word)
        elif word == "-x" or (word.startswith("-x") and len(word) > 2):
            chosen = value or word[2:]
            language = {"none": "", "cu": "hip", "cuda": "hip"}.get(chosen, chosen)
        elif word in ("--offload-arch", "--amdgpu-target"):
            archs += value.split(",")
        elif word.startswith(("--offload-arch=", "--amdgpu-target=")):
            archs += word.partition("=")[2].split(",")
        elif word.startswith("--no-offload-arch="):
            gone = word.partition("=")[2].split(",")
            archs = [] if "all" in gone else [arch for arch in archs if arch not in gone]
        elif word in ("--offload-device-only", "--cuda-device-only"):
            command = replace(command, side="device")
        elif word in ("--offload-host-only", "--cuda-host-only"):
            command = replace(command, side="host")
        elif word == "--offload-host-device":
            command = replace(command, side="both")
        elif word == "--genco":
            command = replace(command, genco=True, side="device")
        elif word == "--no-gpu-bundle-output":
            command = replace(command, bundle_output=False)
        elif word == "-no-hip-rt":
            command = replace(command, runtime=False)
        elif word == "-fgpu-rdc":
            command = replace(command, rdc=True)
        elif word == "--emit-static-lib":
            command = replace(command, static_library=True)
        elif word == "-emit-llvm":
            command = replace(command, emit_llvm=True)
        elif word in ("-save-temps", "--save-temps", "-save-temps=cwd", "--save-temps=cwd"):
            command = replace(command, save_temps="cwd")
        elif word in ("-save-temps=obj", "--save-temps=obj"):
            command = replace(command, save_temps="obj")
        elif word == "-v":
            command = replace(command, verbose=True)
        elif word == "-###":
            command = replace(command, verbose=True, dry_run=True)
        elif word.startswith("--rocm-perf-device-lib="):
            command = replace(command, device_lib=word.partition("=")[2])
        elif word.startswith("-parallel-jobs="):
            command = replace(command, jobs=_number(word))
        elif word in ("--version", "-dumpversion", "-dumpmachine", "--print-targets", "--help",
                      "-print-search-dirs", "--print-shim-dir", "-print-resource-dir"):  # fmt: skip
            command = replace(command, question=word)
        elif word == "-Xarch_host":
            host.append(value)
        elif word == "-Xarch_device":
            device.append(value)
        elif word.startswith("-Xarch_gfx"):
            device.append(next(words, ""))
        elif word == "-Xoffload-linker":
            next(words, "")
        elif word in DROPPED or word.startswith(DROPPED_PREFIXES):
            pass
        elif word in LINK_WORDS or word.startswith(LINK_PREFIXES) or word in ("-Xlinker", "-rpath"):
            if word == "-rpath":
                link.append(f"-Wl,-rpath,{value}")
            else:
                link += [word, value] if value else [word]
        else:
            both += [word, value] if value else [word]
            if word in ("-pthread", "-fopenmp", "-m32", "-m64", "-flto") or word.startswith(
                (
                    "-fsanitize",
                    "-fopenmp",
                    "--coverage",
                    "-stdlib=",
                    "-pg",
                    "-fprofile",
                    "--sysroot=",
                )
            ):
                link.append(word)
    if command.genco and command.stage == "link":
        command = replace(command, stage="object")
    return replace(
        command,
        inputs=tuple(inputs),
        archs=tuple(dict.fromkeys(arch for arch in archs if arch)),
        compile_flags=tuple(both),
        host_flags=tuple(host),
        device_flags=tuple(device),
        dependency_flags=tuple(depends),
        link_line=tuple(link),
    )


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
