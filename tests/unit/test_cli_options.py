"""The commands agree: one option, one meaning; every help ends with something to copy."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.cli.main import COMMANDS
from support.cli import commands

# Options whose words rightly differ from command to command, and why.
OWN_WORDS = {
    "--att": "profile takes one, the others read one",
    "--build": "optimize runs it, prompt only wants its flags, autotune has one per configuration",
    "--budget": "of configurations, or of time",
    "--cache": "a file of autotune's, or the GPU's caches",
    "--confidence": "of an interval, or that a gain is real",
    "--format": "each command has its own",
    "--ignore-failure": "before a profile, or after a capture",
    "--iterations": "in all, or in each run",
    "--json": "some name the file that is printed",
    "--kernel": "capture must have one",
    "--min-speedup": "what counts as a difference, or what a gain must exceed",
    "--out": "a run's folder, a capture or a file",
    "--path": "the critical path, or a folder",
    "--quiet": "what is left to print",
    "--runs": "timing runs, or where kept runs are",
    "--timeout": "of a run, a program, a command, a replay",
    "--verify": "a command, or a tolerance",
}


def parameters() -> Iterator[tuple[str, Any]]:
    for name, command in commands():
        for parameter in command.params:
            yield name, parameter


def test_an_option_means_the_same_everywhere() -> None:
    said: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, parameter in parameters():
        for option in parameter.opts:
            if option.startswith("--"):
                said[option][str(parameter.help)].append(name)
    differ = {option: dict(texts) for option, texts in said.items() if len(texts) > 1}
    assert differ.keys() == OWN_WORDS.keys(), differ


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_help_has_examples_that_name_the_command(name: str) -> None:
    command = dict(commands())[name]
    assert "Examples:" in (command.epilog or "")
    assert f"rocm-perf {name}" in command.epilog


def test_what_follows_the_program_is_called_the_same() -> None:
    shown = {p.metavar for _, p in parameters() if p.name == "arguments"}
    assert shown == {"[--] ARGS", "[-- ARGS]..."}  # the second is autotune's, with --triton only


@pytest.mark.parametrize("name", ["profile ./a", "analyze a.db", "compare a b", "disasm a",
                                  "optimize ./a", "prompt ./a", "capture ./a"])  # fmt: skip
def test_a_broken_pattern_is_one_usage_error(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([*name.split(), "--kernel", "("])
    assert stop.value.code == 2
    assert "--kernel (: not a regular expression" in capsys.readouterr().err


def test_the_walk_above_misses_no_command() -> None:
    assert {name.split()[0] for name, _ in commands()} == set(COMMANDS) - {"hipcc"}


def test_a_programs_own_options_may_follow_it_without_dashes() -> None:
    for name, parameter in parameters():
        if parameter.name == "arguments" and name not in ("run", "autotune"):
            made = importlib.import_module(COMMANDS[name][0])
            assert made.arrange(dict(commands())[name], ["./app", "--own", "4"]) == [
                "./app", "--", "--own", "4",
            ], name  # fmt: skip


def test_auto_is_no_wish_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocm_perf_lab.device import discover
    from rocm_perf_lab.replay.session import choose_device

    monkeypatch.delenv("ROCM_PERF_DEVICE", raising=False)
    other = next(d for d in discover.devices() if d.architecture == "gfx90a")
    monkeypatch.setattr(discover, "devices", lambda: (other,))
    monkeypatch.setattr(discover, "choose", lambda *_: pytest.fail("the default is another"))
    assert choose_device("gfx90a", "auto") is other
    assert choose_device("gfx90a", None) is other
