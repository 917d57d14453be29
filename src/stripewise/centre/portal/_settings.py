# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks portal.toml: the site, the server, logins, and secrets in it or in files."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from stripewise.centre._settings import keys_of, read_private, read_toml
from stripewise.centre.database.accounts import Lifetimes
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import POLICY, read_input
from stripewise.settings.tunables import first_problem

FEWEST_SECRET_SIGNS = 16
_HEADER = re.compile(r"[A-Za-z0-9-]+")


def _secret(value: object, info: ValidationInfo) -> SecretStr:
    if not isinstance(value, str):
        raise ValueError("give text, file:PATH or env:NAME")
    is_open = bool((info.context or {}).get(IS_OPEN))
    return SecretStr(resolve(value, is_open=is_open))


def _long(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value()) < FEWEST_SECRET_SIGNS:
        raise ValueError(
            f"the secret is shorter than {FEWEST_SECRET_SIGNS} characters: make one with "
            "`openssl rand -hex 32`"
        )
    return value


def _network(value: str) -> str:
    network = ipaddress.ip_network(value)
    if network.prefixlen == 0:
        raise ValueError("this network is everybody: list the addresses of the proxy")
    return value


def _header(value: str) -> str:
    if not _HEADER.fullmatch(value):
        raise ValueError('give the name of a header, such as "X-Remote-User"')
    return value


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("an empty text is of no use here: fill it in")
    return value


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError("give an absolute path")
    return value


Secret = Annotated[SecretStr, BeforeValidator(_secret)]
LongSecret = Annotated[SecretStr, BeforeValidator(_secret), AfterValidator(_long)]
Text = Annotated[str, AfterValidator(_filled)]
Place = Annotated[str, AfterValidator(_absolute)]
Network = Annotated[str, AfterValidator(_network)]
Header = Annotated[str, AfterValidator(_header)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class AccountSettings(_Form):
    """[accounts]: how accounts are created, and how long a login is valid.

    Attributes:
        create: Whether a user identified by OIDC or the proxy gets an account at the first login.
        session_hours: Longest time between two logins.
        idle_minutes: Longest time without a page.
        token_days: Longest lifetime of a token of the API.
    """

    create: bool = True
    session_hours: int = Field(default=12, ge=1, le=24 * 31)
    idle_minutes: int = Field(default=120, ge=1, le=60 * 24 * 31)
    token_days: int = Field(default=366, ge=1, le=3660)

    def limits(self) -> Lifetimes:
        """Return the lifetimes."""
        return Lifetimes(
            session_seconds=3600 * self.session_hours,
            idle_seconds=60 * self.idle_minutes,
            token_days=self.token_days,
        )


class LocalSettings(_Form):
    """[login.local]: passwords that the portal stores."""

    enabled: bool = True


class OidcSettings(_Form):
    """[login.oidc]: an identity provider of OpenID Connect.

    Attributes:
        issuer: Issuer, exactly as the provider writes it.
        username_claim: Claim with the user's name at the centre; users must not be able to choose
            it, or they could choose whose jobs they see.
        groups_claim: Claim with the groups that `roles` refers to.
        roles: Groups that have each role; if set, the provider decides about roles.
        allow_plain: Whether the provider may be reached by http://, only for tests on this
            machine.
        ca_file: Certificates to check the provider's against; None for those of the system.
    """

    issuer: Text
    client_id: Text
    client_secret: Secret
    username_claim: Text
    scopes: list[str] = Field(default_factory=lambda: ["openid", "profile"])
    groups_claim: str = ""
    roles: dict[str, list[str]] = Field(default_factory=dict)
    allow_plain: bool = False
    ca_file: Place | None = None
    title: str = "the centre's login"

    @model_validator(mode="after")
    def _check(self) -> Self:
        parts = urlsplit(self.issuer)
        schemes = ("https", "http") if self.allow_plain else ("https",)
        if parts.scheme not in schemes or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f'{self.issuer!r} is not an issuer: write "https://HOST/..."')
        if "openid" not in self.scopes:
            raise ValueError('scopes lacks "openid"')
        if bool(self.groups_claim) != bool(self.roles):
            raise ValueError("give groups_claim and roles together")
        if unknown := sorted(set(self.roles) - {"support", "admin"}):
            raise ValueError(f"roles has {unknown[0]!r}: name groups for support and admin")
        return self


class ProxySettings(_Form):
    """[login.proxy]: a proxy that logs people in.

    Attributes:
        networks: Addresses of the proxy.
        secret: Secret that the proxy sends with each request.
    """

    networks: Annotated[list[Network], Field(min_length=1)]
    secret: LongSecret
    user_header: Header = "X-Remote-User"
    secret_header: Header = "X-Stripewise-Secret"


class LoginSettings(_Form):
    """[login]: the back ends; those without a section are off, except local accounts."""

    local: LocalSettings = Field(default_factory=LocalSettings)
    oidc: OidcSettings | None = None
    proxy: ProxySettings | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_ldap(cls, data: Any) -> Any:
        if isinstance(data, dict) and "ldap" in data:
            raise ValueError(
                "the portal asks no directory by LDAP any more: name a proxy ([login.proxy]) or a "
                "provider ([login.oidc]) that does, and take [login.ldap] out"
            )
        return data


# Secrets in settings, given directly or by their location.

_FILE = "file:"
_VARIABLE = "env:"
IS_OPEN = "is_open"
"""Key in the validation context: whether everybody may read the file with the settings."""


def resolve(text: str, *, is_open: bool) -> str:
    """Return a secret, reading it from a file or variable if necessary.

    Args:
        text: The secret, "file:PATH" or "env:NAME".
        is_open: Whether everybody may read the file that contains the text.

    Raises:
        ValueError: There is no secret, or everybody may read it; the message has no part of it.
    """
    if text.startswith(_FILE):
        path = Path(text.removeprefix(_FILE))
        if not path.is_absolute():
            raise ValueError("give the absolute path of the secret's file")
        secret = read_private(path)
    elif text.startswith(_VARIABLE):
        name = text.removeprefix(_VARIABLE)
        secret = os.environ.get(name, "")
        if not secret.strip():
            raise ValueError(f"the environment variable {name!r} is empty or not set: set it")
    else:
        secret = text
        if secret.strip() and is_open:
            raise ValueError(
                "everybody may read this file: take the right away (chmod o-r), or write "
                "file:PATH or env:NAME instead of the secret"
            )
    secret = secret.rstrip("\r\n")
    if not secret.strip():
        raise ValueError("an empty secret protects nothing: give one")
    return secret


def everybody_reads(path: Path) -> bool:
    """Return whether everybody may read a file."""
    return bool(os.stat(path).st_mode & stat.S_IROTH)


LOGINS_AT_ONCE = 8
"""Simultaneous login attempts, so that a directory or provider that hangs blocks no page."""


class SiteSettings(BaseModel):
    """[site]: information about the centre.

    Attributes:
        name: Name of the centre, shown at the top of each page.
        help: Address of its help desk or documentation; "" for none.
        advice: File with advice of the site in Markdown, as `stripewise bench advise` writes it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = ""
    help: str = ""
    advice: Path | None = None

    @model_validator(mode="after")
    def _is_address(self) -> Self:
        if self.help and urlsplit(self.help).scheme not in ("http", "https", "mailto"):
            raise ValueError(
                f"help = {self.help!r} is not an address such as https://docs.example.org"
            )
        return self


class ServerSettings(BaseModel):
    """[server]: the address of the portal and its limits.

    Attributes:
        url: Address that browsers use: "https://io.example.org"; https makes cookies secure. ""
            for `host` and `port`.
        host: Address to listen on.
        port: Port to listen on.
        certificate: File of a TLS certificate, with `key`; None if a proxy handles TLS.
        key: File of the key of that certificate.
        proxies: Addresses or networks of proxies whose X-Forwarded-For is trusted.
        requests_per_minute: Maximum number of requests per minute from one address.
        logins_per_minute: Maximum number of failed logins per minute, by address and by name.
        requests_at_once: Number of requests processed at a time, each by a process with a
            connection to the database; others wait for their turn.
        connections: Maximum number of open connections of browsers and proxies.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    url: str = ""
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    certificate: Path | None = None
    key: Path | None = None
    proxies: tuple[Network, ...] = ()
    requests_per_minute: int = Field(default=600, ge=1)
    logins_per_minute: int = Field(default=10, ge=1)
    requests_at_once: int = Field(default=6, ge=1, le=32)
    connections: int = Field(default=1000, ge=1, le=100_000)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(
                f"url = {self.url!r} is not an address such as https://io.example.org"
            )
        if self.url and (parts.path.strip("/") or parts.query):
            raise ValueError(f"url = {self.url!r}: leave the path out")
        if bool(self.certificate) != bool(self.key):
            raise ValueError("give certificate and key together")
        return self

    @property
    def database_connections(self) -> int:
        """Maximum number of open connections to the database."""
        return self.requests_at_once + LOGINS_AT_ONCE

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the portal by https."""
        return self.url.startswith("https:") or (not self.url and self.certificate is not None)

    @property
    def origin(self) -> str:
        """Scheme, host and port, as browsers write them."""
        if self.url:
            parts = urlsplit(self.url)
            return f"{parts.scheme}://{parts.netloc}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_secure else 'http'}://{host}:{self.port}"


class PortalSettings(BaseModel):
    """The whole content of portal.toml."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    site: SiteSettings = Field(default_factory=SiteSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)
    accounts: AccountSettings = Field(default_factory=AccountSettings)
    login: LoginSettings = Field(default_factory=LoginSettings)


def read_settings(path: Path) -> PortalSettings:
    """Read and check portal.toml.

    Raises:
        ConfigurationError: It cannot be read, or its content is invalid.
    """
    data = read_toml(path, lambda path: read_input(path, POLICY))
    try:
        return PortalSettings.model_validate(data, context={IS_OPEN: everybody_reads(path)})
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    """Return the first problem, without the values of secrets."""
    first: Any = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "value_error" and where:
        return f"{where}: {str(first['msg']).removeprefix('Value error, ')}"
    return first_problem(error, keys_of(PortalSettings))
