# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Takes names out of what leaves a site: changes the texts of data, and makes pseudonyms.

Who shares something says which texts are names; how they are taken out is the same for all.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from typing import Any


def with_texts(data: Any, change: Callable[[str, str], str], member: str = "") -> Any:
    """Return data of JSON with each of its texts changed; keys, numbers and order stay.

    Args:
        data: Of objects, lists and plain values.
        change: Takes a text and the name of the member that it is in, and returns another text.
        member: In which the data are.
    """
    if isinstance(data, dict):
        return {key: with_texts(value, change, key) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [with_texts(value, change, member) for value in data]
    return change(data, member) if isinstance(data, str) else data


class Pseudonyms:
    """Names in place of names: equal ones of a kind get the same, and none can be turned back."""

    def __init__(self, key: bytes = b"") -> None:
        """Take the key of digests; by default a random one that nobody keeps."""
        self._key = key or os.urandom(32)
        self._numbered: dict[str, dict[str, str]] = {}

    def digest(self, kind: str, text: str) -> str:
        """Return 64 hexadecimal digits, which take no memory however many names there are."""
        message = json.dumps([kind, text]).encode()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def numbered(self, kind: str, text: str) -> str:
        """Return a short name by order of appearance: "series no.1"."""
        known = self._numbered.setdefault(kind, {})
        return known.setdefault(text, f"{kind} no.{len(known) + 1}")
