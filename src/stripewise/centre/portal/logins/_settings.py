# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks portal.toml: accounts, logins, and secrets that stand in it or in files."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, get_args
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

from stripewise.centre.database.accounts import Limits
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import KEY, POLICY, open_input, parse_toml, read_input
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
    """[accounts]: how accounts come into being, and how long a login is good.

    Attributes:
        create: A user whom OIDC or the proxy names gets an account at the first login.
        session_hours: Longest time between two logins.
        idle_minutes: Longest time without a page.
        token_days: Longest lifetime of a token of the API.
    """

    create: bool = True
    session_hours: int = Field(default=12, ge=1, le=24 * 31)
    idle_minutes: int = Field(default=120, ge=1, le=60 * 24 * 31)
    token_days: int = Field(default=366, ge=1, le=3660)

    def limits(self) -> Limits:
        """Return the lifetimes."""
        return Limits(
            session_seconds=3600 * self.session_hours,
            idle_seconds=60 * self.idle_minutes,
            token_days=self.token_days,
        )


class LocalSettings(_Form):
    """[login.local]: passwords that the portal keeps."""

    enabled: bool = True


class OidcSettings(_Form):
    """[login.oidc]: an identity provider of OpenID Connect.

    Attributes:
        issuer: As the provider writes it.
        username_claim: Has the name of the user at the centre; users must not be able to choose
            it, or they choose whose jobs they see.
        groups_claim: Has the groups that `roles` knows.
        roles: Role to the groups that have it; with it, the provider decides about roles.
        allow_plain: The provider is reached by http://; for tests on this machine alone.
        ca_file: Certificates that the provider's is checked with; None: the usual ones.
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
            raise ValueError(f'{self.issuer!r} is no issuer: write "https://HOST/..."')
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
        secret: Which the proxy sends with each request.
    """

    networks: Annotated[list[Network], Field(min_length=1)]
    secret: LongSecret
    user_header: Header = "X-Remote-User"
    secret_header: Header = "X-Stripewise-Secret"


class LoginSettings(_Form):
    """[login]: the back ends; those without a section are off, but for local accounts."""

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


class AccessSettings(BaseModel):
    """The sections that this package reads; all settings of a portal derive from it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    accounts: AccountSettings = Field(default_factory=AccountSettings)
    login: LoginSettings = Field(default_factory=LoginSettings)


_Settings = TypeVar("_Settings", bound=BaseModel)


def read_settings(path: Path, form: type[_Settings]) -> _Settings:
    """Read the settings of a portal.

    Args:
        path: Of portal.toml.
        form: `AccessSettings`, or one with more sections.

    Raises:
        ConfigurationError: The file cannot be read, or something in it is not right.
    """
    try:
        data = parse_toml(read_input(path, POLICY).decode("utf-8"))
        is_open = everybody_reads(path)
    except OSError as error:
        reason = error.strerror or "error"
        raise ConfigurationError(f"{path} cannot be read ({reason}): check its path") from error
    except ValueError as error:
        raise ConfigurationError(
            f"{path} is not TOML in UTF-8: {error}: mend that place, or name the right file"
        ) from error
    try:
        return form.model_validate(data, context={IS_OPEN: is_open})
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {_problem(error, form)}") from error


def _problem(error: ValidationError, form: type[BaseModel]) -> str:
    """Say the first problem; never what a secret is."""
    first: Any = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "value_error" and where:
        return f"{where}: {str(first['msg']).removeprefix('Value error, ')}"
    return first_problem(error, set(_keys(form)))


def _keys(form: type[BaseModel]) -> Iterator[str]:
    """Return all keys of a form and the forms in it."""
    for name, field in form.model_fields.items():
        yield name
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _keys(inner)


# Secrets in settings: as they are, or where they stand.

_FILE = "file:"
_VARIABLE = "env:"
IS_OPEN = "is_open"
"""Key of the validation's context: everybody may read the file with the settings."""


def resolve(text: str, *, is_open: bool) -> str:
    """Return a secret.

    Args:
        text: The secret, "file:PATH" or "env:NAME".
        is_open: Everybody may read where the text stands.

    Raises:
        ValueError: There is none, or everybody may read it; the message has no part of it.
    """
    if text.startswith(_FILE):
        secret = _of_file(Path(text.removeprefix(_FILE)))
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
    """Whether everybody may read a file."""
    return bool(os.stat(path).st_mode & stat.S_IROTH)


def _of_file(path: Path) -> str:
    if not path.is_absolute():
        raise ValueError("give the absolute path of the secret's file")
    try:
        with open_input(path) as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IROTH:
                raise ValueError(
                    f"everybody may read {path}: take the right away (chmod o-r {path})"
                )
            return file.read(KEY.file_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check its path") from error
