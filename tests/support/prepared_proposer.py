"""A proposer for `--proposer command:`: what a file holds, a few at a time."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def answer(prompt: str, offers: str) -> str:
    """What was not tried yet, until one was accepted. Nothing is repaired."""
    asked = json.loads(prompt)
    tried = {attempt["title"] for attempt in asked["attempts"]}
    over = asked.get("repair") or any(attempt["accepted"] for attempt in asked["attempts"])
    left = [] if over else [(t, k) for t, k in json.loads(offers) if t not in tried]
    proposals = [
        {"title": title, "rationale": "", "kernel": kernel}
        for title, kernel in left[: asked["max_proposals"]]
    ]
    return json.dumps({"proposals": proposals})


if __name__ == "__main__":
    print(answer(sys.stdin.read(), Path(sys.argv[1]).read_text("utf-8")))
