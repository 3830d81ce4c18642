"""The documentation says what the code does: help texts, schemas, links, one page per command.

Wording of help and layout of schemas differ a little between versions of typer and pydantic:
options and fields are compared always, every byte where the versions are those the pages were
made with.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocm_perf_lab.cli.main import COMMANDS
from support import command_lines

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
assert _spec is not None and _spec.loader is not None
generate: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


@pytest.mark.parametrize("command", ["", *sorted(COMMANDS)])
def test_every_command_has_a_page_with_its_help(command: str) -> None:
    text = (ROOT / "docs" / f"{command or 'commands'}.md").read_text("utf-8")
    blocks = {match["command"]: match[0] for match in generate.BLOCK.finditer(text)}
    live = generate.help_of(command)
    assert options(blocks[command]) >= options(live), "run python docs/generate.py"
    if not command:
        assert all(f"  {name} " in blocks[command] for name in COMMANDS)


def fields(schema: dict[str, Any]) -> dict[str, list[str]]:
    models = {**schema.get("$defs", {}), "": schema}
    return {name: sorted(model.get("properties", {})) for name, model in models.items()}


def test_the_published_schemas_have_the_fields_of_the_models() -> None:
    published = {p.name for p in (ROOT / "docs" / "schema").iterdir()}
    live = generate.schemas()
    assert {Path(name).name for name in live} == published, "run python docs/generate.py"
    for name, text in live.items():
        shown = json.loads((ROOT / "docs" / name).read_text("utf-8"))
        assert fields(shown) == fields(json.loads(text)), f"{name}: run python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    without_code = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", without_code):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_commands_on_all_pages_exist_with_their_options() -> None:
    lines = [line for page in PAGES for line in command_lines.in_text(page.read_text("utf-8"))]
    assert len(lines) > 100
    assert {line: found for line in lines if (found := command_lines.mistakes(line))} == {}


def test_what_is_generated_is_up_to_date() -> None:
    made = generate.MADE_WITH.search((ROOT / "docs" / "commands.md").read_text("utf-8"))
    if made[0] != generate.made_with():
        pytest.skip(f"the pages were {made[0][5:-4]}; here it is {generate.made_with()[15:-4]}")
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def in_nav(entries: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in entries:
        (target,) = entry.values()
        found += in_nav(target) if isinstance(target, list) else [target]
    return found


def test_the_site_leads_to_every_page_once() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    pages = sorted(p.name for p in (ROOT / "docs").glob("*.md"))
    assert sorted(in_nav(config["nav"])) == pages
    assert config["theme"]["font"] is False, "fonts would be fetched from elsewhere"
    titles = " ".join(next(iter(entry)) for entry in config["nav"])
    for question in ("Why is my kernel slow", "no GPU", "Gate my CI"):
        assert question in titles
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    for question in ("Why is my kernel slow", "no AMD GPU", "Gate it in CI", "Triton kernel"):
        assert question in index


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) > 40
    outside = re.compile(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
    for page in pages:
        assert outside.findall(page.read_text("utf-8")) == [], page.name
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"(url\([\"']?|@import [\"']?)https?:", sheet.read_text("utf-8"))


def has_field(schema: dict[str, Any], path: str) -> bool:
    """Whether `kernels[].roofline.reason` leads to a field, whatever may be null on the way."""
    models = schema.get("$defs", {})

    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            return resolved(models[node["$ref"].rsplit("/", 1)[1]])
        for option in node.get("anyOf", []):
            if option.get("type") != "null":
                return resolved(option)
        return node

    node = schema
    for name in path.split("."):
        fields = resolved(node).get("properties", {})
        if name.removesuffix("[]") not in fields:
            return False
        node = resolved(fields[name.removesuffix("[]")])
        if name.endswith("[]"):
            if "items" not in node:
                return False
            node = node["items"]
    return True


def test_the_page_on_files_names_every_schema_and_only_fields_that_exist() -> None:
    text = (ROOT / "docs" / "files.md").read_text("utf-8")
    linked = set(re.findall(r"\(schema/([\w.]+)\)", text))
    assert linked == {p.name for p in (ROOT / "docs" / "schema").iterdir()}
    checked = 0
    for section in text.split("\n## ")[1:]:
        named = re.findall(r"\(schema/([\w.]+)\)", section)
        rows = re.findall(r"^(\| `([^`]+)`.*)$", section, re.MULTILINE)
        for row, first in rows:
            schema = json.loads((ROOT / "docs" / "schema" / named[0]).read_text("utf-8"))
            for path in (first, *re.findall(r"`([\w\[\]]+\.[\w.\[\]]+)`", row)):
                assert has_field(schema, path), f"{named[0]} has no {path}"
                checked += 1
    assert checked > 60
