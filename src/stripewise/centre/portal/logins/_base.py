# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a login back end.

A back end says who somebody is, by one of three ways: a form with name and password, a redirect to
an identity provider, or headers of a proxy.  It knows nothing of accounts (`Entrance` does), nor
of the web framework.
"""

from __future__ import annotations

import hashlib
import ipaddress
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
_V6_NETWORK = 64
"""One site has as many addresses of IPv6 as it likes, but as a rule one such network."""


@dataclass(frozen=True)
class Identity:
    """Who somebody is, by a back end.

    Attributes:
        login: Name of the account.
        backend: Name of the back end.
        role: Of the account, if the back end decides about it; None if it does not.
    """

    login: str
    backend: str
    role: str | None = None


@dataclass(frozen=True)
class Departure:
    """Where a browser is sent to log in.

    Attributes:
        url: Of the identity provider.
        cookie: Value that the browser has to bring back: HttpOnly, Secure, SameSite=Lax.
    """

    url: str
    cookie: str


@dataclass(frozen=True)
class Arrival:
    """Somebody who comes back from an identity provider.

    Attributes:
        next_path: Page of the portal that was asked for.
    """

    identity: Identity
    next_path: str


class Login:
    """A way to log in; this one lets nobody in, and is the start of a new one.

    A back end overrides one of: `password`; `start` and `finish`; `from_headers`; and sets
    the attribute that tells so.  None of them raises because of what a visitor sends, other than
    `LoginError`, whose message is for the visitor, and `LoginServiceError`, if a service that
    it needs cannot be reached; the next login tries that again.

    Attributes:
        name: Of the back end, as in the settings.
        title: What the page with the form calls it.
    """

    name: ClassVar[str] = "none"
    takes_password: ClassVar[bool] = False
    redirects: ClassVar[bool] = False
    reads_headers: ClassVar[bool] = False
    title: str = ""

    def password(self, user: str, secret: str) -> Identity | None:
        """Return who has a name and a password; None: nobody.

        Args:
            user: What was typed as name.
            secret: What was typed as password.
        """
        del user, secret
        return None

    def start(self, next_path: str) -> Departure:
        """Begin a login elsewhere.

        Args:
            next_path: Page of the portal that was asked for.

        Raises:
            LoginServiceError: The provider cannot be reached.
        """
        raise NotImplementedError(next_path)

    def finish(self, query: Mapping[str, str], cookie: str) -> Arrival:
        """Return who comes back.

        Args:
            query: Parameters of the address that the provider sent the browser to.
            cookie: Of the departure; "" if the browser has none.

        Raises:
            LoginError: The login was not begun here, is too old, or is not to be believed.
            LoginServiceError: The provider cannot be reached.
        """
        raise NotImplementedError(query, cookie)

    def from_headers(self, peer: str, headers: Iterable[tuple[str, str]]) -> Identity | None:
        """Return whom a proxy names; None: nobody, or it is not to be believed.

        Args:
            peer: Address at the other end of the socket, never one out of a header.
            headers: All of the request, each as often as it came.
        """
        del peer, headers
        return None


def throttle_keys(user: str, peer: str) -> tuple[str, str]:
    """Return what failed logins are counted by: the name, and where they come from.

    Who checks a name may take many spellings for it: capitals, wide letters, blanks, signs that
    are not seen.  They count together, and a few names that differ by a dot do as well.

    Args:
        user: What was typed as name.
        peer: Address of the client.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", user).casefold())
    letters = "".join(sign for sign in plain if sign.isalnum())
    digest = hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()
    return f"user:{digest}", f"peer:{_network(peer)}"


def is_listed(peer: str, networks: Iterable[IpNetwork]) -> bool:
    """Return whether an address is in one of some networks; what is no address is in none.

    Args:
        peer: Of a client or a proxy.
        networks: Of the settings.
    """
    address = _address(peer)
    return address is not None and any(address in network for network in networks)


def _address(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address; one of IPv4 that a socket for both shows as IPv6 as what it is."""
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _network(peer: str) -> str:
    address = _address(peer)
    if address is None:
        return "unknown"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address.packed, _V6_NETWORK), strict=False))
