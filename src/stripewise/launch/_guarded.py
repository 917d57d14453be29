# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the guard of the user's files told of a run (native/runtime/hooks/refused.h)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from stripewise.launch import _records

_ESCAPES = {
    "s": "is linked statically",
    "u": "runs as another user or group",
    "p": "was started without the environment of the run",
    "x": "entered a sandbox (seccomp or no_new_privs)",
}


@dataclass(frozen=True)
class Guarded:
    """What a run tried to change outside of its directory.

    Attributes:
        changed: Existing files and directories that it was kept from changing.
        made: Names that it was kept from making.
        escaped: Programs that it started and that the guard does not reach, with why.
    """

    changed: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    escaped: tuple[tuple[str, str], ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """All paths that were refused."""
        return (*self.changed, *self.made)


def read_guarded(record: Path) -> Guarded:
    """Return what the guard told of the run with this record; a last word cut off is left out."""
    try:
        data = (record / _records.REFUSED).read_bytes()
    except OSError:
        return Guarded()
    found: dict[str, dict[str, None]] = {}
    for entry in data.split(b"\0")[:-1]:
        found.setdefault(entry[:1].decode("latin-1"), {})[os.fsdecode(entry[1:])] = None
    return Guarded(
        changed=tuple(found.get("c", ())),
        made=tuple(found.get("n", ())),
        escaped=tuple(
            (path, why) for kind, why in _ESCAPES.items() for path in found.get(kind, ())
        ),
    )
