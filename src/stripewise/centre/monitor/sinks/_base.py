# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a sink, finds sinks by name, and reads secrets of sinks."""

from __future__ import annotations

import ipaddress
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from stripewise.centre import _settings
from stripewise.centre._settings import keys_of
from stripewise.centre.monitor._records import Reading, Round
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import open_input
from stripewise.present import printable
from stripewise.settings.tunables import first_problem


class SinkSettings(BaseModel):
    """Settings of a sink; a subclass adds its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SinkError(Exception):
    """A delivery failed and may be retried; the message states the failure and the remedy."""


class Sink(ABC):
    """Destination of rounds.

    One thread calls `take`, which must be quick, for each round of each collector in order of
    time; a thread of the sink's own calls `deliver` repeatedly.

    Attributes:
        name: Short name, which is also that of its table in the configuration: "prometheus".
        summary: Description for a list.
        settings_class: Model of its table.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    settings_class: ClassVar[type[SinkSettings]]

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Store the settings and the name of this server, which is attached to every value."""
        self.settings = settings
        self.server = server

    @property
    def settled_seconds(self) -> float:
        """How often it needs everything that jobs did, in seconds; infinite for never."""
        return math.inf

    @abstractmethod
    def missing(self) -> str:
        """Return why it cannot be used, with the remedy; "" if it can."""

    def start(self) -> None:
        """Start before the first round: open a port, or read what was delivered last.

        Raises:
            SinkError: It cannot start, for instance because an address is in use.
        """
        return

    @abstractmethod
    def take(self, found: Round) -> None:
        """Accept a round, without waiting for anything."""

    def deliver(self) -> None:
        """Deliver the accepted rounds, unless the sink is polled by its clients.

        Raises:
            SinkError: It failed; the accepted rounds are kept, within bounds.
        """
        return

    def health(self) -> Sequence[Reading]:
        """Return readings about the sink's own health, in addition to those of the agent."""
        return ()

    def stop(self) -> None:
        """Deliver what is left, if that does not take long, and stop.

        Raises:
            SinkError: Something could not be delivered, and is lost; the sink has stopped.
        """
        return


def is_loopback(host: str | None) -> bool:
    """Return whether an address, or a host name, is this host itself."""
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"


# Files with tokens, passwords and keys, which nobody else may read.


def read_secret(path: Path) -> str:
    """Return the only line of a file, reading it each time so that changes apply at once.

    Raises:
        SinkError: It cannot be read, others may read it, or it has no such line.
    """
    try:
        text = _settings.read_private(path).strip()
    except ValueError as error:
        raise SinkError(str(error)) from error
    if not text or not text.isprintable():
        raise SinkError(f"{path} is empty or has several lines: write one line into it")
    return text


def read_token(path: Path, least_characters: int = 1) -> str:
    """Return a token that an HTTP header can contain.

    Raises:
        SinkError: As `read_secret`, or if it is too short, or has spaces or non-ASCII characters.
    """
    token = read_secret(path)
    if not token.isascii() or " " in token or len(token) < least_characters:
        raise SinkError(
            f"{path} holds no token of {least_characters} or more letters and digits: make one"
            f" with openssl rand -hex 32"
        )
    return token


def check_private(path: Path) -> None:
    """Check that nobody else may read a file.

    Raises:
        SinkError: Others may, or there is no such file.
    """
    try:
        _settings.check_private(path, path.stat())
    except ValueError as error:
        raise SinkError(str(error)) from error
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error


def check_regular(path: Path) -> None:
    """Check that a path is a regular file before OpenSSL opens it, as it would block on a pipe.

    Raises:
        SinkError: It is not a regular file, or cannot be opened.
    """
    try:
        open_input(path).close()
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error


# Access to sinks by name.

_MEMBERS = {
    "prometheus": ("_prometheus", "PrometheusSink"),
    "influx": ("_influx", "InfluxSink"),
    "store": ("_store", "StoreSink"),
}
"""Module and class; only those in use are imported, since each costs memory."""


def sink_names() -> tuple[str, ...]:
    """Return the names of all sinks."""
    return tuple(_MEMBERS)


def sink_class(name: str) -> type[Sink]:
    """Return the class of a sink.

    Raises:
        ConfigurationError: There is no sink of this name.
    """
    if name not in _MEMBERS:
        raise ConfigurationError(f"there is no sink {name!r}; there are {', '.join(_MEMBERS)}")
    module, attribute = _MEMBERS[name]
    found: type[Sink] = getattr(
        import_module(f"stripewise.centre.monitor.sinks.{module}"), attribute
    )
    return found


def create_sink(name: str, settings: Mapping[str, Any], server: str) -> Sink:
    """Create a sink.

    Args:
        name: Name of the sink.
        settings: Its table in the configuration.
        server: Name of this server.

    Raises:
        ConfigurationError: There is no sink of this name, or a setting is unknown or invalid.
    """
    member = sink_class(name)
    try:
        made = member.settings_class.model_validate(dict(settings))
    except ValidationError as error:
        text = printable(_problem(error, settings, member.settings_class))
        raise ConfigurationError(f"[sinks.{name}]: {text}") from error
    return member(made, server)


def _problem(error: ValidationError, settings: Mapping[str, Any], form: type[BaseModel]) -> str:
    """Return the first problem in one line: the key, its value and the remedy."""
    first: Any = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        place: Any = first["loc"] if "targets" in settings else ()
        where = f"{place[0]}[{place[1] + 1}]: " if len(place) > 1 else ""
        return where + str(first["msg"]).removeprefix("Value error, ")
    text = first_problem(error, keys_of(form))
    return text if "targets" in settings else text.removeprefix("targets[1]").lstrip(".: ")
