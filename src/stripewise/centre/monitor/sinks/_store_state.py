# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packs the state of the database sink into bytes that can be checked: compressed rows of JSON.

Series, jobs, their counters and their pending work each have such a state.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from itertools import islice
from typing import Any

_VERSION = 3
_CHECK_BYTES = 4
_ROWS_AT_ONCE = 256


def pack_rows(rows: Iterable[Any]) -> bytes:
    """Return rows of plain data as bytes; their text is never in memory as a whole."""
    packing = zlib.compressobj(1)
    parts = [packing.compress(b'{"version":%d,"rows":[' % _VERSION)]
    between = b""
    rows = iter(rows)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        text = json.dumps(some, separators=(",", ":"))[1:-1].encode()
        parts.append(packing.compress(between + text))
        between = b","
    parts.append(packing.compress(b"]}"))
    packed = b"".join([*parts, packing.flush()])
    return zlib.crc32(packed).to_bytes(_CHECK_BYTES, "big") + packed


def unpack_rows(data: bytes, what: str) -> list[Any]:
    """Return the rows that were packed.

    Args:
        data: A stored state.
        what: Description of the state, for an error message.

    Raises:
        ValueError: It is damaged, or of another version.
    """
    packed = data[_CHECK_BYTES:]
    if data[:_CHECK_BYTES] != zlib.crc32(packed).to_bytes(_CHECK_BYTES, "big"):
        raise ValueError(f"the stored state of {what} is damaged, or of another version")
    found = json.loads(zlib.decompress(packed))
    if found["version"] != _VERSION:
        raise ValueError(f"the stored state of {what} is of another version")
    rows: list[Any] = found["rows"]
    return rows
