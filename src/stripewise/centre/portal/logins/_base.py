# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a login back end.

A back end identifies people in one of three ways: by a form with name and password, a redirect to
an identity provider, or headers of a proxy. It knows nothing of accounts (`Entrance` does), nor of
the web framework.
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
"""One site may have any number of IPv6 addresses, but usually one such network."""


@dataclass(frozen=True)
class Identity:
    """Identity of a person, as a back end reports it.

    Attributes:
        login: Name of the account.
        backend: Name of the back end.
        role: Role of the account, if the back end decides about it; otherwise None.
    """

    login: str
    backend: str
    role: str | None = None


@dataclass(frozen=True)
class Departure:
    """Redirect of a browser to an identity provider.

    Attributes:
        url: Address at the identity provider.
        cookie: Value that the browser must return: HttpOnly, Secure, SameSite=Lax.
    """

    url: str
    cookie: str


@dataclass(frozen=True)
class Arrival:
    """Return of a person from an identity provider.

    Attributes:
        next_path: Page of the portal that was requested.
    """

    identity: Identity
    next_path: str


class Login:
    """Base class of back ends, which lets nobody in.

    A back end overrides one of `password`; `start` and `finish`; `from_headers`; and sets the
    attribute that announces it. Whatever a visitor sends, they only raise `LoginError`, whose
    message is for the visitor, and `LoginServiceError`, if a required service cannot be reached;
    the next login tries again.

    Attributes:
        name: Name of the back end, as in the settings.
        title: Title on the page with the form.
    """

    name: ClassVar[str] = "none"
    takes_password: ClassVar[bool] = False
    redirects: ClassVar[bool] = False
    reads_headers: ClassVar[bool] = False
    title: str = ""

    def password(self, user: str, secret: str) -> Identity | None:
        """Return the identity that a name and a password prove, or None.

        Args:
            user: Name that was typed.
            secret: Password that was typed.
        """
        del user, secret
        return None

    def start(self, next_path: str) -> Departure:
        """Begin a login at an identity provider.

        Args:
            next_path: Page of the portal that was requested.

        Raises:
            LoginServiceError: The provider cannot be reached.
        """
        raise NotImplementedError(next_path)

    def finish(self, query: Mapping[str, str], cookie: str) -> Arrival:
        """Return the identity of a person who comes back.

        Args:
            query: Parameters of the address to which the provider sent the browser.
            cookie: Cookie of the departure; "" if the browser has none.

        Raises:
            LoginError: The login was not begun here, is too old, or is not trustworthy.
            LoginServiceError: The provider cannot be reached.
        """
        raise NotImplementedError(query, cookie)

    def from_headers(self, peer: str, headers: Iterable[tuple[str, str]]) -> Identity | None:
        """Return the identity that a proxy reports, or None if there is none or it is untrusted.

        Args:
            peer: Address at the other end of the socket, never one from a header.
            headers: All headers of the request, including repeated ones.
        """
        del peer, headers
        return None


def throttle_keys(user: str, peer: str) -> tuple[str, str]:
    """Return the keys by which failed logins are counted: the name and the network.

    A back end may accept many spellings of a name: capitals, wide letters, blanks, invisible
    characters. They count as one, and so do some names that differ by a dot.

    Args:
        user: Name that was typed.
        peer: Address of the client.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", user).casefold())
    letters = "".join(sign for sign in plain if sign.isalnum())
    digest = hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()
    return f"user:{digest}", f"peer:{_network(peer)}"


def is_listed(peer: str, networks: Iterable[IpNetwork]) -> bool:
    """Return whether an address is in one of some networks; an invalid address is in none.

    Args:
        peer: Address of a client or a proxy.
        networks: Networks in the settings.
    """
    address = _address(peer)
    return address is not None and any(address in network for network in networks)


def _address(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address; an IPv4 address in IPv6 form is returned as IPv4."""
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
