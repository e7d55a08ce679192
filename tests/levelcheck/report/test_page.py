"""Reports as a page: by itself, complete, and looked at by a real browser where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from setpoint.levelcheck.report.page import page

from .stories import duplicated, report_of, resized, stamped

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VOID = {"meta", "input", "br", "link", "img"}


class Balanced(HTMLParser):
    """Complains of a tag that is not closed, or closed twice; and knows how many columns each row of a table has."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_needs_nothing_beside_itself() -> None:
    text = page(report_of(resized(), duplicated()))
    assert not re.findall(r"(?:src|href)=|url\(|@import|<script", text)
    assert "default-src 'none'" in text


def test_every_tag_is_closed_and_every_row_of_a_timeline_has_all_columns() -> None:
    for broken in (resized(), duplicated(), stamped()):
        reader = Balanced()
        text = page(report_of(broken))
        reader.feed(text[text.index('<table class="timeline"') : text.index("</table>") + len("</table>")])
        assert not reader.open
        assert len(set(reader.rows)) == 1
    reader = Balanced()
    reader.feed(page(report_of(resized(), stamped())))
    assert not reader.open


def test_both_runs_stand_side_by_side_and_what_never_happens_is_marked() -> None:
    text = page(report_of(resized()))
    assert "controller p1" in text
    assert "controller p2" in text
    assert "the reference" in text
    (missing,) = re.findall(r'<tr class="missing">.*?</tr>', text, re.DOTALL)
    assert ".spec.resources.requests.storage 10Gi → 15Gi" in missing


def test_decisions_the_divergence_and_the_finding_are_marked() -> None:
    text = page(report_of(duplicated()))
    for mark in ("decision", "divergence", "finding"):
        assert len(re.findall(f'<tr class="{mark}">', text)) == 1


def test_a_write_opens_to_show_what_it_changed() -> None:
    text = page(report_of(resized()))
    (details,) = re.findall(r"<details><summary>\.spec\.size 10Gi → 15Gi \(v14\)</summary>(.*?)</details>", text, re.DOTALL)[:1]
    assert '<span class="removed">-  size: 10Gi</span>' in details
    assert '<span class="added">+  size: 15Gi</span>' in details


def test_what_objects_hold_is_text_and_not_markup() -> None:
    text = page(report_of(resized(), name="<script>alert(1)</script>.py", notes=("<b>bold</b>",)))
    assert "<script>" not in text
    assert "<b>bold</b>" not in text


@pytest.fixture
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(BROWSERS)}")
    return found


def test_a_real_browser_shows_it(browser: str, tmp_path: Path) -> None:
    """What is left after the browser has read it is what was written, and there is a picture with something on it."""
    file, picture = tmp_path / "report.html", tmp_path / "report.png"
    file.write_text(page(report_of(resized())), encoding="utf-8")
    words = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1400,1600",
    ]
    read = subprocess.run([*words, "--dump-dom", file.as_uri()], capture_output=True, text=True, check=True, timeout=120).stdout
    assert read.count("<tr") == page(report_of(resized())).count("<tr")
    assert "starts anew, with an empty memory" in read
    subprocess.run([*words, f"--screenshot={picture}", file.as_uri()], capture_output=True, check=True, timeout=120)
    assert picture.stat().st_size > 20_000
