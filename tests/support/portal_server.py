# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The portal as a process of its own, started by the command line."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import stripewise

_WAIT_SECONDS = 60
_COMMAND = "from stripewise.cli import main; main()"


def _wait_for(address: str) -> None:
    """Wait until somebody listens: the address is said a little before that."""
    end = time.monotonic() + _WAIT_SECONDS
    parts = urlsplit(address)
    while True:
        try:
            socket.create_connection((parts.hostname, parts.port)).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < end, f"nobody listens at {address}"
            time.sleep(0.05)


@contextmanager
def serving(database: Path | str, *words: str) -> Iterator[str]:
    """Serve a database at a free port; yield the portal's address, and stop it at the end.

    Args:
        database: A file, or a URL.
        words: Further ones of the command.
    """
    command = [
        sys.executable,
        "-c",
        _COMMAND,
        "centre",
        "serve",
        "--db",
        str(database),
        "--port",
        "0",
    ]
    places = [str(Path(stripewise.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)),
                   "PYTHONUNBUFFERED": "1"}  # fmt: skip
    server = subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"https?://\S+", said)
        assert found, f"the portal did not start: {said!r}"
        _wait_for(found[0])
        yield found[0]
    finally:
        server.terminate()
        server.wait(60)
