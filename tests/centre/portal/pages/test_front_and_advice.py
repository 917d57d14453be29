# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Engine

from stripewise.centre.database._records import EventRecord
from stripewise.present.blocks._markdown import markdown
from support.fleet_records import figures, job, source
from support.served_jobs import load, served
from support.storage_pages import KNOWN_ELEMENTS, Elements, Portal, stored
from support.storage_samples import DAY, NOW, STAFF, series, viewer_named

ADVICE = "/storage/advice"
PAGE = """# Input and output on Big <b>disk</b>

Measured, with \\*care\\*.

## Striping

**Warning.** Stripe [wide](https://example.org/x), not [so](javascript:alert(1)).

```sh
lfs setstripe -c 8 'DIR'
```

| | at most | known by |
|---|--:|---|
| write | 3 GiB/s | measured |

![picture](https://example.org/x.png) <img src=x onerror=alert(1)>
"""


def test_the_page_of_the_site_and_what_holds_now(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "advice.md"
    file.write_text(PAGE)
    stored(engine, EventRecord("", NOW - 5, None, "advice", "Scratch is <full>: clean up."))
    html = Portal(engine, advice=file).html(ADVICE)
    assert "<h2>Input and output on Big &lt;b&gt;disk&lt;/b&gt;</h2>" in html
    assert "<h3>Striping</h3>" in html
    assert "Measured, with *care*." in html
    assert '<a href="https://example.org/x" rel="noreferrer nofollow">wide</a>' in html
    assert "lfs setstripe -c 8 'DIR'" in html
    assert "<td>3 GiB/s</td>" in html
    assert "Scratch is &lt;full&gt;: clean up." in html
    assert "<img" not in html


def test_a_page_that_cannot_be_read_tells_no_path(engine: Engine, tmp_path: Path) -> None:
    html = Portal(engine, advice=tmp_path / "nothing.md").html(ADVICE)
    assert "cannot be read at the moment" in html
    assert str(tmp_path) not in html
    large = tmp_path / "large.md"
    large.write_text("x" * (1 << 20) + "y")
    assert "cannot be read at the moment" in Portal(engine, advice=large).html(ADVICE)


def test_a_site_without_advice(engine: Engine) -> None:
    assert "has not published any advice" in Portal(engine).html(ADVICE)


_PIECES = st.sampled_from(
    ["<script>", "[a](", "javascript:", "data:text/html,", "&#106;", "`", "```\n", "# ", "|",
     "\n", "<a onclick=x>", "![", "](", ")", '"', "&lt;", "<!--", "\x00", "\u202e", "a", " "]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=30).map("".join))
@example("<script>  \n<script>")  # two blanks end a line in Markdown
def test_no_text_becomes_html_of_its_own(text: str) -> None:
    html = str(markdown(text))
    never = {"script", "form", "input", "link", "meta"}
    assert set(Elements.of(html)) <= KNOWN_ELEMENTS - never | {"br"}
    assert "\u202e" not in html


# ---- the first page ------------------------------------------------------------------------


def test_the_first_page_of_an_empty_portal(engine: Engine) -> None:
    html = Portal(engine).html("/")
    assert "No file system is known yet" in html
    assert 'href="/login"' in html


def test_the_storage_now_in_three_figures(engine: Engine) -> None:
    stored(
        engine,
        series("read_bytes", 3e6), series("write_bytes", 1e6), series("used_bytes", 8e12),
        series("total_bytes", 1e13), series("read_bytes", 2e6, file_system="home"),
        series("used_bytes", 1.0, file_system="home"),
        series("total_bytes", 9.0, file_system="home"),
    )  # fmt: skip
    portal = Portal(engine)
    data = portal.data("/")
    assert data["storage_now"] == {
        "read_bytes_per_second": 5e6, "write_bytes_per_second": 1e6, "fullest_share": 0.8
    }  # fmt: skip
    assert "own" not in data
    old = portal.data("/", now=NOW + 7200)["storage_now"]
    assert (old["read_bytes_per_second"], old["fullest_share"]) == (None, 0.8)


def finding(code: str, seconds: float) -> dict[str, object]:
    unknown = dict.fromkeys(("least_seconds", "most_seconds"))
    return {"number": 0, "code": code, "severity": "high", "phrase": "", "cost_seconds": seconds,
            "is_measured": False, "file_count": 1, **unknown}  # fmt: skip


def with_jobs(engine: Engine) -> None:
    for number, user, seconds in ((1, "ann", 4.0), (2, "ann", 30.0), (3, "bob", 999.0)):
        at = NOW - number * DAY
        stored(
            engine,
            job(number, at, user=user, uid=len(user) + ord(user[0])),
            source(f"d{number}", number, user=user, told=figures(io_seconds=50.0),
                   start_at=at + 10.0, end_at=at + 100.0,
                   findings=(finding("small-requests", seconds),)),
        )  # fmt: skip


def test_own_jobs_come_first(engine: Engine) -> None:
    with_jobs(engine)
    data = Portal(engine, "ann").data("/")
    assert data["lead"] == (
        "You ran 2 jobs in the last 30 days. About 34 s of their I/O time could be saved."
    )
    own = data["own"]
    assert (own["jobs"], own["io_seconds"], own["avoidable_seconds"]) == (2, 100.0, 34.0)
    assert data["new_findings"]["rows"][0]["code"] == "small-requests"
    html = Portal(engine, "ann").html("/")
    assert "30 s avoidable" in html
    assert "bob" not in html


def test_links_of_own_jobs_lead_to_own_jobs(engine: Engine) -> None:
    with_jobs(engine)
    with engine.connect() as connection:
        manager = viewer_named(connection, "ann", "p")
    since = f"since={NOW + 30 - 30 * DAY}"
    assert f"/jobs?user=ann&amp;{since}" in Portal(engine, manager).html("/")
    assert f"finding=small-requests&user=ann&{since}" in str(Portal(engine, manager).data("/"))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("who", [STAFF, "nobody-known"])
def test_somebody_without_own_jobs_sees_no_summary(engine: Engine, who: object) -> None:
    with_jobs(engine)
    assert "own" not in Portal(engine, who).data("/")  # type: ignore[arg-type]


def test_jobs_without_a_profile_are_not_without_io(engine: Engine) -> None:
    stored(engine, job(1, NOW - DAY, user="ann"))
    data = Portal(engine, "ann").data("/")
    assert "Nothing is known about their I/O" in data["lead"]
    assert data["own"]["io_seconds"] is None


def test_jobs_that_servers_counted_are_not_unknown(engine: Engine) -> None:
    stored(engine, *(job(number, NOW - DAY, user="ann") for number in (1, 2)))
    served(engine, [load("1", NOW - DAY + 60)], cluster="a")
    lead = Portal(engine, "ann").data("/")["lead"]
    assert "ran 2 jobs" in lead
    assert "servers counted the bytes of 1 job" in lead
    assert "Nothing is known" not in lead
