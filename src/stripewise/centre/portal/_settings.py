# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the portal is served: portal.toml, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stripewise.centre.portal.logins._settings import AccessSettings, Network

LOGINS_AT_ONCE = 8
"""Attempts to log in that are worked on: a directory or a provider that hangs holds up no page."""


class SiteSettings(BaseModel):
    """[site]: what the centre says of itself.

    Attributes:
        name: Of the centre, at the top of each page.
        help: Address of its help desk or documentation; "" for none.
        advice: File with advice of the site in Markdown, as `stripewise advise` writes it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = ""
    help: str = ""
    advice: Path | None = None

    @model_validator(mode="after")
    def _is_address(self) -> Self:
        if self.help and urlsplit(self.help).scheme not in ("http", "https", "mailto"):
            raise ValueError(
                f"help = {self.help!r} is no address such as https://docs.example.org"
            )
        return self


class ServerSettings(BaseModel):
    """[server]: where the portal is reached.

    Attributes:
        url: As browsers see it: "https://io.example.org"; https makes cookies secure.  "": what
            `host` and `port` say.
        host: Address that the server listens at.
        port: Of it.
        certificate: File of a TLS certificate, with `key`; None: a proxy speaks TLS.
        key: File of its key.
        proxies: Addresses or networks of proxies whose X-Forwarded-For is believed.
        requests_per_minute: Of one address.
        logins_per_minute: Attempts to log in that fail, of one address and of one name.
        requests_at_once: That are worked on, each by a process with a connection to the database;
            others wait for their turn.
        connections: Of browsers and proxies, open at a time.
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
            raise ValueError(f"url = {self.url!r} is no address such as https://io.example.org")
        if self.url and (parts.path.strip("/") or parts.query):
            raise ValueError(f"url = {self.url!r}: leave the path out")
        if bool(self.certificate) != bool(self.key):
            raise ValueError("give certificate and key together")
        return self

    @property
    def database_connections(self) -> int:
        """Connections to the database that are open at most."""
        return self.requests_at_once + LOGINS_AT_ONCE

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it by https."""
        return self.url.startswith("https:") or (not self.url and self.certificate is not None)

    @property
    def origin(self) -> str:
        """Scheme, host and port, as browsers write them."""
        if self.url:
            parts = urlsplit(self.url)
            return f"{parts.scheme}://{parts.netloc}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_secure else 'http'}://{host}:{self.port}"


class PortalSettings(AccessSettings):
    """All of portal.toml."""

    site: SiteSettings = Field(default_factory=SiteSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)
