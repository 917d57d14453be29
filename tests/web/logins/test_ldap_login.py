# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The login by LDAP, against a real slapd."""

from __future__ import annotations

import logging
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("bonsai", reason="bonsai is not installed (stripewise[ldap])")

from stripewise.errors import LoginServiceError, RuntimeMissingError
from stripewise.web.logins import Identity, LdapSettings, _ldap_ask, throttle_keys
from stripewise.web.logins._ldap import Ldap, escaped
from support.slapd import PASSWORD, PEOPLE, SERVICE, SERVICE_PASSWORD, Slapd, make_certificate


def searching(slapd: Slapd, **changes: Any) -> Ldap:
    """A login that searches with the service account, by StartTLS."""
    values: dict[str, Any] = {
        "url": slapd.plain_url, "start_tls": True, "ca_file": str(slapd.certificate),
        "base": "dc=centre", "bind_dn": SERVICE, "bind_password": SERVICE_PASSWORD,
    }  # fmt: skip
    return Ldap(LdapSettings.model_validate({**values, **changes}))


def direct(slapd: Slapd, **changes: Any) -> Ldap:
    """A login that binds as the user at once, by LDAPS."""
    values = {"url": slapd.tls_url, "ca_file": str(slapd.certificate),
              "user_dn": f"uid={{user}},{PEOPLE}"}  # fmt: skip
    return Ldap(LdapSettings.model_validate({**values, **changes}))


@pytest.fixture(params=[searching, direct])
def login(request: pytest.FixtureRequest, slapd: Slapd) -> Ldap:
    made: Ldap = request.param(slapd)
    return made


@pytest.mark.extended(keep=1)
def test_a_user_of_the_directory_logs_in(login: Ldap) -> None:
    assert login.password("alice", PASSWORD) == Identity("alice", "ldap")
    assert login.password("bob", "another password") == Identity("bob", "ldap")


@pytest.mark.extended(keep=1)
def test_the_name_is_the_one_in_the_directory(login: Ldap) -> None:
    assert login.password("ALICE", PASSWORD) == Identity("alice", "ldap")
    assert login.password(" alice ", PASSWORD) in (None, Identity("alice", "ldap"))
    wide = "\uff41lice"  # why failures of such names count together
    assert login.password(wide, PASSWORD) == Identity("alice", "ldap")
    assert throttle_keys(wide, "")[0] == throttle_keys("alice", "")[0]


@pytest.mark.extended(keep=10)
@pytest.mark.parametrize(
    ("user", "password"),
    [
        ("alice", "wrong"), ("nobody", PASSWORD), ("bob", PASSWORD), ("", PASSWORD),
        ("alice", ""), ("alice", "\0"), ("alice", "\0" + PASSWORD), ("alice", PASSWORD + "\0"),
        ("alice\0", PASSWORD), ("*", PASSWORD), ("ali*", PASSWORD), ("alice)(uid=*", PASSWORD),
        ("*)(objectClass=*", PASSWORD), ("alice,ou=people", PASSWORD), ("many", PASSWORD),
        ("a" * 300, PASSWORD), ("\udcff", PASSWORD), ("alice", "\udcff"), ("portal", PASSWORD),
    ],
)  # fmt: skip
def test_nobody_else_is_let_in(login: Ldap, user: str, password: str) -> None:
    assert login.password(user, password) is None


def test_this_server_accepts_an_empty_password(slapd: Slapd) -> None:
    """What the refusal above is worth: the server would have let them in."""
    import bonsai

    client = bonsai.LDAPClient(slapd.plain_url)
    client.set_credentials("SIMPLE", f"uid=alice,{PEOPLE}", "")
    with client.connect(timeout=5) as connection:
        assert connection.whoami() in ("anonymous", "")


@pytest.mark.parametrize("name", ["a*b(c)\\d", "smith, j+x"])
def test_a_name_that_means_something_in_ldap_is_a_name(login: Ldap, name: str) -> None:
    assert login.password(name, PASSWORD) == Identity(name, "ldap")


def test_a_name_of_two_people_is_nobodys(slapd: Slapd, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert searching(slapd).password("twin", PASSWORD) is None
    assert "several entries" in caplog.text
    only = searching(slapd, base=PEOPLE)
    assert only.password("twin", PASSWORD) == Identity("twin", "ldap")


def test_the_filter_decides_who_may(slapd: Slapd) -> None:
    login = searching(slapd, filter="(&(uid={user})(!(uid=bob)))")
    assert login.password("alice", PASSWORD) is not None
    assert login.password("bob", "another password") is None


def test_a_server_that_may_not_be_searched_is_the_sites_trouble(slapd: Slapd) -> None:
    login = searching(slapd, bind_dn="", bind_password=None)
    with pytest.raises(LoginServiceError, match="is not reachable"):
        login.password("alice", PASSWORD)


def test_a_wrong_password_of_the_service_is_the_sites_trouble(
    slapd: Slapd, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(LoginServiceError, match="is not reachable"):
        searching(slapd, bind_password="wrong").password("alice", PASSWORD)
    assert "wrong" not in caplog.text


def test_no_password_is_in_the_log(login: Ldap, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    login.password("alice", "a very wrong password")
    assert "uid=alice" in caplog.text
    assert "a very wrong password" not in caplog.text


@pytest.mark.parametrize("way", ["StartTLS", "LDAPS"])
def test_a_server_with_another_certificate_gets_no_password(
    slapd: Slapd, tmp_path: Path, way: str
) -> None:
    make_certificate(tmp_path)
    make = searching if way == "StartTLS" else direct
    with pytest.raises(LoginServiceError, match="is not reachable"):
        make(slapd, ca_file=str(tmp_path / "cert.pem")).password("alice", PASSWORD)


def test_a_server_that_is_gone_is_said_and_asked_again(slapd: Slapd) -> None:
    login = searching(slapd)
    slapd.stop()
    try:
        with pytest.raises(
            LoginServiceError, match=f"login service {slapd.plain_url} is not reachable: try again"
        ):
            login.password("alice", PASSWORD)
    finally:
        slapd.start(anew=True)
    assert login.password("alice", PASSWORD) == Identity("alice", "ldap")


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("start_tls", [True, False])
def test_a_server_that_says_nothing_is_not_waited_for(
    slapd: Slapd, silent: int, start_tls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, limits = subprocess.run, []

    def seen(*words: Any, **more: Any) -> Any:
        limits.append(more["timeout"])
        return run(*words, **more)

    monkeypatch.setattr("stripewise.web.logins._ldap.subprocess.run", seen)
    scheme = "ldap" if start_tls else "ldaps"
    login = searching(
        slapd, url=f"{scheme}://127.0.0.1:{silent}", start_tls=start_tls, timeout_seconds=1
    )
    with pytest.raises(LoginServiceError, match="is not reachable"):
        login.password("alice", PASSWORD)
    assert limits == [1]


def test_an_unknown_user_costs_the_server_as_much(
    slapd: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = searching(slapd)
    binds: list[str] = []
    connected = _ldap_ask._connected

    def counted(question: dict[str, Any], dn: str, password: str) -> Any:
        binds.append(password)
        return connected(question, dn, password)

    monkeypatch.setattr(_ldap_ask, "_connected", counted)
    for user in ("alice", "nobody"):
        binds.clear()
        assert "refused" in _ldap_ask.answer(login._question(user, "wrong"))
        assert binds == [SERVICE_PASSWORD, "wrong"]


def test_the_password_of_an_entry_without_the_name_opens_nothing(slapd: Slapd) -> None:
    """The bind in vain is as the base, which may have a password."""
    login = searching(slapd, base=SERVICE, filter="(cn={user})", attribute="cn")
    assert login.password("portal", SERVICE_PASSWORD) == Identity("portal", "ldap")
    assert login.password("nobody", SERVICE_PASSWORD) is None


def test_without_bonsai_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "bonsai", None)
    with pytest.raises(RuntimeMissingError, match=r"pip install 'stripewise\[ldap\]'"):
        Ldap(LdapSettings.model_validate({"url": "ldaps://x", "base": "dc=x"}))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
HOSTILE = st.text(' #"+,;<=>\\*()\0/&|!~\n\tab0', min_size=1)


@given(TEXTS | HOSTILE)
def test_an_escaped_text_is_one_value_of_a_filter(text: str) -> None:
    """By RFC 4515: nothing but plain characters and hexadecimal pairs, which give it back."""
    parts = escaped(text).split("\\")
    data = parts[0].encode()
    for part in parts[1:]:
        data += bytes.fromhex(part[:2]) + part[2:].encode()
    assert data.decode() == text
    assert not set(escaped(text)) & set("*()\0")


@given((TEXTS | HOSTILE).filter(lambda text: "\0" not in text))
def test_an_escaped_text_is_one_value_of_a_name(text: str) -> None:
    """By libldap, which reads the name as the server would."""
    import bonsai

    name = bonsai.LDAPDN(f"uid={escaped(text)},{PEOPLE}")
    assert len(name.rdns) == 3
    assert name.rdns[1:] == ((("ou", "people"),), (("dc", "centre"),))
    ((key, _),) = name.rdns[0]
    assert key == "uid"
