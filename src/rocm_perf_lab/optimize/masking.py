"""Keys are taken out of text from outside where it enters, before anything is made of it: what
then goes into titles, the ledger, a page, a file or onto the terminal cannot hold one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote

MASK = "[key]"
OWN_KEY, OPENAI_KEY, ANTHROPIC_KEY = "ROCM_PERF_LLM_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"
_LEAST = 4  # characters: what is shorter would be found everywhere


def keys(environment: Mapping[str, str] = os.environ) -> list[str]:
    return [v for n in (OWN_KEY, OPENAI_KEY, ANTHROPIC_KEY) if (v := environment.get(n))]


def masked(text: str, secrets: Iterable[str | None]) -> str:
    for secret in secrets:
        if secret and len(secret) >= _LEAST:
            text = _pattern(secret).sub(MASK, text)
    return text


@lru_cache(maxsize=8)
def _pattern(secret: str) -> re.Pattern[str]:
    r"""The secret in any case, its characters plain or as JSON may write them, also in JSON within
    JSON (`\/`, `\u0073`, `\\u0073`); or as an address would have it. Bounded: a reply may be all
    backslashes."""
    written = "".join(rf"(?:\\{{0,8}}{re.escape(c)}|\\{{1,8}}u{ord(c):04x})" for c in secret)
    return re.compile(f"{written}|{re.escape(quote(secret, safe=''))}", re.IGNORECASE)
