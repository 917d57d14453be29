# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""[sinks.prometheus], checked."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Self

from pydantic import model_validator

from stripewise.monitor.sinks._base import SinkSettings

_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>\d{1,5})")


class PrometheusSettings(SinkSettings):
    """[sinks.prometheus].

    Attributes:
        listen: Address and port, as "127.0.0.1:9823" or "[::1]:9823"; port 0: any.
        certificate: File of a TLS certificate, with `key`.
        key: File of its key.
        client_ca: File of certificates; only clients with a certificate signed by one may ask.
        token_file: File with a token that clients must give ("Authorization: Bearer ...").
        open: Let everybody who reaches the port read it.
    """

    listen: str = "127.0.0.1:9823"
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    token_file: Path | None = None
    open: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        found = _LISTEN.fullmatch(self.listen)
        if found is None or int(found["port"]) > 65535:
            raise ValueError(
                f"listen = {self.listen!r} is no address and port such as 127.0.0.1:9823"
            )
        if (self.certificate is None) != (self.key is None):
            raise ValueError("give certificate and key together")
        if self.client_ca is not None and self.certificate is None:
            raise ValueError("client_ca needs TLS: give certificate and key, too")
        is_closed = self.certificate is not None and (self.token_file or self.client_ca)
        if not (self.open or is_closed or _is_loopback(self.address[0])):
            raise ValueError(
                f"listen = {self.listen!r} can be reached from the network: give certificate, key"
                f" and token_file (or client_ca), or open = true to let everybody read"
            )
        return self

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen at."""
        found = _LISTEN.fullmatch(self.listen)
        assert found is not None
        return found["six"] or found["host"], int(found["port"])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
