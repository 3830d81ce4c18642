"""One question over HTTP: bounded in time, size and number of tries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.optimize.answers import MAX_ANSWER_BYTES
from rocm_perf_lab.optimize.llm.endpoint import Endpoint
from rocm_perf_lab.optimize.llm.exchanges import MASK, Exchange, Recorder, Replay

TRIES = 5
REPLY_LIMIT_S = 180.0
LONGEST_WAIT_S = 60.0
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class NoReply(Exception):
    """The endpoint gave no usable reply in the time there was; the message says why."""


@dataclass
class Client:
    endpoint: Endpoint
    recorder: Recorder | None
    replay: Replay | None
    tell: Callable[[str], None]
    deadline: float  # of time.monotonic()
    reply_limit_s: float = REPLY_LIMIT_S
    first_wait_s: float = 1.0

    def ask(self, system: str, user: str) -> tuple[str, str]:
        """(the reply's body, the name of the recorded exchange)."""
        body = self.endpoint.body(system, user)
        if self.replay is not None:
            while True:
                name, exchange = self.replay.next(self.endpoint.url, body)
                if exchange.status not in RETRIED:
                    return self._checked(exchange), name
        return self._live(body)

    def _live(self, body: str) -> tuple[str, str]:
        problem = "no time was left"
        for attempt in range(TRIES):
            if time.monotonic() >= self.deadline:
                break
            exchange, after_s, problem = self._once(body)
            name = ""
            if exchange is not None:
                if self.recorder is not None:
                    name = self.recorder.keep(exchange, self.endpoint.key)
                if exchange.status not in RETRIED:
                    return self._checked(exchange), name
            # Full jitter: many runs that were turned away do not come back together.
            wait_s = max(after_s, random.uniform(0.5, 1.0) * self.first_wait_s * 2**attempt)
            wait_s = min(wait_s, LONGEST_WAIT_S)
            if attempt + 1 == TRIES or time.monotonic() + wait_s >= self.deadline:
                break
            self.tell(f"{self.endpoint.host}: {problem}; again in {wait_s:.1f} s")
            time.sleep(wait_s)
        raise NoReply(f"{self.endpoint.host}: {problem}")

    def _once(self, body: str) -> tuple[Exchange | None, float, str]:
        """One try: (the exchange, how long the server asks to wait, what went wrong)."""
        try:
            import httpx
        except ImportError as error:
            raise MissingTool(
                "--proposer llm needs httpx", hint="pip install 'rocm-perf-lab[llm]'"
            ) from error
        limit_s = min(self.reply_limit_s, max(0.1, self.deadline - time.monotonic()))
        ends = time.monotonic() + limit_s
        data = bytearray()
        try:
            with (
                httpx.Client(timeout=httpx.Timeout(limit_s, connect=min(20.0, limit_s))) as client,
                client.stream(
                    "POST", self.endpoint.url, content=body, headers=self.endpoint.headers()
                ) as reply,
            ):
                for chunk in reply.iter_bytes():
                    data += chunk
                    if len(data) > MAX_ANSWER_BYTES:
                        return None, 0.0, "the reply is too large"
                    if time.monotonic() > ends:
                        return None, 0.0, f"no whole reply within {limit_s:.0f} s"
                status, after = reply.status_code, reply.headers.get("retry-after", "")
        except httpx.TimeoutException:
            return None, 0.0, f"no reply within {limit_s:.0f} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return None, 0.0, self._masked(f"{type(error).__name__}: {error}")
        text = data.decode("utf-8", "replace")
        exchange = Exchange(url=self.endpoint.url, request=body, status=status, reply=text)
        after_s = float(after) if after.replace(".", "", 1).isdigit() else 0.0
        return exchange, after_s, f"HTTP {status}"

    def _checked(self, exchange: Exchange) -> str:
        if exchange.status == 200:
            return exchange.reply
        said = " ".join(exchange.reply.split())[:200]
        raise BadInput(
            f"{self.endpoint.host} refused the request: HTTP {exchange.status} "
            + self._masked("".join(c for c in said if c.isprintable())),
            hint="check the model's name and the key",
        )

    def _masked(self, text: str) -> str:
        return text.replace(self.endpoint.key, MASK) if self.endpoint.key else text
