# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser: its script runs under its policy and nothing complains."""

from __future__ import annotations

import re
import shutil
import subprocess

import profiles
import pytest
import studies

from stripewise.study.report import render_html

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


def load(page, tmp_path):
    """Return the document after its script has run, and what the browser's console said."""
    for _ in range(3):  # a browser crashes at its start now and then
        done = subprocess.run(
            [
                BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", f"--user-data-dir={tmp_path / 'browser'}",
                "--enable-logging=stderr", "--virtual-time-budget=6000", "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True, text=True, timeout=120, check=False,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_page_loads_without_complaints_and_its_script_runs(name, tmp_path):
    page = tmp_path / "profile.html"
    page.write_text(profiles.render(*profiles.ALL[name]()), encoding="utf-8")
    document, console = load(page, tmp_path)
    assert console == []
    assert 'class="sort"' in document
    assert document.count("<canvas") == document.count('class="chart drawn"') > 3


@pytest.mark.extended
def test_the_report_of_a_study_draws_its_charts_too(tmp_path):
    page = tmp_path / "report.html"
    page.write_text(render_html(studies.improved()), encoding="utf-8")
    document, console = load(page, tmp_path)
    assert console == []
    assert document.count('class="chart drawn"') == 3


def drawn(page, tmp_path, body):
    """The document's title after a script of the test has run beside the page's own."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv=.Content-Security-Policy[^>]*>", "", text)
    script = f"""<script>addEventListener("load", function () {{ setTimeout(function () {{
      const chart = document.querySelector("#timeline .chart canvas");
      const box = chart.getBoundingClientRect();
      function send(kind, x, y, more) {{
        const at = {{ clientX: box.left + x, clientY: box.top + y, bubbles: true }};
        chart.dispatchEvent(new (kind === "wheel" ? WheelEvent : PointerEvent)(
          kind, Object.assign(at, {{ pointerType: "mouse", cancelable: true }}, more)));
      }}
      {body}
    }}, 1500); }});</script></main>"""
    page.write_text(text.replace("</main>", script), encoding="utf-8")
    document, console = load(page, tmp_path)
    assert console == []
    return re.search("<title>(.*?)</title>", document, flags=re.S)[1]


@pytest.mark.extended
def test_a_tooltip_names_the_rank_the_time_and_the_value(tmp_path):
    page = tmp_path / "profile.html"
    page.write_text(profiles.render(*profiles.rich()), encoding="utf-8")
    title = drawn(page, tmp_path, """
      const seen = [];
      for (let y = 250; y < 500; y += 10) {
        for (let x = 120; x < box.width; x += 7) {
          send("pointermove", x, y);
          const tip = document.getElementById("vg-tooltip-element");
          if (tip && tip.classList.contains("visible")) { seen.push(tip.textContent); }
        }
      }
      setTimeout(function () { document.title = seen.pop() || "none"; }, 200);""")  # fmt: skip
    assert re.match(r"rankrank \d+time[\d.]+ to [\d.]+ secondsMiB/s[\d.]+", title), title


@pytest.mark.extended
def test_ctrl_and_the_wheel_zoom_and_the_wheel_alone_scrolls_the_page(tmp_path):
    page = tmp_path / "profile.html"
    page.write_text(profiles.render(*profiles.rich()), encoding="utf-8")
    title = drawn(page, tmp_path, """
      const first = chart.toDataURL();
      function wheel(held) {
        send("pointermove", 400, 60);
        send("wheel", 400, 60, { deltaY: -400, ctrlKey: held });
      }
      wheel(false);
      setTimeout(function () {
        const same = chart.toDataURL() === first;
        wheel(true);
        setTimeout(function () {
          document.title = same + " " + (chart.toDataURL() === first);
        }, 300);
      }, 300);""")  # fmt: skip
    assert title == "true false"


def test_another_script_would_not_run(tmp_path):
    page = tmp_path / "profile.html"
    page.write_text(profiles.render(*profiles.rich()), encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace("</main>", "<script>document.title = 'taken'</script></main>"),
        encoding="utf-8",
    )
    document, console = load(page, tmp_path)
    assert "<title>taken" not in document
    assert any("Content Security Policy" in line for line in console)
