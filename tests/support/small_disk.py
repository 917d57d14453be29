# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small file systems, to be filled."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_file_system(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size such as "256k" on a new directory, where it can be had."""
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(directory: Path) -> Path:
    """Take all the room that is left; return the file that has it."""
    path = directory / "big"
    with path.open("wb", buffering=0) as stream:
        for size in (1 << 20, 1 << 10):
            with suppress(OSError):
                while True:
                    stream.write(b"x" * size)
    return path
