# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs people in at an OpenID Connect identity provider, by authorization code with PKCE."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jwt import JWTClaimsRegistry, Token, decode
from pydantic import BaseModel, ValidationError

from stripewise.centre.database.accounts import ROLES, Attempts
from stripewise.centre.portal._settings import OidcSettings
from stripewise.centre.portal.logins._base import Arrival, Departure, Identity, Login
from stripewise.core.errors import LoginError, LoginServiceError
from stripewise.present import printable

_MOST_SIGNS = 200


class Oidc(Login):
    """Users of an identity provider."""

    name = "oidc"
    redirects = True

    def __init__(self, settings: OidcSettings, attempts: Attempts, callback_url: str) -> None:
        """Store the settings.

        Args:
            settings: Settings of the provider.
            attempts: The logins under way.
            callback_url: Address of the portal to which the provider sends browsers back.
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
        """Return the identity of a person who comes back from the provider."""
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
        """Return the highest role of the groups, or None if the provider does not decide it."""
        if not self._settings.roles:
            return None
        claimed = claims.get(self._settings.groups_claim)
        listed = claimed if isinstance(claimed, list) else [claimed]
        groups = {group for group in listed if isinstance(group, str)}
        has = [role for role in ROLES if groups & set(self._settings.roles.get(role, ()))]
        return has[-1] if has else "user"


# Requests to an identity provider: its metadata, its keys, a token, claims.

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"),
    *("EdDSA", "Ed25519"),
)
"""Signatures with key pairs only: a public key can never be mistaken for a shared secret, and
"none" is excluded."""
_LEEWAY_SECONDS = 60
_WAIT_SECONDS = 10.0


class ProviderMetadata(BaseModel):
    """Addresses of the provider's services (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class Provider:
    """An identity provider; its metadata are requested on first use, and cached."""

    def __init__(self, settings: OidcSettings) -> None:
        """Store the settings."""
        self._settings = settings
        self._verify: ssl.SSLContext | bool = True
        if settings.ca_file:
            self._verify = ssl.create_default_context(cafile=settings.ca_file)
        self._metadata: ProviderMetadata | None = None
        self._keys: KeySet | None = None

    def metadata(self) -> ProviderMetadata:
        """Return the addresses of the provider's services.

        Raises:
            LoginServiceError: The provider cannot be reached, or is a different one.
        """
        if self._metadata is None:
            place = self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration"
            try:
                found = ProviderMetadata.model_validate(self._json("GET", place))
            except ValidationError as error:
                raise self._strange("its metadata are not complete") from error
            if found.issuer != self._settings.issuer:
                raise self._strange(f"it calls itself {found.issuer}")
            services = (found.authorization_endpoint, found.token_endpoint, found.jwks_uri)
            schemes = ("https", "http") if self._settings.allow_plain else ("https",)
            if any(urlsplit(url).scheme not in schemes for url in services):
                raise self._strange("its services are not at https://")
            self._metadata = found
        return self._metadata

    def token(self, code: str, verifier: str, callback_url: str) -> dict[str, Any]:
        """Return the tokens that the provider issues for a code.

        Args:
            code: Code that the browser brought.
            verifier: PKCE verifier.
            callback_url: Address to which the browser was sent back.

        Raises:
            LoginError: The provider rejects the code.
            LoginServiceError: The provider cannot be reached.
        """
        metadata, settings = self.metadata(), self._settings
        secret = settings.client_secret.get_secret_value()
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier,
                "redirect_uri": callback_url}  # fmt: skip
        auth = None
        if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            # Source: RFC 6749, section 2.3.1: both are first encoded as in a form.
            auth = httpx.BasicAuth(quote(settings.client_id, safe=""), quote(secret, safe=""))
        else:
            form |= {"client_id": settings.client_id, "client_secret": secret}
        return self._json("POST", metadata.token_endpoint, data=form, auth=auth)

    def userinfo(self, access_token: str, subject: str) -> dict[str, Any]:
        """Return further claims about a user; {} if the provider has no such service.

        Args:
            access_token: Access token that was issued with the identity token.
            subject: Subject of the identity token.

        Raises:
            LoginError: They belong to another user.
            LoginServiceError: The provider cannot be reached.
        """
        place = self.metadata().userinfo_endpoint
        schemes = ("https", "http") if self._settings.allow_plain else ("https",)
        if not access_token or urlsplit(place).scheme not in schemes:
            return {}
        found = self._json("GET", place, headers={"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != subject:
            raise LoginError("the login service named two users at once: log in again")
        return found

    def claims(self, text: str, nonce: str) -> dict[str, Any]:
        """Return the verified claims of an identity token.

        Args:
            text: The identity token.
            nonce: Nonce with which the login began.

        Raises:
            LoginError: It is forged, expired, or meant for another portal or login.
            LoginServiceError: The provider's keys cannot be obtained.
        """
        try:
            token = self._signed(text)
            self._registry(nonce).validate(token.claims)
        except (JoseError, ValueError, TypeError) as error:
            raise LoginError(
                f"the answer of the login service cannot be trusted ({_error_text(error)}): "
                "log in again, or tell the staff of the centre"
            ) from error
        azp, audience = token.claims.get("azp"), token.claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if azp != self._settings.client_id and (azp is not None or several):
            raise LoginError("the login was for another service: log in again")
        return token.claims

    def _signed(self, text: str) -> Token:
        """Check the signature; if the key is unknown, the keys are requested once more."""
        if self._keys is None:
            self._keys = self._fetched_keys()
        try:
            return decode(text, self._keys, algorithms=ALGORITHMS)
        except InvalidKeyIdError:
            self._keys = self._fetched_keys()
            return decode(text, self._keys, algorithms=ALGORITHMS)

    def _fetched_keys(self) -> KeySet:
        found: Any = self._json("GET", self.metadata().jwks_uri)
        try:
            return KeySet.import_key_set(found)
        except (JoseError, KeyError, TypeError, ValueError) as error:
            raise self._strange("its keys are not a JWK set") from error

    def _registry(self, nonce: str) -> JWTClaimsRegistry:
        return JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._settings.issuer},
            aud={"essential": True, "value": self._settings.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )

    def _json(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        headers = {"Accept": "application/json", **options.pop("headers", {})}
        try:
            with httpx.Client(verify=self._verify, timeout=_WAIT_SECONDS) as client:
                answer = client.request(method, url, headers=headers, **options)
            if answer.status_code >= 500:
                answer.raise_for_status()
            found = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LoginServiceError(
                f"the login service {self._settings.issuer} is not reachable "
                f"({type(error).__name__}): try again later"
            ) from error
        except ValueError as error:
            raise self._strange("its answer is not JSON") from error
        if not isinstance(found, dict):
            raise self._strange("its answer is not an object")
        if answer.status_code >= 400:
            raise LoginError(
                "the login service does not confirm the login "
                f"(status {answer.status_code}): log in again"
            )
        return found

    def _strange(self, why: str) -> LoginServiceError:
        return LoginServiceError(
            f"the login service {self._settings.issuer} gives a wrong answer ({why}): "
            "check login.oidc.issuer"
        )


def _error_text(error: Exception) -> str:
    return str(getattr(error, "description", "") or type(error).__name__)
