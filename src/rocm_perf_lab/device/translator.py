"""What the virtual GPU starts for a kernel that stays hot (docs/translate.md).

`main` reads the kernel's description from a file descriptor and writes a shared object, whole or
not at all.
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from rocm_perf_lab.device import translation
from rocm_perf_lab.virtual.native import library_dir
from rocm_perf_lab.virtual.translate import emit, request

TIMEOUT_S = 600
KEPT_BYTES, KEPT_FILES = 512 << 20, 4096
SEAL = b"rplblk01"
# As the executor's own functions are compiled (native/CMakeLists.txt); no headers and no library.
FLAGS = (
    "-std=c++20", "-O2", "-fPIC", "-nostdinc", "-nostdinc++",
    "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fno-stack-protector", "-fno-sanitize=all", "-fno-strict-aliasing", "-w",
    # A lane function that is called, not taken apart, keeps a loop from becoming vector code.
    "-mllvm", "-inline-threshold=100000",
)  # fmt: skip


def _host_flags() -> list[str]:
    named = translation.LEVELS.get(translation.host(), "native")
    return [f"-march={named}", "-mprefer-vector-width=512"]


def _compile(source: Path, target: Path) -> None:
    clang, lld, environment = translation.compiler()
    headers, made = str(library_dir() / "lanes"), str(source.with_suffix(".o"))
    compiled = [*clang, "-x", "c++", *FLAGS, *_host_flags(), "-I", headers]
    for command in (
        [*compiled, "-c", str(source), "-o", made],
        [*lld, "-shared", made, "-o", str(target)],
    ):
        subprocess.run(
            command,
            check=True,
            timeout=TIMEOUT_S,
            cwd=target.parent,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )


def translate(text: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        source, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        source.write_text(emit.program(request.read(text)), encoding="utf-8")
        _compile(source, made)
        data = made.read_bytes()
        made.write_bytes(data + SEAL + struct.pack("<Q", translation.word_hash(data)))
        made.chmod(0o600)
        made.replace(target)


def _tidy(folder: Path) -> None:
    """The newest stay."""
    room, files = KEPT_BYTES, KEPT_FILES
    found = []
    for path in folder.glob("*.so"):
        with contextlib.suppress(OSError):
            seen = path.stat()
            found.append((seen.st_mtime, seen.st_size, path))
    for _, size, path in sorted(found, reverse=True):
        room, files = room - size, files - 1
        if room < 0 or files < 0:
            path.unlink(missing_ok=True)


def main() -> None:
    descriptor, target = int(sys.argv[1]), Path(sys.argv[2])
    with os.fdopen(descriptor, encoding="utf-8") as file:
        text = file.read()
    os.umask(0o077)
    translate(text, target)
    _tidy(target.parent)
