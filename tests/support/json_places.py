"""Every place of a JSON document, and odd values to put there."""

from __future__ import annotations

from typing import Any

ODD: list[Any] = [None, True, -1, 0, 1.5, 2**64, -(2**70), "", "x", "\ud800", [], {}, [1], {"a": 1}]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    found = [(value, key) for key, _ in items]
    for _, item in items:
        if isinstance(item, (dict, list)):
            found += places(item)
    return found
