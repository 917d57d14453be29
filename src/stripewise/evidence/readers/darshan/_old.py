# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recognises logs of Darshan 1 and 2, which the library of Darshan 3 does not read.

They are one gzip or bzip2 stream that begins with the version and the magic number (Darshan 2.3,
darshan-log-format.h, `struct darshan_job`); a log of Darshan 3 begins with both uncompressed.
"""

from __future__ import annotations

import bz2
import zlib
from pathlib import Path

from stripewise.evidence.readers._base import head_of

_GZIP, _BZIP2 = b"\x1f\x8b", b"BZh"
_BLOCK_BYTES = 1 << 20
"""A block of bzip2 has at most 900 kB, and none of it is readable before its end."""
_VERSION_BYTES = 8


def old_version(path: Path, magics: tuple[bytes, bytes]) -> str:
    """Return the version of a log of Darshan 1 or 2; empty if the file is not one.

    Args:
        path: Path of the file.
        magics: Magic number of Darshan in both byte orders.
    """
    start = head_of(path, len(_BZIP2))
    if not start.startswith((_GZIP, _BZIP2)):
        return ""
    head = _decompressed(head_of(path, _BLOCK_BYTES), _VERSION_BYTES + len(magics[0]))
    version = head[:_VERSION_BYTES].rstrip(b"\0").decode("ascii", "replace")
    is_log = head[_VERSION_BYTES:] in magics and version[:1] in ("1", "2")
    return version if is_log and version.isprintable() else ""


def _decompressed(data: bytes, size: int) -> bytes:
    """Return the first bytes of a compressed file; fewer if it is damaged."""
    try:
        if data.startswith(_GZIP):
            return zlib.decompressobj(31).decompress(data, size)
        return bz2.BZ2Decompressor().decompress(data, size)
    except (zlib.error, OSError, ValueError):
        return b""
