"""One question over HTTP: bounded in time, size and number of tries."""

from __future__ import annotations

import queue
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.optimize.answers import MAX_ANSWER_BYTES, shown
from rocm_perf_lab.optimize.llm.endpoint import Endpoint
from rocm_perf_lab.optimize.llm.exchanges import Exchange, Recorder, Replay
from rocm_perf_lab.optimize.masking import masked

if TYPE_CHECKING:
    import httpx

TRIES = 5
REPLY_LIMIT_S = 180.0
LONGEST_WAIT_S = 60.0
RETRIED = frozenset({408, 409, 425, 429})  # and what is neither an answer nor a refusal


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
                if not _again(exchange.status):
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
                    name = self.recorder.keep(exchange)
                if not _again(exchange.status):
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
        limit_s = min(self.reply_limit_s, max(0.1, self.deadline - time.monotonic()))
        try:
            import httpx
        except ImportError as error:
            raise MissingTool(
                "--proposer llm needs httpx", hint="pip install 'rocm-perf-lab[llm]'"
            ) from error
        timeout = httpx.Timeout(limit_s, connect=min(20.0, limit_s))
        waiting: queue.SimpleQueue[_Reply | str] = queue.SimpleQueue()
        # A thread, because a server can send a head byte by byte, and no limit of the library's
        # is one for the whole.
        with httpx.Client(timeout=timeout) as client:
            words = self.endpoint.headers()
            arguments = (client, self.endpoint.url, body, words, limit_s, waiting)
            threading.Thread(target=_receive, args=arguments, daemon=True).start()
            try:
                reply = waiting.get(timeout=limit_s)
            except queue.Empty:
                reply = f"no whole reply within {limit_s:.0f} s"
        if isinstance(reply, str):
            return None, 0.0, self._masked(reply)
        text = self._masked(reply.data.decode("utf-8", "replace"))
        request = self._masked(body)
        exchange = Exchange(url=self.endpoint.url, request=request, status=reply.status, reply=text)
        after_s = float(reply.after) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", reply.after) else 0.0
        return exchange, after_s, f"HTTP {reply.status}"

    def _checked(self, exchange: Exchange) -> str:
        if exchange.status == 200:
            return exchange.reply
        said = " ".join(exchange.reply.split())[:200]
        raise BadInput(
            f"{self.endpoint.host} refused the request: HTTP {exchange.status} {shown(said)}",
            hint="check the model's name and the key",
        )

    def _masked(self, text: str) -> str:
        return masked(text, [self.endpoint.key])


def _again(status: int) -> bool:
    return status in RETRIED or not (status == 200 or 300 <= status < 500)


@dataclass(frozen=True)
class _Reply:
    status: int
    after: str  # the header retry-after
    data: bytes


def _receive(
    client: httpx.Client,
    url: str,
    body: str,
    words: dict[str, str],
    limit_s: float,
    out: queue.SimpleQueue[_Reply | str],
) -> None:
    """The reply, or in words why there is none."""
    import httpx

    ends = time.monotonic() + limit_s
    data = bytearray()
    try:
        with client.stream("POST", url, content=body, headers=words) as reply:
            packed = reply.headers.get("content-encoding", "identity").strip().lower()
            if packed not in ("identity", "gzip", "deflate"):
                return out.put(
                    f"the reply is packed as {shown(packed)[:40]!r}, which was not asked"
                )
            for chunk in reply.iter_bytes():
                data += chunk
                if len(data) > MAX_ANSWER_BYTES:
                    return out.put("the reply is too large")
                if time.monotonic() > ends:
                    return out.put(f"no whole reply within {limit_s:.0f} s")
            out.put(_Reply(reply.status_code, reply.headers.get("retry-after", ""), bytes(data)))
    except httpx.TimeoutException:
        out.put(f"no reply within {limit_s:.0f} s")
    except Exception as error:  # whatever a hostile reply makes the library raise
        out.put(shown(f"{type(error).__name__}: {error}")[:300])
