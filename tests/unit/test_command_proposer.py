"""`--proposer command:`: any program, no shell, bounded in time and output."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from rocm_perf_lab.errors import MissingTool, UsageError
from rocm_perf_lab.optimize.command_proposer import CommandProposer
from support.catalogue import context

ECHO = """
import json, sys
prompt = json.load(sys.stdin)
kernel = prompt["kernel"]["text"].replace("  for (", "#pragma unroll 2\\n  for (")
title = "repaired" if prompt["repair"] else "unroll"
print(json.dumps({"proposals": [{"title": title, "kernel": kernel}]}))
"""


def proposer(
    script: str, tmp_path: Path, told: list[str], limit_s: float = 20.0
) -> CommandProposer:
    path = tmp_path / "mine.py"
    path.write_text(script)
    return CommandProposer(f"{sys.executable} {path}", told.append, limit_s)


def test_a_program_reads_the_prompt_and_prints_proposals(tmp_path: Path) -> None:
    made = proposer(ECHO, tmp_path, [])
    (proposal,) = made.propose(context("unroll"))
    assert "#pragma unroll 2" in proposal.source and proposal.title == "unroll"
    repaired = made.repair(context("unroll"), proposal, "error: ...", 1)
    assert repaired is not None and repaired.title == "repaired"


@pytest.mark.parametrize(
    ("script", "limit_s", "said"),
    [
        ("import sys; sys.exit('no idea')", 60.0, "ended with code 1: no idea"),
        ("print('hello')", 60.0, "not JSON"),
        ("import time; time.sleep(300)", 1.0, "still running after 1 s"),
        ("while True: print('y' * 1000)", 60.0, "MiB"),
        ("import os; os.kill(os.getpid(), 9)", 60.0, "ended with code -9"),
        ("print('\\x1b[2J')", 60.0, "not JSON"),
    ],
)
def test_a_program_that_does_not_answer_has_no_proposals(
    script: str, limit_s: float, said: str, tmp_path: Path
) -> None:
    told: list[str] = []
    began = time.monotonic()
    assert list(proposer(script, tmp_path, told, limit_s).propose(context())) == []
    assert time.monotonic() - began < 60.0
    assert said in told[0] and told[0].isprintable()


def test_the_shell_is_not_involved(tmp_path: Path) -> None:
    script = tmp_path / "args.py"
    script.write_text(
        "import json, sys\n"
        "print(json.dumps({'proposals': [{'title': sys.argv[1], 'kernel': 'x'}]}))\n"
    )
    made = CommandProposer(f"{sys.executable} {script} '$(id); a b'", lambda _: None)
    assert [p.title for p in made.propose(context())] == ["$(id); a b"]
    assert json.dumps(made.words).count("$(id)") == 1


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(MissingTool):
        CommandProposer("./no-such-program", print)
    with pytest.raises(UsageError):
        CommandProposer("", print)
    with pytest.raises(UsageError):
        CommandProposer("'unclosed", print)


def test_a_key_that_a_program_prints_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    told: list[str] = []
    script = (
        "import json, os; key = os.environ['OPENAI_API_KEY']\n"
        "print(json.dumps({'proposals': [{'title': key, 'rationale': key, 'kernel': key}]}))"
    )
    (proposal,) = proposer(script, tmp_path, told).propose(context())
    assert "[key]" in proposal.title and "sk-secret" not in repr(proposal)
    failing = "import os, sys; sys.exit(os.environ['OPENAI_API_KEY'])"
    assert list(proposer(failing, tmp_path, told).propose(context())) == []
    assert "[key]" in told[0] and "sk-secret" not in told[0]
