# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of Cray's MPICH_MPIIO_HINTS_DISPLAY=1 in the output of a job.

A block begins with "PE 0: MPIIO hints for NAME:" and has lines "   key = value".
Source: intro_mpi(3) of Cray MPICH, and blocks in published job outputs.
"""

from __future__ import annotations

import re

_TITLE = re.compile(r"MPIIO hints for[ \t]+([^\r\n]+?):?[ \t]*$")
_HINT = re.compile(r"(?:PE \d+:)?[ \t]+(\w+)[ \t]*=[ \t]*([^\r\n]*)")
_MOST_HINTS = 200


def parse_mpiio_hints(text: str) -> dict[str, dict[str, str]]:
    """Return the hints of each file as they were printed last; files in order."""
    found: dict[str, dict[str, str]] = {}
    hints: dict[str, str] | None = None
    for line in text.splitlines():
        if title := _TITLE.search(line):
            hints = found[title[1].strip()] = {}
        elif hints is not None:
            match = _HINT.match(line)
            if match is None or len(hints) >= _MOST_HINTS:
                hints = None
            else:
                hints[match[1]] = match[2].strip()
    return {path: hints for path, hints in found.items() if hints}
