"""Regenerate what the documentation derives from the code: help texts and JSON Schemas.

    python docs/generate.py            # rewrite
    python docs/generate.py --check    # exit 1 and name what is out of date

A help text stands between `<!-- help: COMMAND -->` and `<!-- /help -->`; a page for a command
that has none is a mistake.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "src"))

from rocm_perf_lab import schema as schema_package  # noqa: E402
from rocm_perf_lab.cli import main as cli  # noqa: E402
from rocm_perf_lab.schema.common import Document, Model  # noqa: E402

BLOCK = re.compile(r"(<!-- help: ?(?P<command>[^>]*?) ?-->\n).*?(<!-- /help -->)", re.DOTALL)


def help_of(command: str) -> str:
    os.environ["COLUMNS"] = "80"
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        cli.main([*command.split(), "--help"])
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def page(text: str) -> str:
    def block(match: re.Match[str]) -> str:
        command = match["command"]
        shown = f"rocm-perf {command} --help".replace("  ", " ")
        return f"{match[1]}```text\n$ {shown}\n{help_of(command)}\n```\n{match[3]}"

    return BLOCK.sub(block, text)


def schemas() -> dict[str, str]:
    """One per document, named after its file: ProfileDocument -> profile.schema.json."""
    found = {}
    for module in pkgutil.iter_modules(schema_package.__path__):
        members = vars(importlib.import_module(f"{schema_package.__name__}.{module.name}"))
        for name, model in members.items():
            if model is Document or not name.endswith("Document"):
                continue
            if inspect.isclass(model) and issubclass(model, Model):
                text = json.dumps(model.model_json_schema(), indent=2, sort_keys=True) + "\n"
                stem = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Document")).lower()
                found[f"schema/{stem}.schema.json"] = text
    return found


def generated() -> dict[Path, str]:
    files = {DOCS / name: text for name, text in schemas().items()}
    for path in sorted(DOCS.glob("*.md")):
        files[path] = page(path.read_text("utf-8"))
    return files


def main() -> int:
    stale = [
        path
        for path, text in generated().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(DOCS.parent)} is out of date: run python docs/generate.py")
        return 1 if stale else 0
    texts = generated()
    for path in stale:
        path.write_text(texts[path], "utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
