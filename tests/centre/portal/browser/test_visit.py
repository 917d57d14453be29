# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user does in the portal, in a real browser."""

from __future__ import annotations

import pytest

from stripewise.settings import formats
from support.browser import Browser, Place


def rows(browser: Browser) -> list[str]:
    return [str(one.text) for one in browser.all("#jobs tbody tr")]


def open_job(browser: Browser, number: str) -> None:
    browser.open(f"/jobs?q={number}")
    browser.link(number).click()
    browser.wait(lambda: browser.all(".finding"))


def test_a_user_finds_a_job_and_reads_the_advice(user: Browser, place: Place) -> None:
    number = place.job
    user.open("/jobs")
    user.one("#f-q").send_keys(number)
    user.one(".search button").click()
    user.wait(lambda: f"q={number}" in user.path and len(rows(user)) == 1)
    assert user.text(".lead") == "1 job matches this search."
    user.link(number).click()
    user.wait(lambda: user.all(".finding"))
    assert number in user.text("h1")
    finding = user.text(".finding")
    assert "A change saves about 2.5 s (2 s to 3 s)" in finding
    assert "What to do: Enable collective buffering" in finding
    assert user.complaints() == []


@pytest.mark.extended
def test_settings_for_the_next_run_come_in_both_forms(user: Browser, place: Place) -> None:
    number = place.job
    open_job(user, number)
    user.one("a[download][href$='settings.toml']").click()
    loaded = formats.get("toml").read(user.downloaded(f"settings-{number}.toml")).configuration
    assert dict(loaded.files[0].mpiio) == {"romio_cb_write": "enable"}
    user.one("a[download][href$='settings.sh']").click()
    lines = user.downloaded(f"settings-{number}.txt")
    assert "export " in lines
    assert "stripewise" not in lines.lower()
    assert user.complaints() == []


@pytest.mark.extended
def test_lines_of_a_finding_are_copied(user: Browser, place: Place) -> None:
    open_job(user, place.job)
    box = user.one(".finding .copy")
    user.driver.set_permissions("clipboard-read", "granted")
    button = user.wait(lambda: box.find_element("css selector", "button"))
    user.run(  # it says so for a moment that a busy host may miss
        "const said = arguments[0].dataset; new MutationObserver((found) => found.forEach("
        "(one) => { said.said = (said.said || '') + one.target.textContent; }))"
        ".observe(arguments[0], {childList: true});",
        button,
    )
    button.click()
    user.wait(lambda: "Copied" in (button.get_attribute("data-said") or ""))
    copied = user.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], (why) => arguments[0](String(why)))"
    )
    assert copied.strip() == box.find_element("css selector", "code").text.strip()


def test_the_list_is_sorted_and_paged_without_loading_the_page_anew(admin: Browser) -> None:
    admin.open("/jobs")
    admin.run("window.stayed = true")
    first = rows(admin)
    admin.link("Run time").click()
    admin.wait(lambda: "sort=-run_seconds" in admin.path and rows(admin) != first)
    admin.settle()
    assert "descending" in admin.one("th[aria-sort]").get_attribute("aria-sort")
    longest = rows(admin)
    admin.one("a[rel=next]").click()
    admin.wait(lambda: "after=" in admin.path and rows(admin) != longest)
    assert not set(rows(admin)) & set(longest)
    assert admin.run("return window.stayed")
    admin.driver.back()
    admin.wait(lambda: "after=" not in admin.path and rows(admin) == longest)
    admin.driver.back()
    admin.wait(lambda: admin.path == "/jobs" and rows(admin) == first)
    assert admin.complaints() == []


@pytest.mark.extended
def test_charts_are_drawn_anew_after_the_back_button(user: Browser) -> None:
    user.open("/storage/demo-scratch")
    user.wait(lambda: user.all("figure.chart canvas"))
    user.link("Programs").click()
    user.wait(lambda: user.path == "/programs")
    user.driver.back()
    user.wait(lambda: user.all("figure.chart canvas"))
    assert user.complaints() == []


@pytest.mark.extended
def test_a_chart_that_is_swapped_in_is_drawn(user: Browser) -> None:
    user.open("/storage/demo-scratch")
    user.wait(lambda: user.all("figure.chart canvas"))
    user.run(
        "const copy = document.querySelector('figure.chart').cloneNode(true);"
        "copy.classList.remove('drawn'); copy.querySelector('.canvas').replaceChildren();"
        "copy.id = 'new'; document.getElementById('content').append(copy);"
        "document.dispatchEvent(new Event('htmx:afterSettle'));"
    )
    user.wait(lambda: user.all("#new.drawn canvas"))
    assert user.complaints() == []


@pytest.mark.extended
def test_titles_of_columns_are_not_broken_on_a_phone(user: Browser) -> None:
    user.use(width=390)
    user.open("/storage")
    widths = user.run(
        "return [...document.querySelectorAll('td[data-title=Health]')].map("
        "(cell) => parseFloat(getComputedStyle(cell, '::before').width))"
    )
    assert widths
    assert min(widths) > 30, "one word takes one line"


@pytest.mark.extended
def test_after_logging_out_nothing_is_left(user: Browser) -> None:
    user.open("/jobs")
    user.one("form[action='/logout'] button").click()
    user.wait(lambda: user.all("a[href='/login']"))
    user.driver.back()
    user.wait(lambda: user.path.startswith("/login") or user.path == "/jobs")
    user.open("/jobs")
    assert user.path.startswith("/login?next=")
    assert rows(user) == []


@pytest.mark.extended
def test_a_wrong_password_is_said_and_a_right_one_leads_where_one_wanted(
    browser: Browser, place: Place
) -> None:
    browser.open("/jobs?sort=-run_seconds")
    for word in ("wrong", place.passwords[place.user]):
        browser.one("#user").clear()
        browser.one("#user").send_keys(place.user)
        browser.one("#secret").send_keys(word)
        browser.one("form[action='/login'] button").click()
        if word == "wrong":
            assert browser.wait(lambda: browser.text("[role=alert]"))
    browser.wait(lambda: browser.path == "/jobs?sort=-run_seconds")


@pytest.mark.extended
def test_tokens_are_made_and_revoked(user: Browser) -> None:
    user.open("/account")
    user.one("#name").send_keys("notebook")
    user.one("form[action='/account/tokens'] button").click()
    assert user.wait(lambda: user.text(".notice.good code")).startswith("sw")
    assert "notebook" in user.text("table")
    user.one("form[action$='/revoke'] button").click()
    user.wait(lambda: "You have no tokens." in user.text())


@pytest.mark.extended
def test_the_keyboard_is_enough(user: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    user.open("/jobs")
    assert user.press(Keys.TAB).text == "Skip to the content"
    seen = []
    ringed = set()
    for _ in range(50):
        one = user.press(Keys.TAB)
        seen.append(one)
        # Asked while the key has put the focus there: what a script gives need not be shown.
        # A date takes four keys, and its button draws a ring of its own.
        if user.run("return getComputedStyle(arguments[0]).outlineStyle", one) != "none":
            ringed.add(one)
    assert ringed == set(seen)
    places = [one.get_attribute("href") or one.get_attribute("id") or one.tag_name for one in seen]
    menu = places.index(f"{user.address}/programs")
    search = places.index("f-q")
    table = next(place for place, one in enumerate(places) if "/jobs/" in one)
    assert menu < search < table
    user.open("/jobs")
    user.press(Keys.TAB, Keys.ENTER)
    following = user.press(Keys.TAB)
    assert user.run("return document.getElementById('content').contains(arguments[0])", following)


@pytest.mark.extended
def test_the_keyboard_stays_where_it_is_when_a_list_is_sorted(user: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    user.open("/jobs")
    for word in ("sort=-run_seconds", "sort=run_seconds"):
        user.one("#sort-jobs-run_seconds").send_keys(Keys.ENTER)
        user.wait(lambda word=word: word in user.path and user.all("th[aria-sort]"))
        user.wait(lambda: user.run("return document.activeElement.id") == "sort-jobs-run_seconds")
        user.settle()


@pytest.mark.extended
def test_the_keyboard_searches_and_opens_a_job(user: Browser, place: Place) -> None:
    from selenium.webdriver.common.keys import Keys

    number = place.job
    user.open("/jobs")
    user.one("#f-q").send_keys(number, Keys.ENTER)
    user.wait(lambda: len(rows(user)) == 1)
    user.one("#jobs tbody a").send_keys(Keys.ENTER)
    user.wait(lambda: number in user.text("h1"))


@pytest.mark.extended
@pytest.mark.parametrize("path", ["/jobs", "/storage/demo-scratch", "/programs"])
def test_all_can_be_read_without_scripts(admin: Browser, path: str) -> None:
    admin.open(path)
    with_scripts = admin.text("main h1"), admin.text(".lead")
    admin.use(scripts=False)
    admin.open(path)
    assert (admin.text("main h1"), admin.text(".lead")) == with_scripts
    assert not admin.all("canvas")
    assert admin.all("main table tbody tr") or admin.all("main dl")
    for figure in admin.all("figure.chart"):
        assert figure.get_attribute("aria-label")
        assert figure.find_elements("xpath", "..//a[contains(@href, 'as=csv')]")


@pytest.mark.extended
def test_a_job_is_found_and_read_without_scripts(user: Browser, place: Place) -> None:
    number = place.job
    user.use(scripts=False)
    user.open("/jobs")
    user.one("#f-q").send_keys(number)
    user.one(".search button").click()
    user.wait(lambda: len(rows(user)) == 1)
    user.link(number).click()
    assert "What to do:" in user.text(".finding")
    user.link("Programs").click()
    assert user.path == "/programs"
    user.one("form[action='/logout'] button").click()
    user.wait(lambda: user.all("a[href='/login']"))
