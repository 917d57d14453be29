# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Command: see the package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

from boards import outdated, write  # noqa: E402


def main(words: list[str]) -> int:
    """Write the files, or print which are out of date; return the exit code."""
    if words not in ([], ["--check"]):
        print("usage: python tools/boards [--check]", file=sys.stderr)
        return 2
    if not words:
        write()
        return 0
    stale = outdated()
    for path in stale:
        print(f"{path}: out of date: run python tools/boards", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
