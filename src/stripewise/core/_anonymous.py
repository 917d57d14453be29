# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Removes names from data that leave a site, and replaces them by pseudonyms.

The caller decides which texts are names; they are removed in the same way everywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from typing import Any


def with_texts(data: Any, change: Callable[[str, str], str], member: str = "") -> Any:
    """Return JSON data with every text changed; keys, numbers and order stay the same.

    Args:
        data: Objects, lists and plain values.
        change: Function that takes a text and the name of its member, and returns the new text.
        member: Name of the member that contains the data.
    """
    if isinstance(data, dict):
        return {key: with_texts(value, change, key) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [with_texts(value, change, member) for value in data]
    return change(data, member) if isinstance(data, str) else data


class Pseudonyms:
    """Irreversible replacements for names; equal names of a kind get the same replacement."""

    def __init__(self, key: bytes = b"") -> None:
        """Set the key for the digests; by default a random key that is not kept."""
        self._key = key or os.urandom(32)
        self._numbered: dict[str, dict[str, str]] = {}

    def digest(self, kind: str, text: str) -> str:
        """Return a keyed digest of 64 hexadecimal digits, for which no table is kept."""
        message = json.dumps([kind, text]).encode()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def numbered(self, kind: str, text: str) -> str:
        """Return a short name, numbered in order of appearance: "series no.1"."""
        known = self._numbered.setdefault(kind, {})
        return known.setdefault(text, f"{kind} no.{len(known) + 1}")
