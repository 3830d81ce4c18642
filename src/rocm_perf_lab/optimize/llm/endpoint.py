"""Two dialects of one question: OpenAI-compatible chat completions, and Anthropic's messages."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from rocm_perf_lab.errors import BadInput, Refused, UsageError
from rocm_perf_lab.optimize.answers import NotAnAnswer
from rocm_perf_lab.optimize.masking import ANTHROPIC_KEY, OPENAI_KEY, OWN_KEY

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
MAX_TOKENS = 16_000


@dataclass(frozen=True)
class Endpoint:
    dialect: Literal["openai", "anthropic"]
    url: str
    model: str
    key: str | None = field(repr=False)  # never printed, never recorded

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def headers(self) -> dict[str, str]:
        words = {"content-type": "application/json", "accept": "application/json"}
        words["accept-encoding"] = "gzip"
        if self.dialect == "anthropic":
            words["anthropic-version"] = "2023-06-01"
            if self.key:
                words["x-api-key"] = self.key
        elif self.key:
            words["authorization"] = f"Bearer {self.key}"
        return words

    def body(self, system: str, user: str) -> str:
        """The exact bytes that are sent."""
        if self.dialect == "anthropic":
            data: dict[str, Any] = {
                "model": self.model,
                "max_tokens": MAX_TOKENS,
                "system": system,
                "messages": [{"role": "user", "content": user}],
            }
        else:
            data = {
                "model": self.model,
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                ],
            }
        return json.dumps(data, ensure_ascii=True, sort_keys=True)

    def text_of(self, body: str) -> str:
        """What the model said, out of the server's envelope."""
        try:
            data = json.loads(body)
            if self.dialect == "anthropic":
                parts = [part["text"] for part in data["content"] if part.get("type") == "text"]
                text: object = "".join(parts)
            else:
                text = data["choices"][0]["message"]["content"]
        except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
            raise NotAnAnswer("the server's reply is not what its interface promises") from None
        if not isinstance(text, str):
            raise NotAnAnswer("the server's reply holds no text")
        return text


def endpoint(
    model: str | None, base_url: str | None, environment: Mapping[str, str] = os.environ
) -> Endpoint:
    """From --model and --base-url; keys come from the environment only."""
    if not model:
        raise UsageError("--proposer llm needs a model", hint="--model NAME")
    ours = model.startswith("claude") if base_url is None else _is_anthropic(base_url)
    base = (base_url or (ANTHROPIC if ours else OPENAI)).rstrip("/")
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--base-url {base}: not an http address")
    if parts.username or parts.password:
        raise UsageError("--base-url holds a password", hint=f"keys go into {OWN_KEY}")
    if parts.query or parts.fragment:
        raise UsageError("--base-url holds more than an address", hint=f"keys go into {OWN_KEY}")
    own = ANTHROPIC_KEY if ours else OPENAI_KEY
    key = environment.get(OWN_KEY) or (environment.get(own) if base_url is None or ours else None)
    # A standard key goes to its own service; another endpoint gets the one meant for it.
    if key is None and base_url is None:
        raise UsageError(f"--proposer llm needs a key for {parts.hostname}", hint=f"set {own}")
    if key is not None and not re.fullmatch("[!-~]+", key):
        raise UsageError("the key holds characters that no key has: blanks, or other than ASCII")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise Refused(
            f"{parts.hostname}: source and key would travel unencrypted", hint="use https"
        )
    if ours:
        path = "/messages" if base.endswith("/v1") else "/v1/messages"
        return Endpoint("anthropic", f"{base}{path}", model, key)
    return Endpoint("openai", f"{base}/chat/completions", model, key)


def recorded_endpoint(url: str, request: str) -> Endpoint:
    """The endpoint a recorded request went to; a replay needs no key."""
    try:
        model = json.loads(request)["model"]
    except (ValueError, KeyError, TypeError):
        model = ""
    if not isinstance(model, str) or not model:
        raise BadInput("a recorded exchange does not say which model was asked")
    dialect: Literal["openai", "anthropic"] = "openai"
    if url.endswith("/messages"):
        dialect = "anthropic"
    return Endpoint(dialect, url, model, None)


def _is_anthropic(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
