"""Every exchange with a model as one file, so that a run can be replayed without the network.

A recorded exchange holds the exact request body and the reply as it was taken in: no header that
carries a key, and no key even where a server repeats it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema.common import Versioned


class Exchange(Versioned):
    url: str
    request: str
    status: int
    reply: str

    @property
    def key(self) -> str:
        return request_key(self.url, self.request)


def request_key(url: str, request: str) -> str:
    return hashlib.sha256(f"{url}\n{request}".encode()).hexdigest()


@dataclass
class Recorder:
    """Writes exchanges into a folder, numbered in the order they happened."""

    folder: Path

    def keep(self, exchange: Exchange) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(p.name[:6]) for p in _files(self.folder)), default=0)
        name = f"{number:06d}-{exchange.key[:16]}.json"
        text = json.dumps(exchange.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
        write_file(self.folder / name, text)
        return name


class Replay:
    """Answers requests from a folder of recorded exchanges, each once, in their order."""

    def __init__(self, folder: Path) -> None:
        self._waiting: dict[str, list[tuple[str, Exchange]]] = {}
        self.first: Exchange | None = None
        files = _files(folder)
        if not files:
            raise BadInput(f"{folder} holds no recorded exchanges")
        for path in files:
            try:
                exchange = Exchange.model_validate_json(path.read_text("utf-8"))
            except (OSError, ValidationError, UnicodeDecodeError) as error:
                raise BadInput(f"{path} is not a recorded exchange") from error
            self.first = self.first or exchange
            self._waiting.setdefault(exchange.key, []).append((path.name, exchange))

    def next(self, url: str, request: str) -> tuple[str, Exchange]:
        found = self._waiting.get(request_key(url, request), [])
        if not found:
            raise BadInput(
                "the run asks something that was not recorded",
                hint="a replay needs the same program, profile and settings as the recorded run",
            )
        return found.pop(0)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9][0-9][0-9][0-9][0-9][0-9]-*.json"))
