"""Run hipcc's steps: device code per architecture, bundle, host code, link.

The steps are the same for every clang, so that one that comes without ROCm's offload tools
(ziglang) works like one that has them.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.codeobject.bundle import device_id, write_bundle
from rocm_perf_lab.device import toolchain_rdc as rdc
from rocm_perf_lab.device.device_library import device_libraries
from rocm_perf_lab.device.host_library import link_environment
from rocm_perf_lab.device.toolchain import (
    DEFAULT_ARCH,
    Toolchain,
    device_flags,
    header_flags,
    include_dir,
    runtime_library_dir,
    scheduling_options,
)
from rocm_perf_lab.device.toolchain_args import Command, Input
from rocm_perf_lab.errors import BadInput, MissingTool, UsageError

TEXT_START = "# __CLANG_OFFLOAD_BUNDLE____START__ "
TEXT_END = "# __CLANG_OFFLOAD_BUNDLE____END__ "
HOST_TRIPLE = "host-x86_64-unknown-linux-gnu-"
# Their headers here are empty inline functions; ROCm's libraries are not needed.
MARKER_LIBRARIES = ("-lroctx64", "-lroctracer64", "-lrocprofiler-sdk-roctx")


class StepFailedError(Exception):
    """A compiler or linker said no; it has printed why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Build:
    toolchain: Toolchain
    command: Command
    work: Path
    say: Callable[[str], None]  # where -v and -### print

    # ---- steps

    def run(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        if self.command.verbose:
            self.say(" ".join(shlex.quote(word) for word in words))
        if self.command.dry_run:
            return
        try:
            done = subprocess.run(words, env=environment, check=False)
        except OSError as error:
            raise MissingTool(f"cannot run {words[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise StepFailedError(done.returncode if done.returncode > 0 else 1)

    @property
    def archs(self) -> tuple[str, ...]:
        given = self.command.archs or tuple(
            filter(None, os.environ.get("HCC_AMDGPU_TARGET", "").split(","))
        )
        return tuple(
            dict.fromkeys(DEFAULT_ARCH if arch == "native" else arch for arch in given)
        ) or (DEFAULT_ARCH,)

    def common(self, *, optimise: bool = True) -> list[str]:
        flags = [*header_flags(), *self.toolchain.host_flags, *self.command.compile_flags]
        # hipcc optimises unless told otherwise.
        if optimise and not any(flag.startswith("-O") for flag in self.command.compile_flags):
            flags.append("-O3")
        return flags

    def device_command(self, source: str, arch: str, what: Sequence[str], out: str) -> list[str]:
        skip = {"-fopenmp", "-fopenmp=libomp", "-pg", "--coverage", "-pthread"}
        common = [
            flag
            for flag in self.common()
            if flag not in skip
            and not flag.startswith(("-march=", "-mtune=", "-fsanitize", "-fprofile"))
        ]
        words = [*self.toolchain.clang, *device_flags(arch), *common, *self.command.device_flags]
        if not self.command.rdc:
            for library in device_libraries(self.toolchain, arch, self.command.device_lib):
                words += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(library)]
        words += [word for option in self.scheduling() for word in ("-mllvm", option)]
        words += self.unit_flags(source)
        return [*words, *what, source, "-o", out]

    def scheduling(self) -> tuple[str, ...]:
        given = (*self.command.compile_flags, *self.command.device_flags)
        return scheduling_options(self.toolchain, given)

    def code_object(self, source: Input, arch: str, stem: str) -> Path:
        """One source for one architecture: object, then a linked code object."""
        name = f"{stem}-hip-amdgcn-amd-amdhsa-{arch.replace(':', '_')}"
        if self.command.save_temps:
            self.run(self.device_command(source.path, arch, ["-S"], str(self.temp(f"{name}.s"))))
        made, linked = self.temp(f"{name}.o"), self.temp(f"{name}.out")
        # -S stops the driver before its own device link; -emit-obj makes the object after all.
        what = ["-S", "-Xclang", "-emit-obj"]
        self.run(self.device_command(source.path, arch, what, str(made)))
        self.run([*self.toolchain.lld, "-shared", "--no-undefined", "-o", str(linked), str(made)])
        return linked

    def bundle(self, source: Input, stem: str) -> Path:
        with ThreadPoolExecutor(self.command.jobs) as pool:
            objects = list(pool.map(lambda arch: self.code_object(source, arch, stem), self.archs))
        target = self.temp(f"{stem}.hipfb")
        if not self.command.dry_run:
            images = [(a, o.read_bytes()) for a, o in zip(self.archs, objects, strict=True)]
            target.write_bytes(write_bundle(images))
        return target

    def host_command(self, source: Input, what: Sequence[str], out: str) -> list[str]:
        words = [*self.toolchain.clang]
        if source.language == "hip":
            words += ["-x", "hip", "--offload-host-only", "-nogpulib", "-nogpuinc", *self.common()]
            words += self.unit_flags(source.path)
        else:
            words += ["-x", source.language, *self.plain_flags()]
        words += self.command.host_flags
        return [*words, *what, source.path, *(["-o", out] if out else [])]

    def unit_flags(self, source: str) -> list[str]:
        """Both sides name what they share by the translation unit, so it gets an id of its own.

        Every host object defines a symbol by that id: two objects with one id do not link, so
        the same source with other options is another unit.
        """
        words = (
            str(Path(source).resolve()),
            self.command.output or "",
            *self.command.compile_flags,
        )
        given = [f.removeprefix("-cuid=") for f in self.command.compile_flags if "-cuid=" in f]
        unit = given[-1] if given else hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
        rdc_flag = ["-fgpu-rdc"] if self.command.rdc else []
        return [*rdc_flag, "-fuse-cuid=none", "-Xclang", f"-cuid={unit}"]

    def plain_flags(self) -> list[str]:
        """For C and assembler: our include folders, without the HIP prelude."""
        flags = [
            *self.toolchain.host_flags,
            "-isystem",
            str(include_dir()),
            "-D__HIP_PLATFORM_AMD__=1",
        ]
        given = [
            flag
            for flag in self.command.compile_flags
            if not flag.startswith(("-std=c++", "-std=gnu++"))
        ]
        if not any(flag.startswith("-O") for flag in given):
            flags.append("-O3")
        return [*flags, *given]

    def temp(self, name: str) -> Path:
        if self.command.save_temps == "cwd":
            return Path(name)
        if self.command.save_temps == "obj" and self.command.output:
            return Path(self.command.output).parent / name
        return self.work / name

    # ---- whole sources

    def host_object(self, source: Input, stem: str, out: str, *, dependencies: bool = True) -> None:
        what = ["-c", *(self.dependencies(stem, out) if dependencies else [])]
        if source.language == "hip" and self.command.side == "both":
            if self.command.rdc:
                image = rdc.device_image(self, source, stem)
                what += ["-Xclang", f"-fembed-offload-object={image}"]
            else:
                fatbin = self.bundle(source, stem)
                what += ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(fatbin)]
        self.run(self.host_command(source, what, out))

    def dependencies(self, stem: str, out: str) -> list[str]:
        flags = list(self.command.dependency_flags)
        if any(flag in ("-MD", "-MMD") for flag in flags):
            if not any(flag.startswith("-MF") for flag in flags):
                base = Path(self.command.output).with_suffix("") if self.command.output else stem
                flags += ["-MF", f"{base}.d"]
            if not any(flag.startswith(("-MT", "-MQ")) for flag in flags):
                target = out if self.command.stage == "object" else f"{stem}.o"
                flags += ["-MT", target]
        return flags

    def assembly(self, source: Input, stem: str, out: str) -> None:
        """-S: both sides in one text, marked as clang's bundler marks them."""
        what = ["-S", *(["-emit-llvm"] if self.command.emit_llvm else [])]
        if source.language != "hip" or self.command.side == "host":
            self.run(self.host_command(source, what, out))
            return
        parts: list[tuple[str, Path]] = []
        for arch in self.archs:
            path = self.work / f"{stem}-{arch.replace(':', '_')}.s"
            self.run(self.device_command(source.path, arch, what, str(path)))
            parts.append((device_id(arch), path))
        if self.command.side == "both":
            path = self.work / f"{stem}-host.s"
            self.run(self.host_command(source, what, str(path)))
            parts.append((HOST_TRIPLE, path))
        if self.command.dry_run:
            return
        if len(parts) == 1:
            text = parts[0][1].read_text()
        else:
            text = "".join(
                f"\n{TEXT_START}{name}\n{path.read_text()}\n{TEXT_END}{name}\n"
                for name, path in parts
            )
        Path("/dev/stdout" if out == "-" else out).write_text(text)

    def device_only(self, source: Input, stem: str, out: str | None) -> None:
        """--genco, --offload-device-only -c: a bundle, or the bare code object."""
        if self.command.emit_llvm:
            target = out or f"{stem}-hip-amdgcn-amd-amdhsa-{self.archs[0]}.bc"
            what = ["-c", "-emit-llvm"]
            self.run(self.device_command(source.path, self.archs[0], what, target))
            return
        fatbin = self.bundle(source, stem)
        if self.command.dry_run:
            return
        if self.command.bundle_output:
            Path(out or f"{stem}-hip-amdgcn-amd-amdhsa.hipfb").write_bytes(fatbin.read_bytes())
            return
        if out and len(self.archs) > 1:
            raise UsageError("hipcc: -o with several architectures needs a bundle as output")
        for arch in self.archs:
            name = f"{stem}-hip-amdgcn-amd-amdhsa-{arch.replace(':', '_')}"
            Path(out or f"{name}.o").write_bytes(self.temp(f"{name}.out").read_bytes())

    def archive(self, objects: dict[int, str]) -> None:
        out = self.command.output or "a.out"
        if not self.command.dry_run:
            Path(out).unlink(missing_ok=True)  # ar would add to an old one
        self.run([*self.toolchain.ar, "rcs", out, *(objects[i] for i in sorted(objects))])

    def link(self, objects: dict[int, str]) -> None:
        command = self.command
        line: list[str] = []
        for word in command.link_line:
            line.append(objects[int(word[1:])] if word.startswith("\0") else word)
        extra: list[str] = []
        if command.rdc:
            files = [word for word in line if not word.startswith("-")]
            extra += rdc.link_device(self, files)
        line = [word for word in line if word not in MARKER_LIBRARIES]
        words = [*self.toolchain.link, *extra, *line, "-o", command.output or "a.out"]
        if command.runtime:
            folder = runtime_library_dir()
            if folder is None:
                raise MissingTool(
                    "libamdhip64 of the virtual GPU is not built",
                    "run `make native` in the repository, or reinstall the package",
                )
            words += ["-L", str(folder), f"-Wl,-rpath,{folder}", "-lamdhip64"]
        environment = None if command.dry_run else link_environment(self.toolchain, self.work)
        self.run([*words, "-lpthread", "-lm", "-ldl"], environment)


def _without_openmp(toolchain: Toolchain, command: Command, say: Callable[[str], None]) -> Command:
    """Host pragmas need clang's OpenMP runtime; without it they are left out, and it is said."""
    if not any(flag.startswith("-fopenmp") for flag in command.compile_flags):
        return command
    asked = [*toolchain.clang, "-print-file-name=libomp.so"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if Path(answer).is_absolute() and Path(answer).exists():
        return command
    if command.stage == "link":
        say("hipcc: this compiler has no OpenMP runtime (libomp): host pragmas run serially")

    def kept(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word for word in words if not word.startswith("-fopenmp"))

    return replace(
        command, compile_flags=kept(command.compile_flags), link_line=kept(command.link_line)
    )


def build(toolchain: Toolchain, command: Command, say: Callable[[str], None]) -> int:
    """Do what the command line asks; the exit code is the failing step's own."""
    command = _without_openmp(toolchain, command, say)
    if not command.inputs:
        raise UsageError("hipcc: no input files")
    for item in command.inputs:
        if item.path != "-" and not Path(item.path).exists():
            raise BadInput(f"hipcc: no such file: {item.path}")
    with scratch.folder("rocm-perf-hipcc-") as folder:
        try:
            _stages(Build(toolchain, command, folder, say))
        except StepFailedError as failed:
            return failed.code
    return 0


def _stages(build: Build) -> None:
    command = build.command
    sources = [(i, item) for i, item in enumerate(command.inputs) if item.language]
    if command.stage != "link" and command.output not in (None, "-") and len(sources) > 1:
        raise UsageError("hipcc: cannot use -o with several sources unless they are linked")
    if command.stage == "link" and command.side != "device":
        objects = {i: item.path for i, item in enumerate(command.inputs)}

        def compile_one(numbered: tuple[int, Input]) -> None:
            index, item = numbered
            stem = _stem(item)
            out = build.work / f"{index}-{stem}.o"
            build.host_object(item, stem, str(out))
            objects[index] = str(out)

        with ThreadPoolExecutor(command.jobs) as pool:
            list(pool.map(compile_one, sources))
        if command.static_library:
            build.archive(objects)
        else:
            build.link(objects)
        return
    for _, item in sources:
        stem, out = _stem(item), command.output
        if command.stage == "preprocess":
            _preprocess(build, item, out)
        elif command.stage == "dependencies":
            words = [*command.dependency_flags]
            build.run(build.host_command(item, words, out or ""))
        elif command.stage == "assembly":
            suffix = ".ll" if command.emit_llvm else ".s"
            build.assembly(item, stem, out or f"{stem}{suffix}")
        elif command.side == "device" and item.language == "hip":
            build.device_only(item, stem, out)
        else:
            build.host_object(item, stem, out or f"{stem}.o")


def _preprocess(build: Build, item: Input, out: str | None) -> None:
    what = ["-E", *build.command.dependency_flags]
    if build.command.side == "device" and item.language == "hip":
        build.run(build.device_command(item.path, build.archs[0], what, out or "-"))
    else:
        build.run(build.host_command(item, what, out or "-"))


def _stem(item: Input) -> str:
    return Path(item.path).stem if item.path != "-" else "stdin"
