"""Relocatable device code (-fgpu-rdc): device bitcode travels inside host objects.

Each object carries its device bitcode in the section `.llvm.offloading`; at link time the bitcode
of all objects is linked per architecture, and one fat binary serves every translation unit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm_perf_lab.codeobject.bundle import read_bundle, write_bundle
from rocm_perf_lab.codeobject.elf import Elf, archive_members, is_archive, is_elf
from rocm_perf_lab.device.device_library import device_libraries

if TYPE_CHECKING:
    from rocm_perf_lab.device.toolchain_args import Input
    from rocm_perf_lab.device.toolchain_build import Build

SECTION = ".llvm.offloading"
FATBIN_PREFIX = "__hip_fatbin"
HANDLE_PREFIX = "__hip_gpubin_handle"


def device_image(build: Build, source: Input, stem: str) -> Path:
    """A bundle of bitcode, one entry per architecture."""
    images: list[tuple[str, bytes]] = []
    for arch in build.archs:
        path = build.temp(f"{stem}-{arch.replace(':', '_')}.bc")
        what = ["-c", "-emit-llvm"]
        build.run(build.device_command(source.path, arch, what, str(path)))
        images.append((arch, b"" if build.command.dry_run else path.read_bytes()))
    target = build.temp(f"{stem}-rdc.bundle")
    if not build.command.dry_run:
        target.write_bytes(write_bundle(images))
    return target


def link_device(build: Build, files: list[str]) -> list[str]:
    """Link all device bitcode; returns what the host link needs in addition."""
    if build.command.dry_run:
        return []
    bitcode: dict[str, list[Path]] = {}
    fatbins: set[str] = set()
    handles: set[str] = set()
    for name in files:
        path = Path(name)
        if not path.is_file():
            continue
        data = path.read_bytes()
        members = archive_members(data) if is_archive(data) else [data]
        for member in members:
            if not is_elf(member):
                continue
            elf = Elf(member)
            for section in elf.sections:
                if section.name != SECTION:
                    continue
                for entry in read_bundle(elf.content(section)):
                    if entry.arch and entry.image:
                        found = bitcode.setdefault(entry.arch, [])
                        at = build.work / f"rdc-{len(found)}-{entry.arch.replace(':', '_')}.bc"
                        at.write_bytes(entry.image)
                        found.append(at)
            for symbol in elf.symbols():
                if not symbol.defined and symbol.name.startswith(FATBIN_PREFIX):
                    fatbins.add(symbol.name)
                if not symbol.defined and symbol.name.startswith(HANDLE_PREFIX):
                    handles.add(symbol.name)
    if not fatbins:
        return []
    images: list[tuple[str, bytes]] = []
    for arch, parts in sorted(bitcode.items()):
        images.append((arch, _link_arch(build, arch, parts)))
    bundle = build.work / "rdc.hipfb"
    bundle.write_bytes(write_bundle(images))
    return [str(_stub(build, bundle, sorted(fatbins), sorted(handles)))]


def _link_arch(build: Build, arch: str, parts: list[Path]) -> bytes:
    out = build.work / f"rdc-{arch.replace(':', '_')}.out"
    libraries = device_libraries(build.toolchain, arch, build.command.device_lib)
    cpu = arch.partition(":")[0]
    build.run(
        [
            *build.toolchain.lld,
            *("-m", "elf64_amdgpu", "--no-undefined", "-shared", f"-plugin-opt=mcpu={cpu}"),
            *("-plugin-opt=O3", "--lto-CGO3", "-plugin-opt=-amdgpu-internalize-symbols"),
            *(f"-plugin-opt={option}" for option in build.scheduling()),
            *("-o", str(out), *map(str, parts)),
            # AMD's functions are named as ours are: the first that is found counts.
            *("-z", "muldefs", "--start-lib", *map(str, libraries), "--end-lib"),
        ]
    )
    return out.read_bytes()


def _stub(build: Build, bundle: Path, fatbins: list[str], handles: list[str]) -> Path:
    """Assembly that defines the fat binary and the registration handle under all their names."""
    source, target = build.work / "rdc-fatbin.s", build.work / "rdc-fatbin.o"
    lines = ['  .section .hip_fatbin,"a",@progbits', "  .p2align 12"]
    for name in fatbins:
        lines += [f"  .globl {name}", f"  .hidden {name}", f"{name}:"]
    escaped = str(bundle).replace("\\", "\\\\").replace('"', '\\"')
    lines += [f'  .incbin "{escaped}"', "  .data", "  .p2align 3"]
    for name in handles:
        lines += [f"  .globl {name}", f"  .hidden {name}", f"{name}:"]
    lines += ["  .quad 0", '  .section .note.GNU-stack,"",@progbits', ""]
    source.write_text("\n".join(lines))
    build.run([*build.toolchain.clang, "-c", "-x", "assembler", str(source), "-o", str(target)])
    return target
