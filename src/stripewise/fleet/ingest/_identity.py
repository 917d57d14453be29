# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Digests: of contents, and of what two inputs have in common that are one thing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from stripewise.inputs import open_input

_PIECE = 1 << 20


def identity(*parts: Any) -> str:
    """Return a digest of facts by which a thing is known, whichever file tells of it."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def content_digest(files: Iterable[tuple[str, Path]], content_bytes: Callable[[Path], int]) -> str:
    """Return the SHA-256 of a file, or of the names and contents of several.

    Args:
        files: Name within the input, and path.
        content_bytes: Tells how many bytes of a file are its content.

    Raises:
        OSError: One cannot be read.
        StripewiseError: One is larger than its budget.
    """
    each = [(name, _file_digest(path, content_bytes(path))) for name, path in files]
    if len(each) == 1:
        return each[0][1]
    lines = (f"{digest} {name}\n".encode("utf-8", "surrogateescape") for name, digest in each)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _file_digest(path: Path, left: int) -> str:
    found = hashlib.sha256()
    with open_input(path) as file:
        while piece := file.read(min(left, _PIECE)):
            found.update(piece)
            left -= len(piece)
    return found.hexdigest()
