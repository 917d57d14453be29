# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of an identity provider: its metadata, its keys, a token, claims."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jwt import JWTClaimsRegistry, Token, decode
from pydantic import BaseModel, ValidationError

from stripewise.errors import LoginError, LoginServiceError
from stripewise.web.logins._settings import OidcSettings

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"),
    *("EdDSA", "Ed25519"),
)
"""Signatures with a pair of keys: a public key can never be taken for a shared secret, and
"none" is none of them."""
_LEEWAY_SECONDS = 60
_WAIT_SECONDS = 10.0


class Metadata(BaseModel):
    """Where the provider's services are (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class Provider:
    """An identity provider; what it says of itself is asked at first need, and kept."""

    def __init__(self, settings: OidcSettings) -> None:
        """Take the settings."""
        self._settings = settings
        self._verify: ssl.SSLContext | bool = True
        if settings.ca_file:
            self._verify = ssl.create_default_context(cafile=settings.ca_file)
        self._metadata: Metadata | None = None
        self._keys: KeySet | None = None

    def metadata(self) -> Metadata:
        """Return where the services are.

        Raises:
            LoginServiceError: The provider cannot be reached, or is another one.
        """
        if self._metadata is None:
            place = self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration"
            try:
                found = Metadata.model_validate(self._json("GET", place))
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
        """Return what the provider gives for a code.

        Args:
            code: That the browser brought.
            verifier: Of PKCE.
            callback_url: Where the browser was sent back to.

        Raises:
            LoginError: It does not take the code.
            LoginServiceError: It cannot be reached.
        """
        metadata, settings = self.metadata(), self._settings
        secret = settings.client_secret.get_secret_value()
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier,
                "redirect_uri": callback_url}  # fmt: skip
        auth = None
        if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            # Source: RFC 6749, section 2.3.1: both are encoded as in a form first.
            auth = httpx.BasicAuth(quote(settings.client_id, safe=""), quote(secret, safe=""))
        else:
            form |= {"client_id": settings.client_id, "client_secret": secret}
        return self._json("POST", metadata.token_endpoint, data=form, auth=auth)

    def userinfo(self, access_token: str, subject: str) -> dict[str, Any]:
        """Return further claims about a user; none if the provider has no such service.

        Args:
            access_token: That came with the identity token.
            subject: Of the identity token.

        Raises:
            LoginError: They are another user's.
            LoginServiceError: The provider cannot be reached.
        """
        place = self.metadata().userinfo_endpoint
        schemes = ("https", "http") if self._settings.allow_plain else ("https",)
        if not access_token or urlsplit(place).scheme not in schemes:
            return {}
        found = self._json("GET", place, headers={"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != subject:
            raise LoginError("the login service told of two users at once: log in again")
        return found

    def claims(self, text: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an identity token that can be believed.

        Args:
            text: The token.
            nonce: That the login began with.

        Raises:
            LoginError: It is forged, expired, another portal's, or another login's.
            LoginServiceError: The provider's keys cannot be had.
        """
        try:
            token = self._signed(text)
            self._registry(nonce).validate(token.claims)
        except (JoseError, ValueError, TypeError) as error:
            raise LoginError(
                f"what the login service says of you cannot be believed ({_said(error)}): log in "
                "again, or tell the staff of the centre"
            ) from error
        azp, audience = token.claims.get("azp"), token.claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if azp != self._settings.client_id and (azp is not None or several):
            raise LoginError("the login was for another service: log in again")
        return token.claims

    def _signed(self, text: str) -> Token:
        """Check the signature; keys that are not known yet are asked for once more."""
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
            f"the login service {self._settings.issuer} does not answer as it is to ({why}): "
            "check login.oidc.issuer"
        )


def _said(error: Exception) -> str:
    return str(getattr(error, "description", "") or type(error).__name__)
