"""A headless Chromium driven over its debugging pipe: no driver program, no package."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

BINARY = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)


class Chromium:
    """One page. What it complained about is in `complaints`."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        assert BINARY is not None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._next = 0
        self._unread = b""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, to_write = os.pipe(), os.pipe()
        # Chromium reads commands from 3 and answers on 4: out of the way of both first.
        commands, answers = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read[0], to_write[1]))

        def pipes() -> None:
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [
                BINARY,
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars"),
                *(f"--user-data-dir={self._profile.name}", "about:blank"),
            ],
            preexec_fn=pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (to_read[0], to_write[1], commands, answers):
            os.close(fd)
        self._out, self._in = to_read[1], to_write[0]
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        # The page's own processor time: what a busy machine cannot distort.
        self._call("Performance.enable", timeDomain="threadTicks")
        self.resize(width, height)
        self.media(dark=dark)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def resize(self, width: int, height: int) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, dark: bool = False, kind: str = "screen") -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def open(self, page: Path) -> float:
        """Seconds of processor time until the page has loaded and its scripts ran."""
        before = self._busy()
        self._call("Page.navigate", url=page.resolve().as_uri())
        while self.run("document.readyState") != "complete":
            time.sleep(0.01)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        after = self._busy()
        # A page of another process starts its count at zero.
        return after - before if after >= before else after

    def _busy(self) -> float:
        metrics = {m["name"]: m["value"] for m in self._call("Performance.getMetrics")["metrics"]}
        return float(metrics["TaskDuration"])

    def run(self, script: str) -> Any:
        found = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, query: str) -> None:
        """The middle of the element, scrolled into view first."""
        x, y = self.middle(query)
        self.mouse("mouseMoved", x - 1, y)
        self.mouse("mouseMoved", x, y)

    def click(self, query: str) -> None:
        x, y = self.middle(query)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def middle(self, query: str) -> tuple[float, float]:
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(query)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        return box[0], box[1]

    def type(self, text: str) -> None:
        self._call("Input.insertText", text=text)

    def key(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            more = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, **more)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if getattr(self, "_session", None) and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            chunk = os.read(self._in, 1 << 16)
            assert chunk, "Chromium ended"
            self._unread += chunk
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, p = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(p["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
