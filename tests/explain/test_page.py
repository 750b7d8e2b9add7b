"""The page in a real browser: no console error, nothing fetched, the race told, no sideways scrolling on a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

import pytest

from harness.explain import FORMATS, Story

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="no chromium: the page is not shown")


def _browse(page: Path, profile: Path, *options: str) -> tuple[str, list[str]]:
    """(standard output, console messages)"""
    assert _BROWSER is not None
    done = subprocess.run(
        [_BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
         "--disable-background-networking", f"--user-data-dir={profile}", *options, page.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout, re.findall(r'CONSOLE[^"]*"(.*?)", source', done.stderr)


@pytest.fixture
def page(warm: Story, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(FORMATS["html"](warm), encoding="utf-8")
    return path


def test_it_tells_the_race(page: Path, tmp_path: Path) -> None:
    dom, console = _browse(page, tmp_path / "profile", "--dump-dom")
    assert console == []
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", dom.replace("<wbr>", ""))))
    for words in (
        "Detected that you are using FX to symbolically trace a dynamo-optimized function",
        "T0 (tracer) sets it to True",
        "T1 (caller) reads True",
        "the value is T0's, not its own. Undisturbed it would read False.",
        "T0 hands over to T1",
        "Proved by a run.",
        "The nearest schedule that passes",
        "harness replay race1,flag.warm",
    ):
        assert words in text, words


def test_what_it_would_fetch_is_noticed(page: Path, tmp_path: Path) -> None:
    """The page's policy forbids it to fetch anything, and an attempt is a console message: here is one."""
    page.write_text(page.read_text().replace("</main>", '<img src="https://example.invalid/x.png"></main>'))
    _, console = _browse(page, tmp_path / "profile", "--dump-dom")
    assert any("example.invalid" in message for message in console)


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits(page: Path, tmp_path: Path, width: int) -> None:
    """Drawn in a frame, since a headless window has a least width."""
    frame = (
        f'<iframe id=f style="width:{width}px;height:2400px;border:0" srcdoc="{escape(page.read_text(), quote=True)}"></iframe>'
        "<script>f.onload=()=>{let d=f.contentDocument,e=d.documentElement;"
        "d.querySelector('[data-zoom=\"1\"]').click();"
        "document.body.dataset.width=e.scrollWidth;document.body.dataset.zoom=d.querySelector('output').textContent}</script>"
    )
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0'>{frame}", encoding="utf-8")
    dom, _ = _browse(outer, tmp_path / "profile", "--dump-dom", f"--window-size={max(width, 600)},2400")
    assert f'data-width="{width}"' in dom
    assert 'data-zoom="115 %"' in dom
    picture = tmp_path / "page.png"
    _browse(outer, tmp_path / "profile", f"--screenshot={picture}", f"--window-size={max(width, 600)},2400")
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 30_000
