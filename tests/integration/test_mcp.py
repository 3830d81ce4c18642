"""`rocm-perf mcp`, by the official SDK's own client over stdio."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.cli import complaint, rocm_perf
from support.databases import write_database
from support.hip_build import hipcc, need_virtual_gpu

pytest.importorskip("mcp", reason="the SDK is not installed")
anyio = pytest.importorskip("anyio")

from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"
TOOLS = {
    "profile", "analyze", "show", "runs", "compare", "explain", "capture", "replay", "doctor",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with traces, large ones among them, and a program that never ends."""
    folder = tmp_path_factory.mktemp("mcp")
    write_database(folder / "a.db", {"gemm<b>": [50_000] * 30, "copy": [10_000] * 30})
    write_database(folder / "b.db", {"gemm<b>": [90_000] * 30, "copy": [10_000] * 30})
    write_database(folder / "wide.db", {f"kernel_{i:04}": [1000 + i] * 2 for i in range(40)})
    (folder / "text.db").write_text("no database")
    program = folder / "endless"
    program.write_text('#!/bin/sh\necho $$ >> "$1"\nsleep 600 &\necho $! >> "$1"\nwait\n')
    program.chmod(0o755)
    (folder / "out").symlink_to("/etc")
    return folder


@asynccontextmanager
async def connected(root: Path) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "rocm_perf_lab", "mcp", "--root", str(root)],
        env={"TMPDIR": os.environ.get("TMPDIR", "/tmp")},
    )
    with (root / "server.log").open("a") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            yield client


def ask(root: Path, work: Callable[[Client], Awaitable[None]]) -> None:
    async def session() -> None:
        async with connected(root) as client:
            await work(client)

    anyio.run(session)


async def said(client: Client, tool: str, bad: bool = False, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in result.content if part.type == "text")
    assert bool(result.is_error) is bad, text
    return text


def run_of(text: str) -> str:
    """Which run an answer is about: its first line says so."""
    assert text.startswith("run: "), text
    return text.split()[1]


def test_every_tool_is_listed_with_the_schema_of_its_request(root: Path) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        assert tools["profile"].input_schema["required"] == ["program"]
        assert not any(t.input_schema["additionalProperties"] for t in tools.values())
        hints = {name: tool.annotations for name, tool in tools.items()}
        assert hints["show"] and hints["show"].read_only_hint
        assert hints["profile"] and hints["profile"].destructive_hint

    ask(root, work)


def test_traces_are_analysed_compared_and_explained(root: Path) -> None:
    async def work(client: Client) -> None:
        text = await said(client, "analyze", traces=["a.db"])
        name = run_of(text)
        assert "gemm<b>" in text
        document = await said(client, "show", run=name, part="profile.json", max_chars=100_000)
        profile = json.loads(document.split("\n\n", 1)[1])
        assert profile["kernel"]["name"] == "gemm<b>"
        kept = root / ".rocpd_profile" / name / "profile.json"
        assert profile == json.loads(kept.read_text())
        assert profile["provenance"]["command"][:3] == ["rocm-perf", "mcp", "analyze"]
        assert name in await said(client, "runs")
        compared = await said(client, "compare", a="a.db", b="b.db", fail_on=["runtime>5%"])
        assert compared.startswith("GATE: ") and "slower" in compared
        rules = json.loads(await said(client, "explain", rule="latency_bound"))
        assert {rule["label"] for rule in rules["rules"]} == {"latency_bound"}
        assert "checks" in json.loads(await said(client, "doctor"))

    ask(root, work)


def test_long_answers_come_in_pages_that_add_up(root: Path) -> None:
    async def work(client: Client) -> None:
        first = await said(client, "analyze", traces=["wide.db"], part="profile.json")
        name = run_of(first)
        assert len(first) < 21_000 and "[cut: characters 0 to 20000 of" in first
        pages, offset = "", 0
        while True:
            text = await said(
                client, "show", run=name, part="profile.json", offset=offset, max_chars=50_000
            )
            assert len(text) < 51_000
            body, _, foot = text.split("\n\n", 1)[1].rpartition("\n[")
            pages += body
            more = re.search(r"with offset=(\d+)\]", foot)
            if more is None:
                assert foot.endswith("this is the end]")
                break
            offset = int(more[1])
        kept = root / ".rocpd_profile" / name / "profile.json"
        assert json.loads(pages) == json.loads(kept.read_text())
        beyond = await said(client, "show", run=name, offset=10**9)
        assert "nothing here" in beyond

    ask(root, work)


def test_bad_requests_are_sentences_and_touch_nothing(root: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("profile", {}, "program: Field required"),
        ("profile", {"program": "./a.db", "shell": "yes"}, "shell: Extra inputs"),
        ("profile", {"program": "/bin/ls"}, "outside the folder"),
        ("profile", {"program": "../ls"}, "outside the folder"),
        ("profile", {"program": "no-such-program"}, "was not found"),
        ("profile", {"program": "./endless; touch gone"}, "was not found"),
        ("profile", {"program": "./endless", "arguments": "a b"}, "arguments: Input should be"),
        ("profile", {"program": "./endless", "arguments": ["a\0b"]}, "NUL"),
        ("profile", {"program": "./endless", "runs": 10**9}, "less than or equal"),
        ("profile", {"program": "./endless", "kernel": "("}, "not a regular expression"),
        ("analyze", {"traces": ["/etc/passwd"]}, "outside the folder"),
        ("analyze", {"traces": ["out/passwd"]}, "outside the folder"),
        ("analyze", {"traces": ["none.db"]}, "none.db"),
        ("analyze", {"traces": ["text.db"]}, "(exit code 3)"),
        ("analyze", {}, "no traces are named"),
        ("show", {"run": "../../x"}, "outside the folder"),
        ("show", {"run": "no-such"}, "no run no-such"),
        ("compare", {"a": "a.db", "b": "b.db", "fail_on": ["nonsense"]}, "nonsense"),
        ("explain", {"rule": "memory_bandwith_bound"}, "did you mean memory_bandwidth_bound"),
        ("capture", {"program": "./endless"}, "kernel: Field required"),
        ("replay", {"capture": "none"}, "none: no such capture"),
        ("replay", {"verify": "$(touch gone)"}, "verify"),
        ("no-such-tool", {}, "there is no tool of this name"),
    ]

    async def work(client: Client) -> None:
        for tool, arguments, words in cases:
            text = await said(client, tool, bad=True, **arguments)
            assert words in text, (tool, arguments, text)
            assert "Traceback" not in text and "internal error" not in text

    ask(root, work)
    assert not (root / "gone").exists()


def test_calls_that_are_given_up_or_late_leave_no_process(root: Path) -> None:
    need_virtual_gpu()

    async def work(client: Client) -> None:
        heard: list[str] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            heard.append(message or "")

        given_up = {"program": "./endless", "arguments": ["first"], "device": "virtual"}
        with anyio.move_on_after(60) as scope:
            async with anyio.create_task_group() as group:

                async def call() -> None:
                    await client.call_tool("profile", given_up, progress_callback=on_progress)

                group.start_soon(call)
                await anyio.to_thread.run_sync(lambda: wait_for(root / "first"))
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        assert any("warm-up" in line for line in heard), heard
        await anyio.to_thread.run_sync(lambda: gone(root / "first"))
        late = {"program": "./endless", "arguments": ["late"], "device": "virtual"}
        for limit in (4, 40):  # a busy machine may not have started the program after 4 s
            text = await said(client, "profile", bad=True, timeout_s=limit, **late)
            assert f"was still running after {limit} s" in text, text
            if (root / "late").exists():
                break
        gone(root / "late")
        # The turn is free again.
        assert "was not found" in await said(client, "profile", bad=True, program="no-such-one")

    ask(root, work)


def test_a_server_that_is_killed_takes_its_calls_with_it(root: Path) -> None:
    need_virtual_gpu()
    server = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", "mcp"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None and server.stdout is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = {
        "name": "profile",
        "arguments": {"program": "./endless", "arguments": ["killed"], "device": "virtual"},
    }
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
    wait_for(root / "killed")
    server.kill()
    out, _ = server.communicate(timeout=30)
    gone(root / "killed")
    # Every line that left the server was the protocol's.
    assert [json.loads(line)["jsonrpc"] for line in out.splitlines()] == ["2.0"]


def wait_for(pids: Path) -> None:
    until = time.monotonic() + 60
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert time.monotonic() < until, f"{pids} was not written"
        time.sleep(0.05)


def gone(pids: Path) -> None:
    until = time.monotonic() + 30
    numbers = [int(word) for word in pids.read_text().split()]
    while any(alive(number) for number in numbers):
        assert time.monotonic() < until, f"{numbers} still run"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_is_profiled_captured_and_replayed(root: Path) -> None:
    need_virtual_gpu()
    hipcc("-O2", EXAMPLES / "saxpy.cpp", "-o", root / "saxpy")

    async def work(client: Client) -> None:
        profiled = await said(
            client, "profile", program="./saxpy", device="virtual", runs=1, counters=False
        )
        assert "modelled, not measured" in profiled and "saxpy" in profiled
        captured = await said(
            client, "capture", program="./saxpy", kernel="saxpy", device="virtual"
        )
        (folder,) = re.findall(r"captured .* in (\S+)", captured)
        shown = await said(client, "replay", capture=folder, action="info")
        assert "saxpy" in shown
        replayed = await said(client, "replay", capture=folder, iterations=2)
        assert "DIFFERS" not in replayed and "bit for bit as captured" in replayed
        quick: dict[str, Any] = {"iterations": 1, "counters": False, "att": False}
        alone = await said(client, "replay", capture=folder, action="profile", **quick)
        assert "saxpy" in alone

    ask(root, work)


def test_without_the_sdk_it_is_one_sentence(tmp_path: Path) -> None:
    without = tmp_path / "without"
    without.mkdir()
    (without / "mcp.py").write_text("raise ModuleNotFoundError(name='mcp')\n")
    said = complaint(rocm_perf("mcp", cwd=without), 4)
    assert "needs the package mcp" in said and "rocm-perf-lab[mcp]" in said
    assert "cannot work in" in complaint(rocm_perf("mcp", "--root", "none", cwd=tmp_path), 3)
