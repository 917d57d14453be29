# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hints that were asked for and cannot act."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Rule, Run, Told
from stripewise.evidence.facts import ROMIO_SIGNS
from stripewise.evidence.figures import DATA, FileUse
from stripewise.present import plural as things

_MOST_SHOWN = 4


class IdleHints(Rule):
    """Hints that the MPI does not know, or replaced by another value."""

    code = "idle-hints"
    group = "hints"
    basis = "not estimated: it is not known what the hints would have gained"
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Compare with what MPI_File_get_info reported, where the MPI reports what it knows.

        Open MPI's own MPI-IO echoes any hint, so nothing can be said of it; ROMIO reports all
        that it knows.
        """
        for use in run.files:
            idle = idle_hints(use)
            if idle and use.calls(DATA).count:
                evidence = {f"hint {key}": text for key, text in idle.items()}
                yield Hit(use, None, use.calls().elapsed, 0, 0, evidence)

    def phrase(self, told: Told) -> str:
        return f"{things(len(told.evidence), 'hint')} of {told.names} that cannot act"

    def text(self, told: Told) -> str:
        shown = [f"{key.removeprefix('hint ')}: {text}" for key, text in told.evidence.items()]
        more = f"; and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
        return "; ".join(shown[:_MOST_SHOWN]) + more + "."

    def remedy(self, told: Told) -> str:
        return (
            "Remove them, or spell them as this MPI does (`stripewise tunables`). A layout acts "
            "only on files that do not exist yet, and only on a file system that has stripes."
        )


def idle_hints(use: FileUse) -> dict[str, str]:
    """Hints without effect: key to what became of it."""
    reported = use.hints.reported
    if not any(key in reported for key in ROMIO_SIGNS):
        return {}
    found = {}
    for key, value in (use.hints.requested | use.hints.applied).items():
        if key not in reported:
            found[key] = f"asked {value}, this MPI does not know it"
        elif reported[key].strip().lower() != value.strip().lower():
            found[key] = f"asked {value}, got {reported[key]}"
    return found
