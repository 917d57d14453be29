# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of files as if a run had worked elsewhere: on a burst buffer, then brought back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stripewise.model import Evidence, RunProfile


def relocated(evidence: Evidence, worked_in: Path, directory: Path) -> Evidence:
    """Return evidence in which what lies below one directory lies below another.

    Args:
        evidence: Of a run.
        worked_in: Where its files were while it ran.
        directory: Where they are now.
    """
    trace = evidence.trace
    accesses = tuple(
        replace(access, file=_moved((access.file,), worked_in, directory)[0])
        for access in evidence.accesses
    )
    if trace is not None:
        trace = replace(trace, paths=_moved(trace.paths, worked_in, directory))
    profile = relocated_profile(evidence.profile, worked_in, directory)
    return replace(evidence, profile=profile, trace=trace, accesses=accesses)


def relocated_profile(profile: RunProfile, worked_in: Path, directory: Path) -> RunProfile:
    """Return a profile in which what lies below one directory lies below another."""
    return replace(
        profile,
        paths=_moved(profile.paths, worked_in, directory),
        directories=_moved(profile.directories, worked_in, directory),
    )


def _moved(paths: tuple[str, ...], worked_in: Path, directory: Path) -> tuple[str, ...]:
    top = str(worked_in)
    return tuple(
        f"{directory}{path[len(top) :]}" if path == top or path.startswith(f"{top}/") else path
        for path in paths
    )
