# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of people and hosts taken out of a report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?!\.\d)(?:@\w+)?")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")


def veiled(data: Any, names: Sequence[str]) -> Any:
    """Return the same data without the names, network addresses and mail addresses.

    Keys stay: they are ours.
    """
    if isinstance(data, dict):
        return {key: veiled(value, names) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [veiled(value, names) for value in data]
    return _veiled_text(data, names) if isinstance(data, str) else data


def _veiled_text(text: str, names: Sequence[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "<name>", text)
    return _ADDRESS.sub("<address>", _MAIL.sub("<address>", text))


def name_digest(name: str) -> str:
    """Return what tells two hosts apart without naming them."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
