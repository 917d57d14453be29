# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""TLS of a server, with clear words about files that cannot be used."""

from __future__ import annotations

import ssl
from pathlib import Path

from stripewise.monitor.sinks._base import SinkError
from stripewise.monitor.sinks._secrets import check_private, check_regular


def server_context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """Return a context.

    Args:
        certificate: File of the server's.
        key: File of its key, which nobody else may read.
        client_ca: File of certificates that clients' must be signed by; None: clients need none.

    Raises:
        SinkError: One of the files cannot be used.
    """
    check_private(key)
    check_regular(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    if client_ca is not None:
        check_regular(client_ca)
        _load_clients(context, client_ca)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:  # without a password of ours, OpenSSL asks at the terminal for that of the key
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise SinkError(
            f"certificate {certificate} and key {key} cannot be used ({reason}): give a"
            f" certificate and its key as PEM, the key without a password"
        ) from error


def _load_clients(context: ssl.SSLContext, client_ca: Path) -> None:
    try:
        context.load_verify_locations(client_ca)
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or error
        raise SinkError(
            f"client_ca {client_ca} cannot be used ({reason}): give certificates as PEM"
        ) from error
    context.verify_mode = ssl.CERT_REQUIRED
