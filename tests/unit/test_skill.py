"""SKILL.md: the format's front matter, and no command or option that does not exist."""

from __future__ import annotations

import re
import subprocess
import sys

import yaml

from rocm_perf_lab.cli.main import COMMANDS, EXIT_CODES, PASS_THROUGH
from rocm_perf_lab.cli.skill import FOLDER
from support import command_lines

TEXT = (FOLDER / "SKILL.md").read_text("utf-8")
_, FRONT, BODY = TEXT.split("---\n", 2)


def test_the_front_matter_is_what_the_format_asks() -> None:
    head = yaml.safe_load(FRONT)
    assert head["name"] == FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"]) and len(head["name"]) <= 64
    assert 0 < len(head["description"]) <= 1024
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert len(BODY.splitlines()) < 500


def test_every_command_and_option_exists() -> None:
    lines = command_lines.in_text(BODY)
    assert len(lines) > 20
    assert [mistake for line in lines for mistake in command_lines.mistakes(line)] == []


def test_options_named_alone_belong_to_a_command() -> None:
    everywhere: set[str] = set()
    for name in set(COMMANDS) - PASS_THROUGH:
        for sub in (None, *command_lines.subcommands(name)):
            everywhere |= command_lines.options(name, sub)
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
