# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The login by a proxy's header: from whom it is believed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.portal._settings import ProxySettings
from stripewise.centre.portal.logins._base import Identity
from stripewise.centre.portal.logins._entrance import Proxy

SECRET = "0123456789abcdef-a-secret"
Headers = Sequence[tuple[str, str]]
GOOD: Headers = [("Host", "x"), ("X-Remote-User", "alice"), ("X-Stripewise-Secret", SECRET)]


def proxy() -> Proxy:
    networks = ["10.1.0.0/16", "2001:db8::/32", "127.0.0.1/32"]
    return Proxy(ProxySettings.model_validate({"networks": networks, "secret": SECRET}))


@pytest.mark.parametrize(
    "peer", ["10.1.2.3", "127.0.0.1", "::ffff:10.1.2.3", "2001:db8::1", "::ffff:127.0.0.1"]
)
def test_a_listed_proxy_names_the_user(peer: str) -> None:
    assert proxy().from_headers(peer, GOOD) == Identity("alice", "proxy")
    lower = [(key.lower(), value) for key, value in GOOD]
    assert proxy().from_headers(peer, lower) == Identity("alice", "proxy")


@pytest.mark.parametrize(
    "peer",
    ["10.2.0.1", "", "localhost", "10.1.2.3:80", "::1", "unix:", "2001:db9::1",
     "10.1.2.3, 1.1.1.1", "::ffff:10.2.0.1", "10.1.2", "testclient"],
)  # fmt: skip
def test_whoever_else_sends_the_headers_is_ignored_and_noted(
    peer: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert proxy().from_headers(peer, GOOD) is None
    assert "the peer is not in login.proxy.networks" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (GOOD[:2], "does not come exactly once"),
        ([*GOOD[:2], ("X-Stripewise-Secret", "")], "the secret is wrong"),
        ([*GOOD[:2], ("X-Stripewise-Secret", SECRET[:-1])], "the secret is wrong"),
        ([*GOOD[:2], ("X-Stripewise-Secret", "\udcff")], "the secret is wrong"),
        ([*GOOD[:2], ("X-Stripewise-Secret", "é")], "the secret is wrong"),
        ([("X-Remote-User", "bob"), *GOOD], "does not come exactly once"),
        ([*GOOD, GOOD[2]], "does not come exactly once"),
        (GOOD[2:], "no user is named"),
    ],
)
def test_a_header_without_the_secret_or_twice_is_ignored_and_noted(
    headers: Headers, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert proxy().from_headers("10.1.2.3", headers) is None
    assert why in caplog.text
    assert SECRET[:-1] not in caplog.text


def test_a_request_without_such_headers_is_nothing_to_note(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert proxy().from_headers("10.2.0.1", GOOD[:1]) is None
    assert proxy().from_headers("10.1.2.3", [*GOOD[2:], ("X-Remote-User", "")]) is None
    assert caplog.text == ""


def test_a_peer_cannot_write_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    proxy().from_headers("1\nERROR all is lost", GOOD)
    assert len(caplog.messages) == 1
    assert "\n" not in caplog.messages[0]


@given(st.text(), st.lists(st.tuples(st.sampled_from(
    ["X-Remote-User", "x-stripewise-secret", "Cookie"]), st.text())))  # fmt: skip
def test_nothing_that_is_sent_is_an_error(peer: str, headers: list[tuple[str, str]]) -> None:
    assert proxy().from_headers(peer, headers) is None
