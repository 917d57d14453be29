# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of ADIOS2 (BP4, BP5), compared in a process of their own.

ADIOS2 may end the process that reads a damaged output, or wait in it forever for the rest of a
truncated one; a study must outlive both.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from stripewise.verify.contents._base import ContentDifferences, ContentFormat, Pair, reading

_READER = "stripewise.verify.contents._adios_read"
_LEAST_BYTES_PER_SECOND = 20e6


class AdiosBp(ContentFormat):
    """A directory of BP4 or BP5, read with the optional package adios2."""

    title = "ADIOS2 BP"
    noun = "an ADIOS2 BP directory"
    extra = "adios2"
    mark = "md.idx"
    members = re.compile(r"(data|md|mmd|vmd)\.\d+|md\.idx|profiling\.json|active|\.bpversion")
    volatile = frozenset({"profiling.json"})

    def __init__(self, base_seconds: float = 60.0) -> None:
        """Take the time that reading may take beside that for the bytes."""
        self.base_seconds = base_seconds

    def matches(self, path: Path) -> bool:
        try:
            return (path / self.mark).is_file()
        except (OSError, ValueError):
            return False

    def differences(self, pair: Pair) -> ContentDifferences:
        request = {
            "first": str(pair.first),
            "second": str(pair.second),
            "ignore": sorted(pair.ignore),
            "most": pair.most,
        }
        size_bytes = _size(pair.first) + _size(pair.second)
        seconds = self.base_seconds + size_bytes / _LEAST_BYTES_PER_SECOND
        with reading(self.title) as (found, _):
            try:
                done = subprocess.run(
                    [sys.executable, "-P", "-m", _READER],
                    input=json.dumps(request),
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=seconds,
                )
            except subprocess.TimeoutExpired:
                raise ValueError(f"its reader did not end within {seconds:.0f} s") from None
            if done.returncode != 0:
                raise ValueError(f"its reader ended with code {done.returncode}")
            return ContentDifferences(**json.loads(done.stdout.strip().rpartition("\n")[2]))
        return found


def _size(directory: Path) -> int:
    with os.scandir(directory) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.is_file())
