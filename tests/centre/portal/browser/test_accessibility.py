# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every page, in the light, in the dark, on a phone: no barriers, no complaints, no overflow."""

from __future__ import annotations

import re

import pytest

from support.browser import Browser, Place

pytest.importorskip("fastapi")
PHONE = 360
FURTHER = ("/login", "/account", "/nothing/here", "/jobs?q=nothing-has-this-name", "/jobs?after=x")
FILES = ("/profile/", "/settings")


def paths() -> list[str]:
    from stripewise.centre.portal import PAGES

    return [page.path for page in PAGES if not any(part in page.path for part in FILES)]


def address_of(path: str, browser: Browser) -> str:
    """Return the address of a page with something to show."""
    if "{" not in path and path != "/jobs/compare":
        return path
    browser.open("/jobs?sort=-avoidable_seconds")
    jobs = [str(one.get_attribute("href")) for one in browser.all("#jobs tbody td:first-child a")]
    job, other = (re.sub(r".*/", "", one) for one in jobs[:2])
    if path == "/jobs/compare":
        return f"/jobs/compare?a={job}&b={other}"
    if "{program}" in path:
        browser.open("/programs")
        program = browser.one("table a[href*='/programs/']").get_attribute("href")
        return str(program).removeprefix(browser.address)
    found = path.replace("{job:int}", job).replace("{name}", "demo-scratch")
    assert "{" not in found, f"say here how {path} is opened"
    return found


@pytest.mark.extended(keep=2)
@pytest.mark.parametrize("path", [*paths(), *FURTHER])
def test_page_is_open_to_all(admin: Browser, path: str) -> None:
    address = address_of(path, admin)
    admin.complaints()
    admin.open(address)
    states = {"light": {}, "dark": {"dark": True}, "phone": {"width": PHONE}}
    found = {}
    for state, words in states.items():
        admin.use(**words)
        found[state] = admin.barriers()
        assert admin.overflow() <= 0, f"{path} is too wide: {state}"
    assert not any(found.values()), found
    expected = r"404|400" if path in FURTHER[2:] else "$^"
    assert [one for one in admin.complaints() if not re.search(expected, one)] == []


@pytest.mark.extended
def test_what_only_the_owner_of_a_job_sees_is_open_to_all(user: Browser, place: Place) -> None:
    user.open(f"/jobs?q={place.job}")
    user.link(place.job).click()
    user.wait(lambda: user.all(".copy button"))
    for words in ({}, {"dark": True}, {"width": PHONE}):
        user.use(**words)
        for details in user.all("details:not([open]) summary"):
            details.click()
        assert user.barriers() == []
        assert user.overflow() <= 0
    assert user.complaints() == []


@pytest.mark.extended
def test_barriers_and_violations_would_be_found(browser: Browser) -> None:
    browser.use(dark=True)
    assert browser.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    browser.run("""
        document.querySelector("main").innerHTML = "<button></button>"
            + "<p>pale</p>";
        document.querySelector("main p").style.cssText = "color: #777; background: #666";
        document.body.append(Object.assign(document.createElement("script"), {text: "1"}));
    """)
    assert {"button-name", "color-contrast"} <= {one[1] for one in browser.barriers()}
    assert any("script-src" in one for one in browser.complaints())
    browser.run("document.querySelector('main').style.minWidth = '3000px'")
    assert browser.overflow() > 1000


@pytest.mark.extended
def test_lists_of_jobs_need_no_scrolling_at_a_desk(admin: Browser, place: Place) -> None:
    for path in ("/jobs", "/jobs?sort=-io_seconds", f"/jobs?q={place.job}"):
        admin.open(path)
        box = "const box = document.querySelector('#jobs .scroll');"
        assert admin.run(f"{box} return box.scrollWidth - box.clientWidth") <= 0
