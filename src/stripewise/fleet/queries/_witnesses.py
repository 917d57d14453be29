# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Three witnesses of what a job moved: its profile, the storage's counters, Slurm.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AGREE_SHARE = 0.1
AGREE_BYTES = 16 << 20
"""Two amounts agree within a tenth of the larger one, or 16 MiB (chosen: programs, libraries and
output of the job are read and written beside its data)."""
WITNESSES = {"profile": "", "server": "server_", "slurm": "slurm_"}
"""Witness -> how the columns of `tables.Job` begin that have its figures."""


@dataclass(frozen=True)
class Statement:
    """What the witnesses say of one direction.

    Attributes:
        direction: "read" or "write".
        amounts: Witness -> bytes; None: it says nothing.
        reasons: Why they may differ; () if they agree, or one of them alone speaks.
    """

    direction: str
    amounts: Mapping[str, int | None]
    reasons: tuple[str, ...] = ()

    @property
    def known(self) -> dict[str, int]:
        """The witnesses that say something."""
        return {name: value for name, value in self.amounts.items() if value is not None}

    @property
    def agree(self) -> bool | None:
        """Whether all that speak agree; None: fewer than two do."""
        if len(self.known) < 2:
            return None
        return do_agree(min(self.known.values()), max(self.known.values()))


def do_agree(one: int, other: int) -> bool:
    """Whether two amounts of bytes are the same for what they are."""
    return abs(one - other) <= max(AGREE_SHARE * max(one, other), AGREE_BYTES)


def statements(job: Mapping[str, Any], *, is_partial: bool = False) -> list[Statement]:
    """Return what the witnesses of a job say of reading and of writing.

    Args:
        job: With the columns of `tables.Job`.
        is_partial: A profile of the job is not complete.
    """
    found = []
    for direction in ("read", "write"):
        amounts = {name: job[f"{begin}{direction}_bytes"] for name, begin in WITNESSES.items()}
        reasons = _reasons(direction, amounts, is_partial)
        found.append(Statement(direction, amounts, reasons))
    return found


def _reasons(
    direction: str, amounts: Mapping[str, int | None], is_partial: bool
) -> tuple[str, ...]:
    profile, server, slurm = (amounts[name] for name in ("profile", "server", "slurm"))
    found: list[str] = []
    if profile is not None and server is not None and not do_agree(profile, server):
        found += (
            _server_more(direction, is_partial) if server > profile else _server_less(direction)
        )
    if slurm is not None:
        others = [one for one in (profile, server) if one is not None]
        if found:
            del others[1:]  # why these two differ is said
        other = next((one for one in others if not do_agree(slurm, one)), None)
        if other is not None:
            found += _slurm_more() if slurm > other else _slurm_less()
    return tuple(found)


def _server_more(direction: str, is_partial: bool) -> list[str]:
    verb = "read" if direction == "read" else "written"
    found = [
        f"The servers saw more {verb} than the profile: the job may have run programs or ranks "
        "that were not profiled.",
    ]
    if is_partial:
        found[0] = (
            f"The servers saw more {verb} than the profile, which is not complete: it reached its "
            "size limit, or some of its processes are missing."
        )
    found.append(
        "The servers count all that runs under the job's id: also scripts, copies and compression "
        "around the program."
    )
    if direction == "read":
        found.append(
            "Reading ahead, and reading a block in order to change a part of it, add to what the "
            "servers saw."
        )
    else:
        found.append("Writing parts of pages or blocks adds to what the servers saw.")
    return found


def _server_less(direction: str) -> list[str]:
    kept = (
        "The servers saw less read than the profile: data that the job, or another job on its "
        "nodes, had read or written before came from the cache of the nodes."
        if direction == "read"
        else "The servers saw less written than the profile: data that is written again, or "
        "removed, before it leaves the cache of the nodes never reaches them."
    )
    return [
        kept,
        "Some files may lie on a file system whose servers are not sampled, such as a node's own "
        "disk or memory.",
        "Small files that lie on a metadata server (Data-on-MDT) are missing where only the "
        "counters of storage targets are sampled.",
        "Servers forget the counters of a job that has paused, or when they restart: what they "
        "counted after they were last read is missing.",
    ]


def _slurm_more() -> list[str]:
    return [
        "Slurm counts all that processes read and write: also programs and libraries, pipes and "
        "output to the terminal, and what comes from the cache."
    ]


def _slurm_less() -> list[str]:
    return [
        "Slurm looks at processes at intervals: it misses what short ones did, files that are "
        "mapped into memory, and what a process did since it last looked."
    ]
