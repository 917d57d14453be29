# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logins under way: finished once, in time, by the browser that began them."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from stripewise.centre.database.accounts import Attempts
from stripewise.centre.database.accounts._sessions import local_path
from stripewise.centre.database.tables import LoginAttempt
from support.clock import Clock


def test_an_attempt_is_taken_once(attempts: Attempts) -> None:
    made = attempts.start("/jobs?state=FAILED")
    assert len({made.state, made.cookie, made.nonce, made.verifier}) == 4
    assert 43 <= len(made.verifier) <= 128
    assert attempts.take(made.state, made.cookie) == made
    assert attempts.take(made.state, made.cookie) is None


def test_nobody_finishes_what_another_browser_began(attempts: Attempts) -> None:
    mine, theirs = attempts.start("/"), attempts.start("/")
    for state, cookie in [
        (theirs.state, mine.cookie), (theirs.state, ""), ("", theirs.cookie), ("", ""),
        (theirs.cookie, theirs.state), (theirs.state + ".", theirs.cookie), ("\udcff", "x"),
    ]:  # fmt: skip
        assert attempts.take(state, cookie) is None
    assert attempts.take(theirs.state, theirs.cookie) == theirs


def test_an_attempt_expires_and_goes(engine: Engine, attempts: Attempts, clock: Clock) -> None:
    made = attempts.start("/")
    attempts.start("/")
    clock.pass_by(attempts.limits.attempt_seconds)
    assert attempts.take(made.state, made.cookie) is None
    attempts.start("/")
    with engine.begin() as connection:
        assert connection.scalar(select(func.count()).select_from(LoginAttempt)) == 1


@pytest.mark.parametrize(
    "path",
    ["", "jobs", "//evil.org", "/\\evil.org", "\\\\evil.org", "https://evil.org", "/a\nb",
     "/\tb", "javascript:alert(1)", "/a\0", "/" + "x" * 2000, "/é", "/a\\..\\b", " //evil.org"],
)  # fmt: skip
def test_a_page_elsewhere_is_not_gone_to(path: str) -> None:
    assert local_path(path) == "/"


@pytest.mark.parametrize("path", ["/", "/jobs?q=a%2F/b&sort=-io_seconds", "/job/1#files"])
def test_a_page_of_the_portal_is_kept(path: str) -> None:
    assert local_path(path) == path


@given(st.text("/\\.:@?#%ab\t ", max_size=12))
def test_no_path_leads_to_another_host(text: str) -> None:
    home = "https://portal.example.org"
    assert urlsplit(urljoin(home + "/login", local_path(text))).netloc == urlsplit(home).netloc
