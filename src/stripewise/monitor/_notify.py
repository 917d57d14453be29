# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What systemd wants to hear of a service: that it is ready, and that it still runs.

Source: sd_notify(3), sd_watchdog_enabled(3) (documented).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping


class Notifier:
    """Tells systemd, if it listens."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self.watchdog_seconds = _watchdog_seconds(environment) if self._address else 0.0
        """Longest time between two signs of life; 0: none are wanted."""

    def tell(self, text: str) -> None:
        """Send "READY=1", "WATCHDOG=1", ...; what cannot be sent is left."""
        if not self._address:
            return
        address = self._address
        if address.startswith("@"):
            address = "\0" + address[1:]
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.setblocking(False)
                out.sendto(text.encode(), address)
        except OSError:
            return


def _watchdog_seconds(environment: Mapping[str, str]) -> float:
    whose = environment.get("WATCHDOG_PID", "")
    microseconds = environment.get("WATCHDOG_USEC", "")
    if not microseconds.isdecimal() or (whose and whose != str(os.getpid())):
        return 0.0
    return int(microseconds) / 1e6
