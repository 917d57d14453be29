# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages that live from the monitoring, in a real browser, with names that are attacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from support import browser as browser_support
from support.browser import Browser
from support.monitored_centre import (
    AGENT,
    FS,
    JOB_NAME,
    OWNER,
    PASSWORD,
    SERVER,
    SLOW,
    STAFF,
    USER,
    MonitoredCentre,
    monitored_centre,
)

pytestmark = pytest.mark.extended

pytest.importorskip("fastapi")
PHONE = 360
PAGES = {
    "storage": (STAFF, "{all}", ("#health_0", "#load table"), (FS, SLOW)),
    "file system": (STAFF, "{storage}", ("#targets table", "figure canvas"), (FS, SLOW, SERVER)),
    "patterns": (STAFF, "{storage}/patterns", ("#patterns table", "#days table", "#rates canvas"),
                 (FS,)),
    "patterns of 28 days": (STAFF, "{storage}/patterns?days=28", ("#days table",), (FS,)),
    "who loads": (STAFF, "{storage}/top", ("#hurting table", "#users table", "#jobs table"),
                  (FS, SERVER, USER)),
    "who loads, to an owner": (OWNER, "{storage}/top", ("#hurting table",), (FS, SERVER, USER)),
    "job": (OWNER, "{job}", ("#served table", "#served_words", "#load", "#load_chart canvas"),
            (FS, SLOW, JOB_NAME)),
    "job, to staff": (STAFF, "{job}", ("#served table", "#load"), (FS, SLOW, USER)),
    "agents": (STAFF, "/staff", ("#agents table",), (AGENT,)),
}  # fmt: skip
"""Who looks at which page, what has to be on it, and the names that it has to show."""
_HEADINGS = "return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => +h.tagName[1])"
_NAMELESS = """const tables = [...document.querySelectorAll('main table:not(figure table)')];
return tables.filter((table) => {
    const id = table.getAttribute('aria-labelledby');
    const named = table.caption || (id && document.getElementById(id));
    return !named || !named.textContent.trim() || !table.querySelector('th[scope]');
}).map((table) => table.outerHTML.slice(0, 200))"""
_MARK = """const one = document.activeElement;
one.dataset.reached ||= getComputedStyle(one).outlineStyle;"""
_FOCUSABLE = """return [...document.querySelectorAll('main :is(a[href], button, summary, input, '
    + 'select, [tabindex="0"])')].filter((one) => one.checkVisibility() && one.type !== 'hidden')
    .map((one) => [one.outerHTML.slice(0, 160), one.dataset.reached || ''])"""


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitoredCentre]:
    if why := browser_support.missing():
        pytest.skip(why)
    with monitored_centre(tmp_path_factory.mktemp("monitored") / "fleet.sqlite") as made:
        yield made


@pytest.fixture(scope="module")
def window(centre: MonitoredCentre, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_support.browsing(centre.address, tmp_path_factory.mktemp("downloads")) as found:
        yield found


def opened(name: str, window: Browser, centre: MonitoredCentre) -> Browser:
    """Open a page as the one who looks at it; it is there with all that it is for."""
    user, path, parts, _ = PAGES[name]
    window.use()
    window.log_in(user, PASSWORD)
    window.complaints()
    window.open(path.format(all="/storage", storage=centre.storage, job=centre.job))
    for part in parts:
        assert window.wait(lambda part=part: window.all(part)), part
    return window


@pytest.mark.parametrize("name", PAGES)
def test_page_is_open_to_all(window: Browser, centre: MonitoredCentre, name: str) -> None:
    page = opened(name, window, centre)
    for state in ({}, {"dark": True}, {"width": PHONE}):
        page.use(**state)
        assert page.overflow() <= 0, state
        assert page.barriers() == [], state
    levels = page.run(_HEADINGS)
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.run(_NAMELESS) == []
    assert page.complaints() == []


@pytest.mark.parametrize("name", PAGES)
def test_hostile_names_are_shown_as_text(
    window: Browser, centre: MonitoredCentre, name: str
) -> None:
    page = opened(name, window, centre)
    shown = page.text("main")
    assert [one for one in PAGES[name][3] if one not in shown] == []
    assert page.all("img") == []
    assert page.run("return window.evil") is None
    assert page.complaints() == []


@pytest.mark.parametrize("name", PAGES)
def test_everything_on_the_page_is_reached_by_the_keyboard(
    window: Browser, centre: MonitoredCentre, name: str
) -> None:
    from selenium.webdriver.common.keys import Keys

    page = opened(name, window, centre)
    number = len(page.run(_FOCUSABLE))
    assert number
    for _ in range(number + 40):  # with the head of the page
        page.press(Keys.TAB)
        page.run(_MARK)
    found = page.run(_FOCUSABLE)
    assert [one for one, reached in found if not reached] == []
    assert [one for one, reached in found if reached == "none"] == []


def test_the_keyboard_leads_from_the_slow_target_to_the_job_that_hurts(
    window: Browser, centre: MonitoredCentre
) -> None:
    from selenium.webdriver.common.keys import Keys

    page = opened("storage", window, centre)
    assert SLOW in page.text("#health_0")
    page.link(FS).send_keys(Keys.ENTER)
    page.wait(lambda: page.path == centre.storage)
    page.link("Patterns over days").send_keys(Keys.ENTER)
    page.wait(lambda: page.all("#patterns"))
    assert "reading is periodic, every 24 h" in page.text(".lead")
    page.link("28 days").send_keys(Keys.ENTER)
    page.wait(lambda: page.path.endswith("days=28"))
    page.link("Who causes the load").send_keys(Keys.ENTER)
    page.wait(lambda: page.all("#hurting tbody a"))
    assert SERVER in page.text("#hurting tbody")
    page.one("#hurting tbody a").send_keys(Keys.ENTER)
    page.wait(lambda: page.path == centre.job)
    assert f"{SLOW} was slow" in page.text("#load")
    assert USER in page.text()
    assert page.complaints() == []


@pytest.mark.parametrize("name", ["patterns", "who loads", "job"])
def test_all_can_be_read_without_scripts(
    window: Browser, centre: MonitoredCentre, name: str
) -> None:
    page = opened(name, window, centre)
    with_scripts = page.text("main h1"), page.text(".lead")
    page.use(scripts=False)
    page.driver.refresh()
    assert (page.text("main h1"), page.text(".lead")) == with_scripts
    assert page.all("canvas") == []
    for figure in page.all("figure.chart"):
        assert figure.get_attribute("aria-label")
        assert figure.find_elements("xpath", "..//a[contains(@href, 'as=csv')]")
