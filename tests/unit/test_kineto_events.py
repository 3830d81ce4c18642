"""The compiled reader of PyTorch traces gives what parsed objects give, or stands back."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.kineto_events import TABLES, Events, of_objects, scanned
from rocm_perf_lab.trace.read import read_traces
from support.json_places import ODD, places
from support.traces import check_trace


def event(category: str, name: Any = "f", phase: Any = "X", **args: Any) -> dict[str, Any]:
    where = {"pid": 7, "tid": 8, "ts": 2204338329788.649, "dur": 3.25}
    return {"ph": phase, "cat": category, "name": name, **where, "args": args}


def document() -> dict[str, Any]:
    launched = {"External id": 4, "device": 2, "stream": 1, "correlation": 9}
    size = {"grid": [4, 1, 1], "block": [256, 1, 1], "shared memory": 512, "queue": 3}
    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}],
        "traceEvents": [
            event("kernel", "gemm<float>", **launched, **size),
            event("Kernel", "gemm<float>", **launched, **size),
            event("gpu_memcpy", "Memcpy HtoD", **launched, bytes=4096, kind="HtoD"),
            event("cuda_runtime", "hipLaunchKernel", correlation=9, stream=5, cid=48),
            event(
                "cpu_op", "aten::mm", **{"external id": 4}, shapes=[[1, [2.5e3]], [], {"a": None}]
            ),
            event("python_function", 'a "quoted\\ name', **{"Python id": 1}),
            event("user_annotation", "größe\u2028", x=True),
            event("cpu_instant_event", "[memory]", "i", **{"Total Allocated": 57950720}),
            {"ph": "s", "id": 802, "pid": "Spans", "tid": "", "ts": 1, "cat": "ac2g"},
        ],
        "traceName": "t.json",
    }


def columns(events: Events) -> Any:
    """All that it holds, NaN as None."""
    tables = []
    for name in TABLES:
        table = events.tables[name]
        spelled = [table.names[code] if code >= 0 else None for code in table.name]
        kinds = [table.kinds[code] if code >= 0 else None for code in table.kind]
        times = [
            None if np.isnan(t) else float(t) for c in (table.start_us, table.length_us) for t in c
        ]
        fields = {name: column.tolist() for name, column in table.fields.items()}
        tables.append((spelled, table.names, kinds, times, fields))
    facts = {name: fact for name, fact in events.facts.items() if name != "traceEvents"}
    return tables, facts, events.peak_bytes


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def both(data: bytes) -> tuple[Any, Any]:
    """What the compiled reader says, and what Python's says; None for what it cannot read."""
    found = scanned(iter([data]))
    try:
        root = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return found, None
    return found and columns(found), columns(of_objects(root))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_a_trace_is_read_wherever_its_pieces_end(indent: int | None, size: int) -> None:
    data = json.dumps(document(), indent=indent).encode()
    found = scanned(in_pieces(data, size))
    assert found is not None
    assert columns(found) == columns(of_objects(document()))
    assert [len(found.tables[name]) for name in TABLES] == [2, 1, 1, 1, 2]


def test_numbers_are_the_nearest_to_what_is_written() -> None:
    random_ = random.Random(5)
    texts = ["0", "-0.0", "4e15", "9007199254740993", "1e19", "0.1", "123456789012345678.5"]
    for _ in range(3000):
        digits = str(random_.randrange(10 ** random_.randrange(1, 17)))
        tail = f".{random_.randrange(10**3):03}" if random_.random() < 0.7 else ""
        power = f"e{random_.randrange(-12, 6)}" if random_.random() < 0.2 else ""
        texts.append(digits + tail + power)
    events = ",".join(f'{{"ph":"X","cat":"kernel","ts":{text},"dur":1}}' for text in texts)
    found = scanned(iter([f'{{"traceEvents":[{events}]}}'.encode()]))
    assert found is not None
    assert found.tables["kernels"].start_us.tolist() == [float(text) for text in texts]


def test_anything_anywhere_gives_the_same_or_nothing() -> None:
    whole = document()
    read = 0
    for number in range(len(places(whole))):
        for odd in ODD:
            changed = document()
            container, key = places(changed)[number]
            container[key] = odd
            mine, objects = both(json.dumps(changed).encode())
            assert mine is None or mine == objects, (number, odd)
            read += mine is not None
    assert read > 200  # it did read, and not only stand back


def test_a_trace_with_anything_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for number in range(len(places(document()))):
        for odd in ODD[number % 5 :: 5]:
            changed = document()
            container, key = places(changed)[number]
            container[key] = odd
            path.write_text(json.dumps(changed))
            with contextlib.suppress(BadInput):
                for trace in read_traces([path]):
                    check_trace(trace)


def test_damaged_text_gives_the_same_or_nothing() -> None:
    data = json.dumps(document(), indent=1).encode()
    random_ = random.Random(11)
    read = 0
    for _ in range(4000):
        changed = bytearray(data)
        for _ in range(random_.choice((1, 1, 3))):
            changed[random_.randrange(len(changed))] = random_.choice(
                b'"\\{}[],:0-9eE.x \n\x01\xff'
            )
        mine, objects = both(bytes(changed))
        assert mine is None or mine == objects, bytes(changed)
        read += mine is not None
    assert read > 400


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"rocprofiler-sdk-tool": []}',
        '{"traceEvents": []} x',
        '{"traceEvents": [], "traceEvents": []}',
        '{"traceEvents": [{"ph": "X", "cat": "kernel", "ts": 1, "ts": 2}]}',
        '{"traceEvents": [' + "[" * 5000 + "]" * 5000 + "]}",
        '{"traceEvents": [' + "1" * 5000 + "]}",
    ],
)
def test_what_it_does_not_know_is_left_to_python(text: str) -> None:
    assert scanned(iter([text.encode()])) is None
