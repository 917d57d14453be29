# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges hints that cannot have taken effect."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Merged, PreparedRun, Rule
from stripewise.evidence.facts import ROMIO_SIGNS
from stripewise.evidence.figures import DATA, FileUse
from stripewise.evidence.trace import FileFlag, IoLayer
from stripewise.present import plural as things

_MOST_SHOWN = 4


class IdleHints(Rule):
    """Hints that the MPI library does not know, or did not take."""

    code = "idle-hints"
    group = "hints"
    claims = False
    basis = "not estimated: it is not known what the hints would have gained"
    title = "Some hints have no effect"
    general_remedy = "Remove them, or spell them as this MPI does."
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Compare with the hints of MPI_File_get_info, if the MPI library reports those it knows.

        Open MPI's own MPI-IO echoes any hint, so nothing can be concluded; ROMIO reports all the
        hints that it knows. Hints that may have acted are no finding: rounded, clamped, read by
        a library above MPI-IO or by a driver that does not report them.
        """
        for use in run.files:
            idle = idle_hints(use, len(run.profile.hosts))
            if idle and use.calls(DATA).count:
                evidence = {f"hint {key}": text for key, text in idle.items()}
                yield Hit(use, None, use.calls().elapsed, 0, 0, evidence)

    def phrase(self, merged: Merged) -> str:
        return f"{things(len(merged.evidence), 'hint')} for {merged.names} that have no effect"

    def text(self, merged: Merged) -> str:
        shown = [f"{key.removeprefix('hint ')}: {text}" for key, text in merged.evidence.items()]
        more = f"; and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
        return "; ".join(shown[:_MOST_SHOWN]) + more + "."

    def remedy(self, merged: Merged) -> str:
        return (
            "Remove them, or spell them as this MPI does (`stripewise settings tunables`). "
            "Striping hints act only on new files, and only on a file system that has "
            "stripes."
        )


def idle_hints(use: FileUse, n_hosts: int) -> dict[str, str]:
    """Return the hints that provably did not act: key to a text on what happened to it.

    Args:
        use: Use of the file, with its hints.
        n_hosts: Number of nodes of the run, ROMIO's default number of aggregators.
    """
    reported = use.hints.reported
    if not any(key in reported for key in ROMIO_SIGNS):
        return {}
    found = {}
    for key, value in (use.hints.requested | use.hints.applied).items():
        if key not in reported:
            if why := _unread(key, use):
                found[key] = f"requested {value}, but {why}"
        elif not _same(value, reported[key]) and _was_refused(key, value, use, n_hosts):
            found[key] = f"requested {value}, got {reported[key]}"
    return found


# Hints that are not reported.

_OF_PNETCDF = re.compile(r"nc_|pnetcdf_")
_OF_MPI = re.compile(r"cb_|romio_|ind_(rd|wr)_|striping_|cray_|mpi_|collective_buffering$|access_")
_SILENT = re.compile(
    r"direct_(read|write)$|romio_(lustre|pvfs2?|gpfs|panfs|daos|zoidfs|onesided|tunegather)_|"
    r"romio_(visibility_immediate|synchronized_flush|lustre)|pvfs|panfs_|bg_|IBM_|mpi_|"
    r"striping_pattern$|overstriping_"
)
"""Hints that drivers of ROMIO, or the MPI itself, read and may not report.

Source: the drivers' `*_SetInfo` in src/mpi/romio/adio of MPICH 4; documented.
"""


def _unread(key: str, use: FileUse) -> str:
    """Return why nobody reads a hint that is not reported; empty if somebody may.

    A library above MPI-IO may read hints of its own, and those of PnetCDF's burst buffer, hash
    tables and aggregation are not all reported.
    """
    if _OF_PNETCDF.match(key):
        return "" if IoLayer.PNETCDF in use.seen else "the file is not used through PnetCDF"
    through_library = max(use.seen, default=IoLayer.MPIIO) > IoLayer.MPIIO
    if _SILENT.match(key) or (through_library and not _OF_MPI.match(key)):
        return ""
    return "this MPI does not know the hint"


# Hints that are reported with another value.

_SCALE = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"\s*([+-]?\d+)\s*([kmg]?)(i?b)?\s*", re.IGNORECASE)
_WORDS = {"yes": "true", "on": "true", "1": "true", "enabled": "enable", "disabled": "disable"}
_WORDS |= {"no": "false", "off": "false", "auto": "automatic"}
_ROMIO_DEFAULTS = {"cb_buffer_size": 16 << 20, "ind_rd_buffer_size": 4 << 20}
_ROMIO_DEFAULTS |= {"ind_wr_buffer_size": 512 << 10}
"""Source: ROMIO's adio/include/adio.h; GPFS and Lustre drivers have the same; documented."""


def _number(value: str) -> int | None:
    """Return a number or size of a hint, with its unit if it has one."""
    match = _SIZE.fullmatch(value)
    return int(match[1]) * _SCALE[match[2].lower()] if match else None


def _same(requested: str, reported: str) -> bool:
    """Return whether two values mean the same: in any case, unit or form of yes and no."""
    numbers = _number(requested), _number(reported)
    if None not in numbers:
        return numbers[0] == numbers[1]
    words = (value.strip().lower() for value in (requested, reported))
    first, second = (_WORDS.get(word, word) for word in words)
    return first == second or {first, second} in ({"true", "enable"}, {"false", "disable"})


def _was_refused(key: str, value: str, use: FileUse, n_hosts: int) -> bool:
    """Return whether the reported value shows that the requested one was not taken.

    A number may have been rounded (PnetCDF's alignments) or clamped (`cb_nodes`, stripes that a
    file system does not have so many of): it was not taken if the default is reported. The layout
    of a file that exists does not change.
    """
    requested, reported = _number(value), _number(use.hints.reported[key])
    if _OF_PNETCDF.match(key):
        return reported is None
    if key in ("striping_factor", "striping_unit"):
        opened = use.rows["flags"]
        known = bool((opened & (FileFlag.OPENED_WRITE | FileFlag.OPENED_READ)).any())
        return known and not bool((opened & FileFlag.CREATED).any())
    if key == "cb_nodes":
        return requested is None or reported == n_hosts
    if requested is not None and reported is not None:
        return reported == _ROMIO_DEFAULTS.get(key, reported)
    return True
