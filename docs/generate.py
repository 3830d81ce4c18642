"""Regenerate what the documentation derives from the code: help texts, tables, JSON Schemas.

    python docs/generate.py            # rewrite
    python docs/generate.py --check    # exit 1 and name what is out of date

What was it made with stands in commands.md, since wording of help texts and layout of schemas
differ a little between versions of typer and pydantic. A help text stands between `<!-- help: COMMAND -->` and `<!-- /help -->`; a page for a command
that has none is a mistake. A table stands between `<!-- table: NAME -->` and `<!-- /table -->`.
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
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "src"))

from rocm_perf_lab import schema as schema_package  # noqa: E402
from rocm_perf_lab.arch import load, modelled_error  # noqa: E402
from rocm_perf_lab.arch.counters import metric_set  # noqa: E402
from rocm_perf_lab.cli import main as cli  # noqa: E402
from rocm_perf_lab.optimize.measure import CLASSES, error_of_kind  # noqa: E402
from rocm_perf_lab.schema.common import Document, Model  # noqa: E402
from rocm_perf_lab.virtual.model_parameters import by_device  # noqa: E402

MADE_WITH = re.compile(r"<!-- made with: .*? -->")
BLOCK = re.compile(r"(<!-- help: ?(?P<command>[^>]*?) ?-->\n).*?(<!-- /help -->)", re.DOTALL)

TABLE = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def rows(titles: str, found: Iterable[Iterable[object]]) -> str:
    """A Markdown table; `|` within a cell would end it."""
    lines = [f"| {titles} |", "|" + "---|" * (titles.count("|") + 1)]
    lines += ["| " + " | ".join(str(c).replace("|", "/") for c in row) + " |" for row in found]
    return "\n".join(lines) + "\n"


def ceilings() -> str:
    gpu = load.gpu("MI300X")
    found = []
    for kind in (gpu.measured, gpu.datasheet):
        for name, q in kind.items():
            found.append((f"`{name}`", f"{q.value:,.0f}", q.unit, q.kind, q.source))
    return rows("ceiling | value | unit | kind | source", found)


def counter_formulas() -> str:
    wanted = re.compile(r"(valu|mfma)_[a-z]*\d+$|(fabric_(read|write)|l2|l1|lds)_bytes$")
    return rows(
        "amount | unit | from counters (the first that were recorded)",
        (
            (f"`{m.name}`", m.unit, "<br>".join(f"`{formula.text}`" for formula in m.formulas))
            for m in metric_set("cdna3").metrics.values()
            if wanted.match(m.name)
        ),
    )


def model_evidence() -> str:
    """On what the parameters of the virtual MI300X's timing model rest."""
    names: dict[str, list[str]] = {}
    for name, parameter in by_device()["virtual:mi300x"].items():
        names.setdefault(parameter["kind"], []).append(f"`{name}`")
    found = sorted(names.items(), key=lambda item: -len(item[1]))
    return rows(
        "rests on | parameters | which",
        ((kind, len(which), ", ".join(sorted(which))) for kind, which in found),
    )


def model_errors() -> str:
    """The table that benchmarks/model_error.py prints, where it stands."""
    text = (DOCS / "virtual-model.md").read_text("utf-8").split("### Kernel times, MI300A\n")[1]
    found = re.search(r"^\|.*?(?=\n\n)", text, re.DOTALL | re.MULTILINE)
    if found is None or "| worst |" not in found[0]:
        raise SystemExit("docs/virtual-model.md has no table of errors by program any more")
    return found[0] + "\n"


def speedup_errors() -> str:
    found = ((kind, f"{100 * error_of_kind(kind):.0f} %") for kind in CLASSES)
    return rows("kind of change | a modelled gain must exceed, beyond `--min-speedup`", found)


def error_classes() -> str:
    """What a modelled kernel time is worth, by class."""
    found = []
    for kind, error in modelled_error.model_errors().classes.items():
        typical, worst = (
            "not known" if e is None else f"{100 * e:.1f} %" for e in (error.typical, error.worst)
        )
        why = error.source or error.reason
        found.append((f"`{kind}`", error.words, error.rows, typical, worst, why))
    return rows("class | kernels | rows | median | worst | from", found)


TABLES: dict[str, Callable[[], str]] = {
    "ceilings": ceilings,
    "counter-formulas": counter_formulas,
    "error-classes": error_classes,
    "model-evidence": model_evidence,
    "model-errors": model_errors,
    "speedup-errors": speedup_errors,
}


def made_with() -> str:
    return f"<!-- made with: typer {version('typer')}, pydantic {version('pydantic')} -->"


def help_of(command: str) -> str:
    os.environ["COLUMNS"] = "80"
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        cli.main([*command.split(), "--help"])
    if not out.getvalue().strip():
        raise SystemExit(f"rocm-perf {command} --help printed nothing: is all of it installed?")
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def page(text: str) -> str:
    def block(match: re.Match[str]) -> str:
        command = match["command"]
        shown = f"rocm-perf {command} --help".replace("  ", " ")
        return f"{match[1]}```text\n$ {shown}\n{help_of(command)}\n```\n{match[3]}"

    text = TABLE.sub(lambda m: f"{m[1]}{TABLES[m['name']]()}{m[3]}", text)
    return MADE_WITH.sub(made_with(), BLOCK.sub(block, text))


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
