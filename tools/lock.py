"""requirements/*.txt from the ranges of pyproject.toml, with hashes, for every Python: `make lock`.

uv chooses the versions; pip installs them. `make demo` and `make test` use what is locked; the
package itself keeps its ranges.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each with the extras of pyproject.toml it holds. The later ones agree with the first.
LOCKS = {
    "test": ("dev", "toolchain"),
    "python-gpu": ("dev-python-gpu",),
    "docs": ("docs",),
}


def main(uv: str) -> None:
    first = "requirements/test.txt"
    for name, extras in LOCKS.items():
        target = f"requirements/{name}.txt"
        chosen = [word for extra in extras for word in ("--extra", extra)]
        agreeing = [] if target == first else ["--constraint", first]
        subprocess.run(
            [
                uv, "pip", "compile", "pyproject.toml", *chosen, *agreeing, "--universal",
                "--generate-hashes", "--no-annotate", "--python-version", "3.10", "--upgrade",
                "--quiet", "--custom-compile-command", "make lock", "--output-file", target,
            ],
            cwd=ROOT,
            check=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
