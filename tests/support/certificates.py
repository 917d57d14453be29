# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Certificates of servers that tests have to themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_certificate(directory: Path) -> None:
    """Write cert.pem and key.pem of "localhost", good for two days."""
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    done = subprocess.run(
        [*words.split(), "-subj", "/CN=localhost", "-addext", names,
         "-keyout", directory / "key.pem", "-out", directory / "cert.pem"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
