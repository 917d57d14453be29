# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.centre.database import create_engine, initialise
from support import browser as browser_support
from support.browser import Browser, Place
from support.portal_jobs import document, finding, job, profile, store
from support.portal_server import serving

_JOBS = 120
NUMBER = 987654321
"""Of a job of the user that has a finding with settings against it."""


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if why := browser_support.missing():
        pytest.skip(why)
    from synthetic_centre import make_centre, open_accounts

    database = tmp_path_factory.mktemp("centre") / "fleet.sqlite"
    engine = create_engine(str(database))
    initialise(engine)
    centre = make_centre(engine, jobs=_JOBS, workers=1)
    user = centre.logins[0].login
    store(engine, [job(NUMBER, user=user, name="a_name_without_end_" * 6),
                   profile(NUMBER, user=user, made=document(NUMBER, [finding()]))])  # fmt: skip
    passwords = {one.login: word for one, word in open_accounts(engine, centre.logins).items()}
    engine.dispose()
    with serving(database) as address:
        yield Place(address, user, str(NUMBER), passwords)


@pytest.fixture(scope="session")
def window(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    downloads: Path = tmp_path_factory.mktemp("downloads")
    with browser_support.browsing(place.address, downloads) as found:
        yield found


@pytest.fixture
def browser(window: Browser) -> Browser:
    """A browser in which nobody is logged in."""
    window.use()
    window.driver.delete_all_cookies()
    window.open("/login")
    window.complaints()
    return window


@pytest.fixture
def user(browser: Browser, place: Place) -> Browser:
    browser.log_in(place.user, place.passwords[place.user])
    return browser


@pytest.fixture
def admin(browser: Browser, place: Place) -> Browser:
    browser.log_in("admin", place.passwords["admin"])
    return browser
