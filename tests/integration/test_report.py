"""The HTML report in a real browser: it renders, it answers, it loads nothing, it is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.trace import att_writer
from rocm_perf_lab.trace.att_writer import CodeLine, Content, Wave
from support import chromium
from support.chromium import Chromium
from support.cli import complaint, rocm_perf
from support.databases import write_database
from support.fake_rocprofv3 import install, program

browser_needed = pytest.mark.skipif(chromium.BINARY is None, reason="Chromium is not installed")

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with counters and a thread trace, and a kernel with a hostile name."""
    folder = tmp_path_factory.mktemp("report")
    tools = folder / "tools"
    tools.mkdir()
    install(tools)
    app = program(folder, "echo kernel copy 400", *["echo 'kernel other<b> 90'"] * 3)
    env = {"PATH": f"{tools}:/usr/bin:/bin"}
    run = ("profile", "--device", "rocm", "--att", "--runs", "2", app, "--report", "page.html")
    done = rocm_perf(*run, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 dispatches on 8 streams, of 40 kernels."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    times = {f"kernel_{k}<{EVIL}>": rng.integers(500, 40_000, 2500).tolist() for k in range(40)}
    write_database(folder / "large.db", times, streams=8)
    done = rocm_perf("report", "large.db", "--out", "large.html", cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / "large.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as found:
        yield found


def text(browser: Chromium, query: str) -> str:
    found = browser.run(f"document.querySelector('{query}').innerText")
    assert isinstance(found, str)
    return found


@browser_needed
def test_every_section_renders_without_a_complaint(browser: Chromium, page: Path) -> None:
    browser.open(page)
    assert browser.complaints == []
    assert [u for u in browser.requests if not u.startswith("file:")] == []
    for section in ("story", "time", "kernels", "timeline", "source", "metrics", "provenance"):
        assert len(text(browser, f"#{section}")) > 20, section
    assert "took" in text(browser, "#story")
    assert browser.run("document.querySelectorAll('.timeline svg rect').length") > 4


@browser_needed
def test_the_table_sorts_and_filters(browser: Chromium, page: Path) -> None:
    browser.open(page)
    names = "[...document.querySelectorAll('#kernel-table tbody tr')].map(r => r.dataset.kernel)"
    assert browser.run(names) == ["copy", "other<b>"]
    browser.click("#kernel-table th:nth-child(2)")  # calls, most first
    assert browser.run(names) == ["other<b>", "copy"]
    browser.click("#kernel-table th:nth-child(2)")
    assert browser.run(names) == ["copy", "other<b>"]
    browser.click("[data-filter]")
    browser.type("other")
    shown = "[...document.querySelectorAll('#kernel-table tbody tr')].filter(r => !r.hidden).length"
    assert browser.run(shown) == 1
    assert text(browser, "[data-count]") == "1 of 2"


@browser_needed
def test_the_timeline_zooms_by_button_key_and_drag(browser: Chromium, page: Path) -> None:
    browser.open(page)
    frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

    def view() -> list[int]:
        browser.run(frame)
        return [
            int(n)
            for n in browser.run("document.querySelector('.timeline svg').dataset.view").split()
        ]

    whole = view()
    browser.click("[data-zoom=in]")
    half = view()
    assert half[1] - half[0] == pytest.approx((whole[1] - whole[0]) / 2, rel=0.01)
    browser.run("document.querySelector('.timeline').focus()")
    browser.key("+")
    assert view()[1] - view()[0] == pytest.approx((whole[1] - whole[0]) / 4, rel=0.01)
    browser.key("0")
    assert view() == whole
    x, y = browser.middle(".timeline svg")
    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", x + 60, y, button="left", buttons=1)
    browser.mouse("mouseMoved", x + 120, y, button="left", buttons=1)
    browser.mouse("mouseReleased", x + 120, y, button="left", clickCount=1)
    dragged = view()
    assert whole[0] < dragged[0] < dragged[1] < whole[1]


@browser_needed
def test_hovering_tells_the_numbers(browser: Chromium, page: Path) -> None:
    browser.open(page)
    browser.hover(".timeline svg rect[data-block='1:0']")
    assert "copy" in text(browser, "#tip") and "400.0 us" in text(browser, "#tip")
    lanes = browser.run("[...document.querySelectorAll('.timeline .lane')].map(e => e.textContent)")
    assert lanes[-1] == "host calls"
    browser.hover(f".timeline svg rect[data-block='{len(lanes) - 1}:0']")
    assert "hipLaunchKernel" in text(browser, "#tip") and "path" not in text(browser, "#tip")
    browser.hover(".stack span")
    assert "kernels" in text(browser, "#tip")
    browser.hover(".isa tr[data-waits]")
    waits = "document.querySelector('.isa tr.wait td').innerText"
    assert browser.run(waits) == "1"  # the load it waits for
    assert "memory" in text(browser, ".isa tr[data-waits]")


@pytest.mark.slow
@browser_needed
def test_a_hundred_thousand_dispatches_open_at_once(browser: Chromium, large: Path) -> None:
    assert large.stat().st_size < 1_000_000
    assert min(browser.open(large) for _ in range(2)) < 2.0
    assert browser.complaints == []
    assert browser.run("document.querySelectorAll('.timeline svg rect').length") > 1000
    # Names are text wherever they stand.
    assert browser.run("document.querySelectorAll('main img').length") == 0
    assert "<img src=x" in text(browser, "#kernel-table")
    browser.click("[data-zoom=in]")
    browser.hover(".timeline svg rect[data-block^='3:']")
    assert "operations, mostly kernel_" in text(browser, "#tip")


@browser_needed
@pytest.mark.parametrize("width", [380, 1280])
def test_nothing_is_wider_than_the_window(browser: Chromium, page: Path, width: int) -> None:
    browser.resize(width, 900)
    browser.open(page)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1280, 900)


@browser_needed
def test_it_is_dark_where_the_reader_is_and_light_on_paper(browser: Chromium, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.media(dark=True)
    browser.open(page)
    assert browser.run(ground) == "rgb(18, 23, 29)"
    browser.click("#theme")
    assert browser.run(ground) == "rgb(255, 255, 255)"
    browser.click("#theme")
    browser.media(dark=True, kind="print")
    assert browser.run(ground) == "rgb(255, 255, 255)"
    browser.media()


def test_the_page_holds_no_address_and_no_markup_of_others(page: Path) -> None:
    html = page.read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)|url\(|@import|https?://(?!www\.w3\.org)""", html)
    assert "other&lt;b&gt;" in html and "<b>" not in re.sub(r"<b>(?=[A-Za-z ]+\.?</b>)", "", html)


def test_names_cannot_end_the_script_that_holds_the_timeline(tmp_path: Path) -> None:
    write_database(tmp_path / "evil.db", {EVIL: [5000] * 3})
    done = rocm_perf("report", "evil.db", "--out", "evil.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "evil.html").read_text("utf-8")
    assert EVIL not in html and "alert(1)</script>" not in html


def test_the_latest_run_is_reported_and_its_absence_is_said(tmp_path: Path) -> None:
    assert "no run is kept" in complaint(rocm_perf("report", cwd=tmp_path), 3)
    write_database(tmp_path / "a.db", {"gemm": [5000] * 3})
    assert rocm_perf("analyze", "a.db", "--quiet", cwd=tmp_path).returncode == 0
    done = rocm_perf("report", cwd=tmp_path)
    assert done.stdout.strip() == "report.html" and (tmp_path / "report.html").exists()
    said = complaint(rocm_perf("report", "--out", "no/such/x.html", cwd=tmp_path), 3)
    assert "cannot write" in said


def test_only_source_files_are_read_into_a_report(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("PRIVATE\n" * 5)
    source = tmp_path / "kernel.hip"
    source.write_text("first\nshown in the page\n")
    lines = [
        CodeLine("; _Z4copy", "copy"),
        CodeLine("v_mov_b32 v0, 0", f"{secret}:2", vaddr=0x100),
        CodeLine("s_endpgm", f"{source}:2", vaddr=0x10C),
    ]
    instructions = np.array([[0, 3, 0, 400, 1], [404, 11, 0, 4, 2]])
    waves = [Wave(0, 0, 0, 1, 0, 912, instructions, np.array([[2, 912]]), waits=[])]
    att_writer.write(Content(lines, waves), tmp_path / "att", agent_handle=5600, dispatch_id=1)
    write_database(tmp_path / "a.db", {"copy": [5000] * 3})
    done = rocm_perf("report", "a.db", "--att", "att", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "report.html").read_text("utf-8")
    assert "shown in the page" in html and "PRIVATE" not in html
