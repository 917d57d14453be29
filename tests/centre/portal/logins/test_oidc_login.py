# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The login by OpenID Connect, against a real provider and against one that lies."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import RSAKey

from stripewise.centre.database.accounts import Attempts
from stripewise.centre.portal.logins._base import Identity
from stripewise.centre.portal.logins._oidc import Oidc
from stripewise.core.errors import LoginError, LoginServiceError
from support import fake_oidc
from support.clock import Clock
from support.fake_oidc import CLIENT, Claims, FakeOidc
from support.oidc_settings import CALLBACK, SECRET, query_of, settings
from support.ports import free_port


@pytest.fixture
def provider() -> Iterator[FakeOidc]:
    with fake_oidc.running() as made:
        yield made


@pytest.fixture
def login(provider: FakeOidc, attempts: Attempts) -> Oidc:
    return Oidc(settings(provider.issuer), attempts, CALLBACK)


def come_back(login: Oidc, provider: FakeOidc, **changes: str) -> Identity:
    departure = login.start("/")
    sent = query_of(departure.url)
    provider.nonce = sent["nonce"]
    query = {"state": sent["state"], "code": "the code", **changes}
    return login.finish(query, departure.cookie).identity


def test_what_the_browser_and_the_code_are_sent_with(login: Oidc, provider: FakeOidc) -> None:
    departure = login.start("/")
    place = urlsplit(departure.url)
    assert f"{place.scheme}://{place.netloc}{place.path}" == f"{provider.issuer}/authorize"
    sent = {key: value[0] for key, value in parse_qs(place.query).items()}
    assert departure.cookie not in departure.url
    provider.nonce = sent["nonce"]
    login.finish({"state": sent["state"], "code": "the code"}, departure.cookie)
    (form,) = provider.forms
    challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
    expected = base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
    assert (sent["code_challenge"], sent["code_challenge_method"]) == (expected, "S256")
    assert (sent["response_type"], sent["client_id"], sent["scope"]) == (
        "code", CLIENT, "openid profile",
    )  # fmt: skip
    assert sent["redirect_uri"] == form["redirect_uri"] == CALLBACK
    assert (form["grant_type"], form["code"]) == ("authorization_code", "the code")
    basic = base64.b64encode(b"portal:s%2Fe%20cret%25").decode()
    assert form["authorization"] == f"Basic {basic}"
    assert "client_secret" not in form


def test_a_provider_that_wants_the_secret_in_the_form(login: Oidc, provider: FakeOidc) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    come_back(login, provider)
    assert provider.forms[0]["client_secret"] == SECRET
    assert provider.forms[0]["authorization"] == ""


def part(data: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()


def unsigned(claims: Claims, algorithm: str) -> str:
    return f"{part({'alg': algorithm, 'kid': 'first'})}.{part(claims)}."


def by_secret(claims: Claims, secret: bytes) -> str:
    """By hand: joserfc refuses to take a public key for a secret when it signs, too."""
    text = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(claims)}"
    signature = hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def by_stranger(claims: Claims, kid: str) -> str:
    key = RSAKey.generate_key(2048, {"kid": kid})
    return jwt.encode({"alg": "RS256", "kid": kid}, claims, key)


def changed(provider: FakeOidc, claims: Claims) -> str:
    head, _, signature = provider.signed(claims).split(".")
    return ".".join((head, part({**claims, "uid": "bob"}), signature))


def a_list(provider: FakeOidc, claims: Claims) -> str:
    key = provider.keys[0]
    return jws.serialize_compact({"alg": "RS256", "kid": key.kid}, json.dumps([claims]), key)


FORGED: dict[str, Callable[[FakeOidc, Claims], str]] = {
    "alg none": lambda provider, claims: unsigned(claims, "none"),
    "alg None": lambda provider, claims: unsigned(claims, "None"),
    "no signature": lambda provider, claims: unsigned(claims, "RS256"),
    "HS256 with the public key": lambda provider, claims: by_secret(
        claims, provider.keys[0].as_pem(private=False)
    ),
    "HS256 with the client's secret": lambda provider, claims: by_secret(claims, SECRET.encode()),
    "another key of the name": lambda provider, claims: by_stranger(claims, "first"),
    "an unknown key": lambda provider, claims: by_stranger(claims, "other"),
    "changed": changed,
    "no token": lambda provider, claims: "",
    "no parts": lambda provider, claims: "x",
    "a list": a_list,
}


@pytest.mark.extended(keep=5)
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_not_believed(login: Oidc, provider: FakeOidc, name: str) -> None:
    provider.make = lambda claims: FORGED[name](provider, claims)
    with pytest.raises(LoginError, match="cannot be trusted"):
        come_back(login, provider)


WRONG: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "https://evil.org"},
    "issuer in a list": {"iss": ["http://127.0.0.1"]},
    "no issuer": {"iss": None},
    "audience": {"aud": "another portal"},
    "audiences": {"aud": ["one", "two"]},
    "no audience": {"aud": None},
    "expired": {"exp": 1},
    "never expires": {"exp": None},
    "expires as text": {"exp": "9999999999"},
    "expires at NaN": {"exp": float("nan")},
    "from the future": {"iat": 9_999_999_999},
    "not yet": {"nbf": 9_999_999_999},
    "another login": {"nonce": "x"},
    "no nonce": {"nonce": None},
    "no subject": {"sub": None},
    "several audiences, no authorised party": {"aud": [CLIENT, "two"]},
    "another authorised party": {"azp": "another portal"},
}


@pytest.mark.extended(keep=5)
@pytest.mark.parametrize("name", WRONG)
def test_a_token_for_something_else_is_not_believed(
    login: Oidc, provider: FakeOidc, name: str
) -> None:
    def made(claims: Claims) -> str:
        changed = {**claims, **WRONG[name]}
        return provider.signed({key: one for key, one in changed.items() if one is not None})

    provider.make = made
    with pytest.raises(LoginError, match=r"cannot be trusted|for another service"):
        come_back(login, provider)


def test_several_audiences_with_us_as_the_authorised_party(
    login: Oidc, provider: FakeOidc
) -> None:
    provider.make = lambda claims: provider.signed(
        {**claims, "aud": [CLIENT, "two"], "azp": CLIENT}
    )
    assert come_back(login, provider).login == "alice"


def test_a_new_key_of_the_provider_is_asked_for_once(login: Oidc, provider: FakeOidc) -> None:
    assert come_back(login, provider).login == "alice"
    come_back(login, provider)
    assert provider.asked.count("/jwks") == 1
    provider.keys.append(RSAKey.generate_key(2048, {"kid": "second"}))
    provider.published = list(provider.keys)
    assert come_back(login, provider).login == "alice"
    assert provider.asked.count("/jwks") == 2
    assert provider.asked.count("/.well-known/openid-configuration") == 1
    provider.keys.append(RSAKey.generate_key(2048, {"kid": "not published"}))
    with pytest.raises(LoginError, match="cannot be trusted"):
        come_back(login, provider)
    assert provider.asked.count("/jwks") == 3


def test_nobody_finishes_a_login_that_another_browser_began(
    login: Oidc, provider: FakeOidc
) -> None:
    """A code of the attacker, sent to the victim's browser, logs nobody in."""
    victim, attacker = login.start("/"), login.start("/")
    state = query_of(attacker.url)["state"]
    for cookie in (victim.cookie, ""):
        with pytest.raises(LoginError, match="not begun in this browser"):
            login.finish({"state": state, "code": "of the attacker"}, cookie)
    for query in ({}, {"code": "x"}, {"state": "", "code": "x"}, {"state": "\udcff", "code": "x"}):
        with pytest.raises(LoginError, match="not begun in this browser"):
            login.finish(query, victim.cookie)
    assert provider.forms == []


def test_a_login_that_takes_too_long_is_over(
    login: Oidc, provider: FakeOidc, attempts: Attempts, clock: Clock
) -> None:
    departure = login.start("/")
    clock.pass_by(attempts.limits.attempt_seconds)
    with pytest.raises(LoginError, match="took too long"):
        login.finish({"state": query_of(departure.url)["state"], "code": "x"}, departure.cookie)
    assert provider.forms == []


def test_an_answer_that_is_not_complete_or_of_another_provider(
    login: Oidc, provider: FakeOidc
) -> None:
    for changes in ({"code": ""}, {"iss": "https://evil.org"}):
        with pytest.raises(LoginError, match="is not complete"):
            come_back(login, provider, **changes)
    with pytest.raises(LoginError, match=r"refused: no\\x0a<b>"):
        come_back(login, provider, error="no", error_description="no\n<b>")
    assert provider.forms == []
    come_back(login, provider, iss=provider.issuer)


def test_claims_that_the_token_lacks_are_asked_for(provider: FakeOidc, attempts: Attempts) -> None:
    login = Oidc(settings(provider.issuer, username_claim="account"), attempts, CALLBACK)
    provider.userinfo = {"sub": "4711", "account": "carol"}
    assert come_back(login, provider).login == "carol"
    provider.userinfo = {"sub": "4712", "account": "carol"}
    with pytest.raises(LoginError, match="two users at once"):
        come_back(login, provider)


@pytest.mark.parametrize("uid", [None, "", 7, ["alice"], {"a": 1}])
def test_a_name_that_is_no_text_is_no_name(login: Oidc, provider: FakeOidc, uid: Any) -> None:
    provider.make = lambda claims: provider.signed({**claims, "uid": uid})
    with pytest.raises(LoginError, match="does not say your user name"):
        come_back(login, provider)


def test_an_address_that_is_not_verified_is_no_name(
    provider: FakeOidc, attempts: Attempts
) -> None:
    login = Oidc(settings(provider.issuer, username_claim="email"), attempts, CALLBACK)
    for verified in (None, False, "true"):
        told = {"email": "a@centre", "email_verified": verified}
        provider.make = lambda claims, told=told: provider.signed({**claims, **told})
        with pytest.raises(LoginError, match="has not verified"):
            come_back(login, provider)
    provider.make = lambda claims: provider.signed(
        {**claims, "email": "a@centre", "email_verified": True}
    )
    assert come_back(login, provider).login == "a@centre"


@pytest.mark.extended(keep=4)
@pytest.mark.parametrize(
    ("groups", "role"),
    [(["wheel", "ops"], "admin"), (["ops"], "support"), ("ops", "support"), ([], "user"),
     (None, "user"), (["Wheel"], "user"), ("wheelers", "user"), ([["wheel"]], "user"),
     (7, "user"), ({"wheel": 1}, "user")],
)  # fmt: skip
def test_the_highest_role_of_the_groups_counts(
    provider: FakeOidc, attempts: Attempts, groups: Any, role: str
) -> None:
    roles = {"admin": ["wheel"], "support": ["ops"]}
    made = settings(provider.issuer, groups_claim="groups", roles=roles)
    login = Oidc(made, attempts, CALLBACK)
    provider.userinfo = {"sub": "4711"}
    provider.make = lambda claims: provider.signed({**claims, "groups": groups})
    assert come_back(login, provider).role == role


def test_a_provider_that_is_gone_is_named_and_asked_again(attempts: Attempts) -> None:
    login = Oidc(settings(f"http://127.0.0.1:{free_port()}"), attempts, CALLBACK)
    for _ in range(2):
        with pytest.raises(
            LoginServiceError,
            match=r"login service http://127.* is not reachable \(ConnectError\)",
        ):
            login.start("/")


def test_a_provider_that_comes_back_is_used(login: Oidc, provider: FakeOidc) -> None:
    provider.status = 503
    with pytest.raises(LoginServiceError, match="is not reachable"):
        login.start("/")
    provider.status = 200
    departure = login.start("/")
    sent = query_of(departure.url)
    provider.nonce, provider.status = sent["nonce"], 502
    with pytest.raises(LoginServiceError, match="is not reachable"):
        login.finish({"state": sent["state"], "code": "x"}, departure.cookie)
    provider.status = 200
    assert come_back(login, provider).login == "alice"


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"issuer": "https://evil.org"}, "it calls itself https://evil.org"),
        ({"token_endpoint": None}, "its metadata are not complete"),
        ({"jwks_uri": "file:///etc/passwd"}, "its services are not at https://"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "its services are not at https://"),
    ],
)
def test_a_provider_that_says_strange_things_is_not_used(
    login: Oidc, provider: FakeOidc, metadata: Claims, said: str
) -> None:
    provider.metadata = metadata
    with pytest.raises(LoginServiceError, match=said):
        login.start("/")


def test_keys_that_are_none(login: Oidc, provider: FakeOidc) -> None:
    provider.published = []
    with pytest.raises(LoginServiceError, match="its keys are not a JWK set"):
        come_back(login, provider)
