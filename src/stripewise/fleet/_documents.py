# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as they are kept: JSON, compressed, the lists of files apart from the rest."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from stripewise.text import finite

LISTS = ("files", "variance", "requests", "mpiio_stats")
"""Members of a profile that grow with the number of files: a page reads them only in part."""
_LEVEL = 7


def pack(data: Any) -> bytes:
    """Return data as compressed JSON."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(finite(data), separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), _LEVEL)


def unpack(data: bytes) -> Any:
    """Return what `pack` was given, without what is no number."""
    return json.loads(zlib.decompress(data))


def split(document: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return a profile packed: without its lists, and the lists alone."""
    head = {name: value for name, value in document.items() if name not in LISTS}
    return pack(head), pack({name: document[name] for name in LISTS})


def join(head: bytes, lists: bytes) -> dict[str, Any]:
    """Return the whole profile, with its members in the order of `stripewise profile`."""
    found = {**unpack(head), **unpack(lists)}
    return {name: found[name] for name in sorted(found, key=_place)}


_ORDER = (
    *("version", "size_edges", "source", "command", "job_id", "figures", "files", "layers"),
    *("variance", "heat", "phases", "requests", "mpiio_stats", "findings"),
)


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)
