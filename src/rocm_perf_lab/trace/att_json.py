"""Reading one JSON or CSV file of a thread trace, whatever state it is in.

Wave files hold nearly everything as long lists of short integer rows. Parsing those as JSON
makes a Python object per number, so `take_rows` cuts such a list out of the text and hands it
to numpy in one piece; what does not look exactly like one goes through the JSON parser.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import BadInput

Rows = npt.NDArray[np.int64]

MAX_FILE_BYTES = 2 << 30
_DIGITS = b"0123456789"
_BLANK = b" \t\r\n"
_LIMIT = 1 << 62  # room for a duration to be added to a time without wrapping
INT32_MAX = (1 << 31) - 1


class UnreadableError(Exception):
    """One file cannot be used; the message says why in a few words."""


def read_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableError(f"larger than {MAX_FILE_BYTES >> 30} GiB")
        return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableError("missing") from None
    except OSError as error:
        raise UnreadableError(error.strerror or "cannot be read") from None


def parse(raw: bytes) -> Any:
    if not raw.strip():
        raise UnreadableError("empty file")
    try:
        return json.loads(raw.decode("utf-8", errors="replace"))
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    except ValueError:
        raise UnreadableError("not valid JSON, perhaps cut short") from None


def load(path: Path) -> Any:
    return parse(read_bytes(path))


def load_object(path: Path) -> dict[str, Any]:
    value = load(path)
    if not isinstance(value, dict):
        raise UnreadableError("not a JSON object")
    return value


def as_int(value: object, default: int = -1) -> int:
    """An integer that fits a column, from what a JSON file may hold in its place."""
    if isinstance(value, str):
        try:
            value = int(value.strip(), 0)
        except ValueError:
            return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and -_LIMIT <= value <= _LIMIT:
        return int(value)
    return default


def as_small(value: object, default: int = -1) -> int:
    number = as_int(value, default)
    return number if abs(number) <= INT32_MAX else default


def as_text(value: object) -> str:
    # Half of a surrogate pair is legal JSON and cannot be printed.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def take_rows(raw: bytes, key: str, width: int) -> tuple[Rows | None, bytes]:
    """Cut `"key":[[…],…]` out of `raw`: its rows, and the text with an empty list instead.

    None, and the text untouched, unless every row is exactly `width` unsigned integers.
    """
    start, end = _find_list(raw, key.encode())
    body = raw[start + 2 : end - 2]
    if raw[start : start + 2] != b"[[" or raw[end - 2 : end] != b"]]":
        body = raw[start:end].translate(None, _BLANK)[2:-2]
    rows = body.count(b"],[") + 1
    skeleton = (b"," * (width - 1) + b"],[") * rows
    if body.translate(None, _DIGITS) != skeleton[:-3]:
        return None, raw
    flat = body.replace(b"],[", b",")
    if b",," in flat or flat.startswith(b",") or flat.endswith(b","):
        return None, raw
    numbers = np.fromstring(flat.decode("ascii"), dtype=np.int64, sep=",")
    if len(numbers) != rows * width:
        return None, raw
    return numbers.reshape(rows, width), raw[:start] + b"[]" + raw[end:]


def _find_list(raw: bytes, key: bytes) -> tuple[int, int]:
    """Where the list of lists under `key` begins and ends; (0, 0) if there is none to be seen."""
    compact = b'"' + key + b'":'
    start = raw.find(compact + b"[[") + len(compact)
    if start >= len(compact):
        end = raw.find(b"]]", start) + 2
        return (start, end) if end > 1 else (0, 0)
    match = re.search(rb'"%b"\s*:\s*(\[\s*\[[\d\s,\[\]]*\]\s*\])' % key, raw)
    return match.span(1) if match else (0, 0)


def integer_rows(value: object, width: int) -> tuple[Rows, int]:
    """The rows of a JSON list that begin with `width` integers, and how many do not."""
    if not isinstance(value, list) or not value:
        return np.empty((0, width), dtype=np.int64), 0
    kept = [
        row[:width]
        for row in value
        if isinstance(row, list)
        and len(row) >= width
        and all(isinstance(item, int) and -_LIMIT <= item <= _LIMIT for item in row[:width])
    ]
    rows = np.array(kept, dtype=np.int64).reshape(len(kept), width)
    return rows, len(value) - len(kept)


def integers(value: object) -> Rows:
    """A JSON list of integers; empty unless it is one."""
    if not isinstance(value, list) or not all(type(n) is int for n in value):
        return np.empty(0, dtype=np.int64)
    try:
        return np.array(value, dtype=np.int64)
    except OverflowError:
        return np.empty(0, dtype=np.int64)


# How the columns of code.json and of the stats CSV have been called.
CODE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "isa": ("isa", "instruction"),
    "line": ("linenumber", "line"),
    "source": ("source",),
    "codeobj": ("codeobj", "codeobject"),
    "vaddr": ("vaddr", "address"),
    "hit": ("hit", "hitcount"),
    "latency": ("latency",),
    "stall": ("stall",),
    "idle": ("idle",),
}
_POSITIONS = ("isa", "", "line", "source", "codeobj", "vaddr", "hit", "latency", "stall", "idle")


def column_positions(header: object) -> dict[str, int]:
    """Column name -> position, from a header that is a text, a list or absent."""
    if isinstance(header, str):
        header = header.split(",")
    if not isinstance(header, list):
        return {name: index for index, name in enumerate(_POSITIONS) if name}
    found = [str(cell).strip().strip('"').lower() for cell in header]
    return {
        name: found.index(alias)
        for name, aliases in CODE_COLUMNS.items()
        for alias in aliases
        if alias in found
    }


def code_rows(document: object, path: Path) -> tuple[list[Mapping[str, object]], bool]:
    """Rows of code.json by column name, and whether it says there is no code.

    The file is an object holding `code` and `header`, or the bare list of rows; rows are lists
    in the header's order or objects.
    """
    header: object = None
    rows: object = document
    if isinstance(document, dict):
        if "code" not in document:
            raise BadInput(f"{path} has no `code` list, so it is not a thread trace's code file.")
        header, rows = document.get("header"), document["code"]
    if rows is None:
        return [], True
    if not isinstance(rows, list):
        raise BadInput(f"{path} holds {type(rows).__name__} where the list of code lines belongs.")
    positions = column_positions(header)
    if not {"isa", "line"} <= positions.keys():
        raise BadInput(f"{path} has a header without ISA and LineNumber: {str(header)[:80]!r}.")
    parsed: list[Mapping[str, object]] = []
    for row in rows:
        if isinstance(row, list):
            parsed.append({n: row[at] for n, at in positions.items() if at < len(row)})
        elif isinstance(row, dict):
            cells = {str(key).lower(): value for key, value in row.items()}
            parsed.append(
                {n: cells[a] for n, names in CODE_COLUMNS.items() for a in names if a in cells}
            )
    return parsed, False


def csv_rows(path: Path) -> list[Mapping[str, object]]:
    """Rows of a stats CSV by column name."""
    text = read_bytes(path).decode("utf-8", errors="replace").replace("\0", "")
    try:
        lines = list(csv.reader(text.splitlines(), skipinitialspace=True))
    except csv.Error as error:
        raise UnreadableError(f"not valid CSV: {error}") from None
    if not lines:
        raise UnreadableError("empty file")
    positions = column_positions(list(lines[0]))
    if not {"vaddr", "hit"} <= positions.keys():
        raise UnreadableError("its header has no Vaddr and Hitcount")
    return [_cells(row, positions) for row in lines[1:] if row]


def _cells(row: Sequence[str], positions: Mapping[str, int]) -> Mapping[str, object]:
    return {name: row[at] for name, at in positions.items() if at < len(row)}
