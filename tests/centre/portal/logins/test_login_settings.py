# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""portal.toml: what is refused, in one line that has no secret in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stripewise.centre.portal._settings import (
    AccountSettings,
    LocalSettings,
    OidcSettings,
    PortalSettings,
    ProxySettings,
    read_settings,
)
from stripewise.core.errors import ConfigurationError

SECRET = "0123456789abcdef-a-secret"
OIDC = (
    '[login.oidc]\nissuer = "https://id.centre"\nclient_id = "portal"\n'
    f'client_secret = "{SECRET}"\nusername_claim = "uid"\n'
)
PROXY = f'[login.proxy]\nnetworks = ["10.0.0.1/32"]\nsecret = "{SECRET}"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "portal.toml"
    path.touch(mode=0o600)
    return path


def read(place: Path, text: str) -> PortalSettings:
    place.write_text(text)
    return read_settings(place)


def test_an_empty_file_lets_local_accounts_in(place: Path) -> None:
    found = read(place, "")
    assert found.login.local.enabled
    assert (found.login.oidc, found.login.proxy) == (None, None)
    limits = found.accounts.limits()
    assert (limits.session_seconds, limits.idle_seconds, limits.token_days) == (43200, 7200, 366)


def test_all_sections_together(place: Path) -> None:
    found = read(place, "[accounts]\nsession_hours = 1\n" + OIDC + PROXY)
    assert found.accounts.limits().session_seconds == 3600
    assert found.login.oidc is not None
    assert found.login.oidc.client_secret.get_secret_value() == SECRET
    assert found.login.proxy is not None
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            OIDC + "issuerr = 1\n",
            "login.oidc: no key is called 'issuerr', did you mean issuer or server?",
        ),
        ("[login.ldap]\nurl = 'ldaps://x'\n", "login: the portal asks no directory by LDAP any"),
        ("[logins]\n", "no key is called 'logins', did you mean login?"),
        ("[login.saml]\n", "login: no key is called 'saml'"),
        ("[login.local]\nissuer = 1\n", "login.local: 'issuer' belongs in"),
        ("[login.local]\nenabled = 1\n", "login.local.enabled = 1: "),
        ("[accounts]\nsession_hours = 0\n", "accounts.session_hours = 0: "),
        ("[login.oidc]\nclient_id = 'x'\n", "login.oidc.issuer is missing: add it"),
        (OIDC.replace('"https://id.centre"', '""'), "login.oidc.issuer: an empty text"),
        (OIDC + "ca_file = 'x.pem'\n", "login.oidc.ca_file: give an absolute path"),
        (OIDC.replace(SECRET, ""), "login.oidc.client_secret: an empty secret protects nothing"),
        (OIDC.replace(SECRET, "  "), "login.oidc.client_secret: an empty secret"),
        (OIDC.replace("https:", "http:"), "'http://id.centre' is not an issuer"),
        (OIDC + "scopes = ['profile']\n", 'scopes lacks "openid"'),
        (OIDC + "groups_claim = 'groups'\n", "groups_claim and roles together"),
        (OIDC + "groups_claim = 'g'\n[login.oidc.roles]\nroot = ['x']\n", "roles has 'root'"),
        (OIDC.replace('username_claim = "uid"', ""), "login.oidc.username_claim is missing"),
        (PROXY.replace(SECRET, ""), "login.proxy.secret: an empty secret protects nothing"),
        (PROXY.replace(SECRET, "short"), "login.proxy.secret: the secret is shorter than 16"),
        (PROXY.replace(f'"{SECRET}"', "12345678"), "login.proxy.secret: give text, file:PATH"),
        (PROXY.replace('"10.0.0.1/32"', ""), "login.proxy.networks"),
        (PROXY.replace("10.0.0.1/32", "0.0.0.0/0"), "this network is everybody"),
        (PROXY.replace("10.0.0.1/32", "::/0"), "this network is everybody"),
        (PROXY.replace("10.0.0.1/32", "10.0.0.1/8"), "has host bits set"),
        (PROXY.replace("10.0.0.1/32", "proxy"), "login.proxy.networks.0"),
        (PROXY + "user_header = 'X Remote'\n", "give the name of a header"),
        ("[login", "is not TOML in UTF-8"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(place: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(place, text)
    message = str(caught.value)
    assert said in message
    assert str(place) in message
    assert "\n" not in message
    assert SECRET not in message
    assert "12345678" not in message


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_settings(tmp_path / "portal.toml")
    (tmp_path / "portal.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is not TOML in UTF-8"):
        read_settings(tmp_path / "portal.toml")


def test_a_secret_of_a_file(place: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    text = PROXY.replace(SECRET, f"file:{secret}")
    with pytest.raises(ConfigurationError, match=f"{secret} cannot be read"):
        read(place, text)
    secret.touch(mode=0o640)
    with pytest.raises(ConfigurationError, match="an empty secret"):
        read(place, text)
    secret.write_text(SECRET + "\n")
    found = read(place, text)
    assert found.login.proxy is not None
    assert found.login.proxy.secret.get_secret_value() == SECRET
    secret.chmod(0o644)
    with pytest.raises(
        ConfigurationError, match=f"everybody may read or change {secret}: .*chmod o-rw"
    ):
        read(place, text)
    with pytest.raises(ConfigurationError, match="absolute path"):
        read(place, PROXY.replace(SECRET, "file:secret"))


def test_a_secret_of_the_environment(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PROXY.replace(SECRET, "env:PORTAL_SECRET")
    for value in (None, "", " "):
        if value is not None:
            monkeypatch.setenv("PORTAL_SECRET", value)
        with pytest.raises(ConfigurationError, match="variable 'PORTAL_SECRET' is empty or not"):
            read(place, text)
    monkeypatch.setenv("PORTAL_SECRET", SECRET)
    found = read(place, text)
    assert found.login.proxy is not None
    assert found.login.proxy.secret.get_secret_value() == SECRET


def test_settings_with_a_secret_are_not_for_everybody(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.chmod(0o644)
    for text in (PROXY, OIDC):
        with pytest.raises(ConfigurationError, match="everybody may read this file"):
            read(place, text)
    monkeypatch.setenv("PORTAL_SECRET", SECRET)
    read(place, PROXY.replace(SECRET, "env:PORTAL_SECRET"))


HOW_TO = Path(__file__).parents[4] / "docs" / "how-to" / "log-in-to-the-portal.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_documentation_are_read(
    place: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("A_SECRET", SECRET)
    read(place, re.sub(r"file:[^\"]+", "env:A_SECRET", text))


def test_every_key_is_in_the_documentation() -> None:
    text = "\n".join(EXAMPLES) + HOW_TO.read_text(encoding="utf-8")
    forms = (AccountSettings, LocalSettings, OidcSettings, ProxySettings)
    keys = {key for form in forms for key in form.model_fields}
    assert len(EXAMPLES) >= 3
    assert {key for key in keys if not re.search(rf"\b{key}\b", text)} == set()
