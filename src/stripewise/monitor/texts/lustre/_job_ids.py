# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
r"""Ids of jobs as Lustre prints them.

Since 2.15.55 an id with other characters than letters, digits and ``.@-_:/`` stands in quotes,
each of these as ``\xHH``; before, what can be printed stood as it was, and the rest as "?".
Source: lprocfs_jobstats.c.
"""

from __future__ import annotations

import hashlib
import re

MOST_TAG_CHARACTERS = 128
_QUOTED = re.compile(rb'"((?:[A-Za-z0-9.@_:/-]|\\x[0-9A-Fa-f]{2})*)"')
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_DIGEST_BYTES = 8


def raw_id(printed: bytes) -> bytes:
    """Return the bytes of an id; what no quoting version would print is taken as it stands."""
    if not printed.startswith(b'"'):
        return printed
    quoted = _QUOTED.fullmatch(printed)
    if quoted is None:
        return printed
    inner = quoted[1]
    if b"\\" not in inner:
        return inner
    return _ESCAPE.sub(lambda found: bytes((int(found[1], 16),)), inner)


def tag_of(raw: bytes) -> str:
    r"""Return an id as text, of at most 128 characters; different ids give different texts.

    What is UTF-8 without a backslash is given as that. In anything else each byte that is not
    printable ASCII, and each backslash, becomes ``\xHH``, so nothing else can look like it. What
    is too long ends with a digest behind ``\~``.
    """
    if raw.isalnum() and len(raw) <= MOST_TAG_CHARACTERS:  # nearly all
        return raw.decode()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = _escaped(raw)
    else:
        if "\\" in text:
            text = _escaped(raw)
    if len(text) <= MOST_TAG_CHARACTERS:
        return text
    digest = "\\~" + hashlib.blake2b(raw, digest_size=_DIGEST_BYTES).hexdigest()
    return text[: MOST_TAG_CHARACTERS - len(digest)] + digest


def _escaped(raw: bytes) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02X}" for byte in raw
    )
