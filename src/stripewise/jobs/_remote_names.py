# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of places on other hosts and in archives: `me@host:/data`, `s3://bucket/x`, `htar:/a.tar`.

They are no paths: no directory is put in front of them, and no guard knows them.
"""

from __future__ import annotations

import re

from stripewise.jobs._expansions import MARKED, known_part, shown


def is_remote(text: str) -> bool:
    """Whether a name is of another host: a colon stands in it before any slash, as for scp."""
    return MARKED.sub("x", text).partition("/")[0].find(":") > 0


def known_remote(text: str) -> str:
    """Return the place of a remote name that is certain; as it is written where no host is."""
    known = re.split(r"[*?\[]", known_part(text))[0]
    if known == text:
        return text
    begin = max(known.rfind("/"), known.rfind(":")) + 1
    return known[:begin] if is_remote(known[:begin]) else shown(text)


def is_remote_within(name: str, top: str) -> bool:
    """Whether a remote name is another one, or of what lies below that."""
    parts, begin = _parts(name), _parts(top)
    if parts == begin:
        return True
    is_host = begin[:1] == begin and begin[-1].endswith(":") and parts[0].startswith(begin[0])
    return ".." not in parts and (is_host or parts[: len(begin)] == begin)


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in ("", ".")]
