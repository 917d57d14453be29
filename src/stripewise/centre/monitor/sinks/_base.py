# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a sink, and reads files with secrets that nobody else may read."""

from __future__ import annotations

import ipaddress
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from stripewise.centre import _settings
from stripewise.centre.monitor._records import Reading, Round
from stripewise.core.inputs import open_input


class SinkSettings(BaseModel):
    """Settings of a sink; a member adds its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SinkError(Exception):
    """A delivery failed and may be tried again; the text says what, and the remedy."""


class Sink(ABC):
    """Where rounds go.

    `take` is called by one thread, quickly, for each round of each collector in order of time;
    `deliver` by a thread of the sink's own, again and again.

    Attributes:
        name: Short, and the name of its table in the configuration: "prometheus".
        summary: What it is, for a list.
        settings_class: Form of its table.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    settings_class: ClassVar[type[SinkSettings]]

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Take settings, and the name of this server, which goes along with every value."""
        self.settings = settings
        self.server = server

    @property
    def settled_seconds(self) -> float:
        """How often it asks for all that jobs did; infinite: never."""
        return math.inf

    @abstractmethod
    def missing(self) -> str:
        """Return why it cannot be used, with the remedy; "": it can."""

    def start(self) -> None:
        """Begin, before the first round: open a port, read what was delivered last.

        Raises:
            SinkError: It cannot begin; an address that is in use, say.
        """
        return

    @abstractmethod
    def take(self, found: Round) -> None:
        """Take a round, without waiting for anything."""

    def deliver(self) -> None:
        """Deliver what was taken, where the sink does not wait to be asked.

        Raises:
            SinkError: It failed; what was taken is kept, within bounds.
        """
        return

    def health(self) -> Sequence[Reading]:
        """Return readings of the sink's own health, beyond those that the agent makes."""
        return ()

    def stop(self) -> None:
        """Deliver what is left, if that does not take long, and end.

        Raises:
            SinkError: Something could not be delivered, and is lost; the sink has ended.
        """
        return


def is_loopback(host: str | None) -> bool:
    """Whether an address, or a name, is this host itself."""
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"


# Files with tokens, passwords and keys: nobody else may read them.


def read_secret(path: Path) -> str:
    """Return the one line of a file; it is read each time, so that a new secret counts at once.

    Raises:
        SinkError: It cannot be read, others may read it, or it holds no such line.
    """
    try:
        text = _settings.read_private(path).strip()
    except ValueError as error:
        raise SinkError(str(error)) from error
    if not text or not text.isprintable():
        raise SinkError(f"{path} is empty or has several lines: write one line into it")
    return text


def read_token(path: Path, least_characters: int = 1) -> str:
    """Return a token, which a header of HTTP can hold.

    Raises:
        SinkError: As `read_secret`, or it is too short, or has spaces or characters beyond ASCII.
    """
    token = read_secret(path)
    if not token.isascii() or " " in token or len(token) < least_characters:
        raise SinkError(
            f"{path} holds no token of {least_characters} or more letters and digits: make one"
            f" with openssl rand -hex 32"
        )
    return token


def check_private(path: Path) -> None:
    """See that nobody else may read a file.

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
    """See that something is a file, before OpenSSL opens it: it would wait for a pipe.

    Raises:
        SinkError: It is none, or cannot be opened.
    """
    try:
        open_input(path).close()
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error
