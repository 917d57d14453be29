# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs people in to their accounts: by a password, a provider's answer, or a proxy's header."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import time
from collections.abc import Callable, Iterable, Mapping

from sqlalchemy import Connection, Engine

from stripewise.centre.database.accounts import Account, Accounts, Attempts
from stripewise.centre.portal._settings import LoginSettings, PortalSettings, ProxySettings
from stripewise.centre.portal.logins._base import Departure, Identity, Login, is_listed
from stripewise.centre.portal.logins._oidc import Oidc
from stripewise.core.errors import LoginError
from stripewise.present import printable


class Entrance:
    """All back ends, and the accounts that they open.

    Attributes:
        logins: The back ends.
    """

    def __init__(
        self,
        settings: PortalSettings,
        engine: Engine,
        callback_url: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Set up the back ends.

        Args:
            settings: Settings of the portal.
            engine: Engine of the database.
            callback_url: Address of the portal to which identity providers send browsers back.
            now: Clock that returns seconds since 1970.

        Raises:
            RuntimeMissingError: A back end needs something that is not installed.
        """
        limits = settings.accounts.limits()
        self._create = settings.accounts.create
        self._accounts = Accounts(engine, limits, now)
        attempts = Attempts(engine, limits, now)
        self.logins: tuple[Login, ...] = make_logins(
            settings.login, self._accounts, attempts, callback_url
        )

    @property
    def has_form(self) -> bool:
        """Return whether people can log in with a name and a password."""
        return any(login.takes_password for login in self.logins)

    @property
    def providers(self) -> dict[str, str]:
        """Name and title of each back end that redirects browsers."""
        return {login.name: login.title for login in self.logins if login.redirects}

    def by_password(self, user: str, secret: str) -> Account | None:
        """Return the account that a name and a password open, or None if they open none.

        Args:
            user: Name that was typed.
            secret: Password that was typed.

        Raises:
            LoginError: They are correct, but there is no account, or it is disabled.
        """
        for login in self.logins:
            identity = login.password(user, secret) if login.takes_password else None
            if identity is not None:
                return self._account(identity)
        return None

    def leave(self, name: str, next_path: str) -> Departure:
        """Begin a login at an identity provider.

        Args:
            name: Name of the back end.
            next_path: Page of the portal that was requested.

        Raises:
            LoginError: There is no such back end.
            LoginServiceError: The provider cannot be reached.
        """
        return self._provider(name).start(next_path)

    def come_back(self, name: str, query: Mapping[str, str], cookie: str) -> tuple[Account, str]:
        """Return the account of a person who comes back, and the page that was requested.

        Args:
            name: Name of the back end.
            query: Parameters of the address.
            cookie: Cookie of the departure; "" if the browser has none.

        Raises:
            LoginError: The login is not trustworthy, or there is no account for it.
            LoginServiceError: The provider cannot be reached.
        """
        arrival = self._provider(name).finish(query, cookie)
        return self._account(arrival.identity), arrival.next_path

    def by_headers(
        self, peer: str, headers: Iterable[tuple[str, str]], on: Connection | None = None
    ) -> Account | None:
        """Return the account of the person that a trusted proxy names, or None if it names nobody.

        Args:
            peer: Address at the other end of the socket, never one from a header.
            headers: All headers of the request, including repeated ones.
            on: The caller's connection; None opens one.

        Raises:
            LoginError: There is no account, or it is disabled.
        """
        given = list(headers)
        for login in self.logins:
            identity = login.from_headers(peer, given) if login.reads_headers else None
            if identity is not None:
                return self._account(identity, on)
        return None

    def _provider(self, name: str) -> Login:
        for login in self.logins:
            if login.redirects and login.name == name:
                return login
        raise LoginError("this portal has no such way to log in: go back to its front page")

    def _account(self, identity: Identity, on: Connection | None = None) -> Account:
        if identity.backend == "local":
            account = self._accounts.find(identity.login)
            if account is None or account.is_disabled:
                raise LoginError(f"the account {identity.login} was changed: log in again")
            return account
        return self._accounts.admit(
            identity.login,
            backend=identity.backend,
            create=self._create,
            role=identity.role,
            on=on,
        )


# The back ends that the settings enable.


def make_logins(
    settings: LoginSettings, accounts: Accounts, attempts: Attempts, callback_url: str
) -> tuple[Login, ...]:
    """Return the back ends, in the order in which they are tried.

    Args:
        settings: Settings of all back ends.
        accounts: The local accounts.
        attempts: The logins under way.
        callback_url: Address of the portal to which identity providers send browsers back.

    Raises:
        RuntimeMissingError: A back end needs something that is not installed.
    """
    made: list[Login] = []
    if settings.local.enabled:
        made.append(Local(accounts))
    if settings.oidc is not None:
        made.append(Oidc(settings.oidc, attempts, callback_url))
    if settings.proxy is not None:
        made.append(Proxy(settings.proxy))
    return tuple(made)


# Passwords that the portal itself stores, as hashes.


class Local(Login):
    """Local accounts; the caller counts failures (`throttle_keys`)."""

    name = "local"
    takes_password = True

    def __init__(self, accounts: Accounts) -> None:
        """Store the accounts."""
        self._accounts = accounts

    def password(self, user: str, secret: str) -> Identity | None:
        """Return the identity that a name and a password prove; unknown names take as long."""
        account = self._accounts.check_password(user, secret)
        return None if account is None else Identity(account.login, self.name)


# A proxy in front of the portal that logs people in, and names them in a header.

_log = logging.getLogger("stripewise.centre.portal")


class Proxy(Login):
    """The user named in a header, if the socket's peer is a listed proxy and knows the secret.

    Any other peer that sends such a header is an impostor: the header is ignored, and the log
    reports it.
    """

    name = "proxy"
    reads_headers = True

    def __init__(self, settings: ProxySettings) -> None:
        """Store the settings."""
        self._networks = [ipaddress.ip_network(text) for text in settings.networks]
        self._user_header = settings.user_header.lower()
        self._secret_header = settings.secret_header.lower()
        self._secret = settings.secret.get_secret_value().encode()

    def from_headers(self, peer: str, headers: Iterable[tuple[str, str]]) -> Identity | None:
        """Return the identity that a listed proxy reports, or None."""
        users: list[str] = []
        secrets: list[str] = []
        for key, value in headers:
            if key.lower() == self._user_header:
                users.append(value)
            elif key.lower() == self._secret_header:
                secrets.append(value)
        if not users and not secrets:
            return None
        if why := self._reason_for_distrust(peer, users, secrets):
            _log.warning("login by a header ignored: %s (peer %s)", why, printable(peer[:64]))
            return None
        return Identity(users[0], self.name) if users[0] else None

    def _reason_for_distrust(self, peer: str, users: list[str], secrets: list[str]) -> str:
        """Return why headers are not trusted, or "" if they are."""
        if not is_listed(peer, self._networks):
            return "the peer is not in login.proxy.networks"
        if len(secrets) != 1 or len(users) > 1:
            return "the user or the secret does not come exactly once"
        given = secrets[0].encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, self._secret):
            return "the secret is wrong"
        return "" if users else "no user is named"
