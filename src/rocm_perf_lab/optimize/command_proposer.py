"""`--proposer command:./mine`: any program that reads the prompt's JSON and prints proposals."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.collect import process
from rocm_perf_lab.errors import MissingTool, UsageError
from rocm_perf_lab.optimize.answers import (
    MAX_ANSWER_BYTES,
    NotAnAnswer,
    parse_answer,
    repair_prompt,
    shown,
    to_proposals,
)
from rocm_perf_lab.optimize.masking import keys, masked
from rocm_perf_lab.optimize.proposal import Context, Proposal
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.prompt import AnswerDocument, PromptDocument

LIMIT_S = 300.0


class CommandProposer:
    """The program gets no shell and a limited time; what it says beside its answer is not kept."""

    name = "command"

    def __init__(self, command: str, tell: Callable[[str], None], limit_s: float = LIMIT_S) -> None:
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"--proposer command:{command}: {error}") from None
        if not self.words:
            raise UsageError("--proposer command: needs a program", "command:./mine")
        if shutil.which(self.words[0]) is None:
            raise MissingTool(f"--proposer command: {self.words[0]} is not a program")
        self.tell, self.limit_s = tell, limit_s

    def propose(self, context: Context) -> Iterable[Proposal]:
        answer = self._ask(context.prompt)
        if answer is not None:
            yield from to_proposals(answer, context, self.name, {"command": self.words[0]})

    def repair(
        self, context: Context, failed: Proposal, diagnostics: str, round_number: int
    ) -> Proposal | None:
        answer = self._ask(repair_prompt(context, failed, diagnostics, round_number))
        if answer is None:
            return None
        provenance = {"command": self.words[0], "repair": str(round_number)}
        return next(iter(to_proposals(answer, context, self.name, provenance)), None)

    def _ask(self, prompt: PromptDocument) -> AnswerDocument | None:
        with scratch.folder("rocm-perf-proposer-") as folder:
            asked, answered = Path(folder) / "prompt.json", Path(folder) / "answer.json"
            errors = Path(folder) / "errors.txt"
            asked.write_text(to_json(prompt), "utf-8")
            ended = self._run(asked, answered, errors)
            text = masked(answered.read_bytes().decode("utf-8", "replace"), keys())
            said = _last_line(errors)
        if ended is not None:
            self.tell(f"{self.words[0]} {ended}{said}")
            return None
        try:
            return parse_answer(text)
        except NotAnAnswer as problem:
            self.tell(f"{self.words[0]}: no proposals in what it printed: {shown(str(problem))}")
            return None

    def _run(self, asked: Path, answered: Path, errors: Path) -> str | None:
        """None where it ended well, else how it ended. Nothing that it started outlives it."""

        def printed_too_much(_: int = 0) -> str | None:
            if max(answered.stat().st_size, errors.stat().st_size) < MAX_ANSWER_BYTES:
                return None
            return f"printed more than {MAX_ANSWER_BYTES >> 20} MiB and was stopped"

        with asked.open("rb") as given:
            ended = process.run(
                self.words, answered, {}, self.limit_s, given, errors=errors,
                log_bytes=MAX_ANSWER_BYTES, object_to=printed_too_much,
            )  # fmt: skip
        if why := ended.objection or printed_too_much():
            return why
        if ended.exit_code is None:
            return f"was still running after {self.limit_s:g} s and was stopped"
        return None if ended.ok else f"ended with code {ended.exit_code}"


def _last_line(errors: Path) -> str:
    lines = errors.read_bytes()[-4096:].decode("utf-8", "replace").strip().splitlines()
    return f": {masked(shown(lines[-1]), keys())[:200]}" if lines else ""
