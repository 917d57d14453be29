# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser: its script runs under its policy and nothing complains."""

from __future__ import annotations

import re
import shutil
import subprocess

import profiles
import pytest

from stripewise.report import write_profile_html

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


def load(page, tmp_path):
    """Return the document after its script has run, and what the browser's console said."""
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", f"--user-data-dir={tmp_path / 'browser'}", "--enable-logging=stderr",
            "--virtual-time-budget=2000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_page_loads_without_complaints_and_its_script_runs(name, tmp_path):
    page = tmp_path / "profile.html"
    write_profile_html(*profiles.ALL[name](), page)
    document, console = load(page, tmp_path)
    assert console == []
    assert 'class="sort"' in document
    assert document.count('class="tip"') == document.count('class="plot heat"') > 3


def test_zoom_stretches_and_scrolls_all_pictures_together(tmp_path):
    page = tmp_path / "profile.html"
    write_profile_html(*profiles.rich(), page)
    text = re.sub(r"<meta http-equiv=.Content-Security-Policy[^>]*>", "", page.read_text("utf-8"))
    click = """<script>addEventListener("load", function () {
      var plus = document.querySelectorAll(".zoom button")[1];
      plus.click(); plus.click();
      var pans = Array.from(document.querySelectorAll(".pan"));
      document.title = pans.map(function (pan) {
        return Math.round(pan.scrollWidth / pan.clientWidth) + "@" + pan.scrollLeft;
      }).join(" ");
    });</script></main>"""
    page.write_text(text.replace("</main>", click), encoding="utf-8")
    document, console = load(page, tmp_path)
    title = re.search("<title>(.*?)</title>", document)[1].split()
    assert console == []
    assert len(title) == document.count('class="canvas"') > 3
    assert len(set(title)) == 1
    assert title[0].startswith("4@")
    assert not title[0].endswith("@0")


def test_another_script_would_not_run(tmp_path):
    page = tmp_path / "profile.html"
    write_profile_html(*profiles.rich(), page)
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace("</main>", "<script>document.title = 'taken'</script></main>"),
        encoding="utf-8",
    )
    document, console = load(page, tmp_path)
    assert "<title>taken" not in document
    assert any("Content Security Policy" in line for line in console)
