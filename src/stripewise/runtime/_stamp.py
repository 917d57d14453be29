# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a built part still is what its sources and compiler would give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from stripewise.runtime._process import ask

_NAME = "stripewise-stamp"


def source_digest(sources: Path) -> str:
    """SHA-256 over the names and contents of all sources."""
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(sources)).encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def stamp_of(digest: str, compiler: Path, options: Mapping[str, str]) -> str:
    """Stamp of a part: its sources, its compiler's identity and its options."""
    identity = [
        str(compiler),
        ask([str(compiler), "--version"]).out.partition("\n")[0],
        ask([str(compiler), "-show"]).out.strip(),
    ]
    text = json.dumps([digest, identity, sorted(options.items())])
    return hashlib.sha256(text.encode()).hexdigest()


def is_current(tree: Path, stamp: str, outputs: Iterable[Path]) -> bool:
    """Whether the stamp in a build tree is this one and all outputs are there."""
    try:
        return (tree / _NAME).read_text() == stamp and all(path.exists() for path in outputs)
    except OSError:
        return False


def write_stamp(tree: Path, stamp: str) -> None:
    """Mark a build tree as finished."""
    (tree / _NAME).write_text(stamp)
