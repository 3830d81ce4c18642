"""What the device found wrong with a program while it ran, as notes.

Each process leaves `<pid>.txt` in the folder that `VARIABLE` names: lines of a count, a tab and
the place. Runs of one profile repeat each other: a place counts as in the run that had most.
"""

from __future__ import annotations

from pathlib import Path

from rocm_perf_lab.errors import plain

VARIABLE = "ROCM_PERF_FINDINGS"
_MOST_BYTES = 1 << 20  # of a file; the device writes a hundred lines
_MOST_NOTES = 100
_MOST_LETTERS = 1000


def notes(folder: Path) -> list[str]:
    most: dict[str, int] = {}
    for file in sorted(folder.glob("*.txt")):
        with file.open(encoding="utf-8", errors="replace") as lines:
            text = lines.read(_MOST_BYTES)
        for line in text.splitlines():
            count, tab, place = line.partition("\t")
            if tab and count.isdecimal():
                place = plain(place)[:_MOST_LETTERS]
                most[place] = max(most.get(place, 0), int(count))
    if not most and not any(folder.iterdir()):
        folder.rmdir()
    found = [f"{place}: {count} access{'es' * (count != 1)}" for place, count in most.items()]
    more = len(found) - _MOST_NOTES
    return found if more <= 0 else [*found[:_MOST_NOTES], f"{more} more places out of bounds"]
