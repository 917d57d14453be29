# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ports of this machine that nobody listens at."""

from __future__ import annotations

import errno
import random
import socket

_PORTS = range(10_000, 32_000)
"""Below those that the kernel gives to whoever asks for any: none of them is taken by chance."""


def free_port() -> int:
    """Return a port that was free a moment ago, and that other tests hardly ever get."""
    chance = random.SystemRandom()
    while True:
        with socket.socket() as found:
            try:
                port = chance.choice(_PORTS)
                found.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
