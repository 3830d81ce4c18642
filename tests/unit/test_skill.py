"""SKILL.md: the format's front matter, and no command or option that does not exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import typer
import yaml

from rocm_perf_lab.cli.main import COMMANDS, EXIT_CODES, PASS_THROUGH
from rocm_perf_lab.cli.skill import FOLDER

TEXT = (FOLDER / "SKILL.md").read_text("utf-8")
_, FRONT, BODY = TEXT.split("---\n", 2)


def code() -> list[str]:
    """Every command line in the text: in blocks, and in words set as code."""
    blocks = re.findall(r"```sh\n(.*?)```", BODY, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    words = re.findall(r"`(rocm-perf [^`]+)`", re.sub(r"```.*?```", "", BODY, flags=re.DOTALL))
    return [line for line in [*lines, *words] if line.startswith("rocm-perf")]


def parameters(words: list[str]) -> tuple[set[str], int]:
    """The options of a command, its subcommand's too, and how many words name the command."""
    module = __import__(COMMANDS[words[0]][0], fromlist=["app"])
    command = typer.main.get_command(module.app)
    options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    known = getattr(command, "commands", {})
    if not known or len(words) < 2 or words[1] not in known:
        return options, 1
    return options | {o for p in known[words[1]].params for o in (*p.opts, *p.secondary_opts)}, 2


def test_the_front_matter_is_what_the_format_asks() -> None:
    head = yaml.safe_load(FRONT)
    assert head["name"] == FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"]) and len(head["name"]) <= 64
    assert 0 < len(head["description"]) <= 1024
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert len(BODY.splitlines()) < 500


def test_every_command_and_option_exists() -> None:
    lines = code()
    assert len(lines) > 20
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        assert words[0] in COMMANDS, line
        if words[0] in PASS_THROUGH:
            continue
        own = words[: words.index("--")] if "--" in words else words
        options, named = parameters(own)
        for word in own[named:]:
            if word.startswith("--"):
                assert word in options, f"{line}: no option {word}"


def test_options_named_alone_belong_to_a_command() -> None:
    everywhere = set()
    for name in set(COMMANDS) - PASS_THROUGH:
        everywhere |= parameters([name])[0]
        command = typer.main.get_command(__import__(COMMANDS[name][0], fromlist=["app"]).app)
        for sub in getattr(command, "commands", {}):
            everywhere |= parameters([name, sub])[0]
    for option in re.findall(r"`(--[\w-]+)", BODY):
        assert option in everywhere, option


def test_the_exit_codes_are_those_of_the_program() -> None:
    for number, meaning in re.findall(r"(\d) ([a-z ]+)", EXIT_CODES):
        assert f"{number} {meaning.split(' for ')[0]}" in " ".join(BODY.split()), (number, meaning)


def test_the_command_prints_it_and_where_it_is() -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "rocm_perf_lab", "skill", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert run() == TEXT
    assert run("--path").strip() == str(FOLDER)
