# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""[sinks.influx], checked."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stripewise.monitor.sinks._base import SinkSettings

_MIB = 1 << 20
_PORTS = {"http": 80, "https": 443}


class TargetSettings(BaseModel):
    """One database.

    Attributes:
        url: Of the server, with the path before /write if there is one.
        version: Of its interface: 1 (also VictoriaMetrics) or 2.
        database: For version 1.
        org / bucket: For version 2.
        user: For version 1, with `password_file`.
        password_file: File with the password.
        token_file: File with a token.
        ca: File of certificates that the server's is checked with; None: those of the system.
        open: Send a password or token without encryption.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    url: str
    version: Literal[1, 2] = 1
    database: str = ""
    org: str = ""
    bucket: str = ""
    user: str = ""
    password_file: Path | None = None
    token_file: Path | None = None
    ca: Path | None = None
    open: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        self._check_url()
        if self.version == 1 and not self.database:
            raise ValueError('database is missing: name it, as database = "storage"')
        if self.version == 2 and not (self.org and self.bucket):
            raise ValueError("version = 2 needs org and bucket: name them")
        if bool(self.user) != (self.password_file is not None):
            raise ValueError("give user and password_file together")
        if self.user and (self.token_file is not None or self.version == 2):
            raise ValueError("give token_file (version 2), or user and password_file (version 1)")
        self._check_secret()
        return self

    @property
    def place(self) -> tuple[object, ...]:
        """Which database it is, however its address is written."""
        parts = urlsplit(self.url)
        port = parts.port or _PORTS[parts.scheme]
        server = parts.scheme, parts.hostname, port, parts.path.rstrip("/")
        name = (self.database,) if self.version == 1 else (self.org, self.bucket)
        return *server, self.version, *name

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_sound = False
        if not is_sound or not self.url.isprintable() or " " in self.url:
            raise ValueError(f"url = {self.url!r} is no address such as https://influx:8086")
        if parts.username is not None:
            raise ValueError("url has a user in it: give user and password_file instead")
        if parts.query or parts.fragment:
            raise ValueError(f"url = {self.url!r}: leave out what follows the path")

    def _check_secret(self) -> None:
        parts = urlsplit(self.url)
        has_secret = self.user or self.token_file is not None
        if has_secret and parts.scheme == "http" and not (self.open or _is_here(parts.hostname)):
            raise ValueError(
                f"url = {self.url!r} would send the password or token unencrypted: use https, or"
                f" open = true to allow it"
            )


def _is_here(host: str | None) -> bool:
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"


class InfluxSettings(SinkSettings):
    """[sinks.influx]: keys of one database, or several as [[sinks.influx.targets]].

    Attributes:
        targets: The databases; each gets everything.
        queue_rounds: Rounds of collectors that wait for a database at most.
        queue_bytes: What they take in memory at most, packed; for all databases together it can
            be as many times that.
        batch_bytes: Size of what is sent at once at most, unpacked.
        timeout_seconds: How long a database may take to answer.
    """

    targets: tuple[TargetSettings, ...] = Field(min_length=1, max_length=8)
    queue_rounds: int = Field(default=240, ge=1, le=1_000_000)
    queue_bytes: int = Field(default=8 * _MIB, ge=_MIB)
    batch_bytes: int = Field(default=4 * _MIB, ge=64 << 10, le=64 * _MIB)
    timeout_seconds: float = Field(default=10.0, gt=0.0, le=300.0)

    @model_validator(mode="after")
    def _are_apart(self) -> Self:
        places = [one.place for one in self.targets]
        for number, place in enumerate(places):
            if (first := places.index(place)) < number:
                raise ValueError(
                    f"targets[{number + 1}] is the database of targets[{first + 1}]: take one out"
                )
        return self

    @model_validator(mode="before")
    @classmethod
    def _of_one(cls, data: Any) -> Any:
        """Take the keys of a single database as a list of one."""
        if not isinstance(data, dict):
            return data
        own = {key: value for key, value in data.items() if key in TargetSettings.model_fields}
        if "targets" in data:
            if own:
                raise ValueError(f"move {', '.join(own)} into [[sinks.influx.targets]]")
            return data
        rest = {key: value for key, value in data.items() if key not in own}
        return {**rest, "targets": (own,)}
