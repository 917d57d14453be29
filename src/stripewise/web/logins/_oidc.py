# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An identity provider of OpenID Connect: authorization code with PKCE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from stripewise.errors import LoginError
from stripewise.fleet.accounts import ROLES, Attempts
from stripewise.text import printable
from stripewise.web.logins._base import Arrival, Departure, Identity, Login
from stripewise.web.logins._provider import Provider
from stripewise.web.logins._settings import OidcSettings

_MOST_SIGNS = 200


class Oidc(Login):
    """Users of an identity provider."""

    name = "oidc"
    redirects = True

    def __init__(self, settings: OidcSettings, attempts: Attempts, callback_url: str) -> None:
        """Take the settings.

        Args:
            settings: Of the provider.
            attempts: Logins under way.
            callback_url: Address of the portal that the provider sends browsers back to.
        """
        self._settings = settings
        self._attempts = attempts
        self._callback_url = callback_url
        self._provider = Provider(settings)
        self.title = settings.title

    def start(self, next_path: str) -> Departure:
        """Begin a login at the provider."""
        place = self._provider.metadata().authorization_endpoint
        attempt = self._attempts.start(next_path)
        url = prepare_grant_uri(
            place,
            client_id=self._settings.client_id,
            response_type="code",
            redirect_uri=self._callback_url,
            scope=" ".join(self._settings.scopes),
            state=attempt.state,
            nonce=attempt.nonce,
            code_challenge=create_s256_code_challenge(attempt.verifier),
            code_challenge_method="S256",
        )
        return Departure(str(url), attempt.cookie)

    def finish(self, query: Mapping[str, str], cookie: str) -> Arrival:
        """Return who comes back from the provider."""
        attempt = self._attempts.take(query.get("state", ""), cookie)
        if attempt is None:
            raise LoginError(
                "this login was not begun in this browser, was used already, or took too long: "
                "log in again"
            )
        if "error" in query:
            why = printable(query.get("error_description") or query["error"])[:_MOST_SIGNS]
            raise LoginError(f"the login service refused: {why}")
        issuer = query.get("iss", self._settings.issuer)
        if issuer != self._settings.issuer or not query.get("code"):
            raise LoginError("the answer of the login service is not complete: log in again")
        given = self._provider.token(query["code"], attempt.verifier, self._callback_url)
        claims = self._provider.claims(str(given.get("id_token", "")), attempt.nonce)
        wanted = {self._settings.username_claim, self._settings.groups_claim} - {""}
        if not wanted <= set(claims):
            token = str(given.get("access_token", ""))
            claims = {**self._provider.userinfo(token, claims["sub"]), **claims}
        return Arrival(self._identity(claims), attempt.next_path)

    def _identity(self, claims: dict[str, Any]) -> Identity:
        claim = self._settings.username_claim
        login = claims.get(claim)
        if not isinstance(login, str) or not login:
            raise LoginError(
                f"the login service does not say your user name (claim {claim}): tell the staff "
                "of the centre"
            )
        if claim == "email" and claims.get("email_verified") is not True:
            raise LoginError("the login service has not verified your e-mail address: do so there")
        return Identity(login, self.name, self._role(claims))

    def _role(self, claims: dict[str, Any]) -> str | None:
        """Return the highest role that the groups have; None: the provider does not decide."""
        if not self._settings.roles:
            return None
        told = claims.get(self._settings.groups_claim)
        listed = told if isinstance(told, list) else [told]
        groups = {group for group in listed if isinstance(group, str)}
        has = [role for role in ROLES if groups & set(self._settings.roles.get(role, ()))]
        return has[-1] if has else "user"
