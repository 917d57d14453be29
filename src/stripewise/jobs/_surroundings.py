# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where a script will run, and what it does there to files of its user."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

WORKS_IN = "works in"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Effect:
    """What a command of a script does outside of the directory of a run.

    Attributes:
        line: Of the script, from 1.
        text: The command as written.
        verb: "writes", "moves", "removes", WORKS_IN, ...
        path: What it does that to: absolute, or below `..`; "" where that is not known.
        known: The directory or file that is known for certain of it.
        script: File that was read by the script and holds the command; "": the script itself.
    """

    line: int
    text: str
    verb: str
    path: str
    known: str = ""
    script: str = ""


@dataclass
class Effects:
    """What a script does to files of its user.

    Attributes:
        outer: Outside of the directory of a run.
        unknown: What the run alone knows.
        unguarded: Commands that no library can be preloaded into, with why.
        places: Place of each command in the script to the directory that it works in, where that
            is not known to be in the run's; "" where it is not known at all.
        unclear: Those of these commands of whose directory only the beginning is known, to that.
        above: Words that name what lies above the directory of a run, below `..`.
    """

    outer: list[Effect] = field(default_factory=list)
    unknown: list[Effect] = field(default_factory=list)
    unguarded: list[Effect] = field(default_factory=list)
    places: dict[int, str] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)
    above: list[Effect] = field(default_factory=list)


@dataclass(frozen=True)
class Surroundings:
    """Where a script will run.

    Attributes:
        here: Absolute: the user's directory, of which each run has a copy.
        environment: Of the script.
        ours: Variables with directories that each run has of its own.
        words: That the script is called with; None: not known.
        is_job: It runs as a job of Slurm.
        read: Returns the text of a file; None where there is none, or it is no text.
    """

    here: Path
    environment: Mapping[str, str]
    ours: Collection[str] = ()
    words: Sequence[str] | None = None
    is_job: bool = True
    read: Callable[[str], bytes | None] = field(default=lambda path: read_script(path))


def read_script(path: str) -> bytes | None:
    """Return a file that may be a script; None if it is none."""
    try:
        if os.path.getsize(path) > _MOST_BYTES or not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    return None if b"\0" in data else data
