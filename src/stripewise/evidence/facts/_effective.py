# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds applied settings that could not take effect, from what was observed of the files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.core import Configuration, FileRule, ObservedFile, ProgramFacts
from stripewise.core.errors import UsageError
from stripewise.settings.formats import matches
from stripewise.settings.tunables import get

_LAYERS = {
    "hdf5": ("HDF5", ("hdf5",)),
    "pnetcdf": ("PnetCDF", ("pnetcdf",)),
    "adios2": ("ADIOS2", ("adios2",)),
    "mpiio": ("MPI-IO", ("mpiio", "pnetcdf", "hdf5")),
}
"""Name of each layer, and the interfaces of the files that pass through it."""
_OF_THE_LAYOUT = ("striping_factor", "striping_unit", "start_iodevice")
_AGGREGATORS = ("NumAggregators", "NumSubFiles")


def cannot_act(
    configuration: Configuration,
    files: Sequence[ObservedFile],
    facts: ProgramFacts,
    root: Path | None = None,
) -> list[str]:
    """Return one line per setting that had no effect in a run, with the reason.

    Args:
        configuration: Configuration that was applied.
        files: Observations of the files.
        facts: Facts of the program; if the configuration selects an MPI-IO library, that one
            counts.
        root: Directory that relative paths refer to; without it, rules for absolute paths are not
            checked on files with relative ones.
    """
    lines: list[str] = []
    facts = _with_chosen_implementation(facts, configuration)
    for rule in configuration.files:
        if not rule.is_empty or rule.datasets:
            lines += _check_rule(rule, _matching(rule, files, root), facts)
    if configuration.job.mca and facts.mpi_family != "openmpi":
        names = ", ".join(configuration.job.mca)
        lines.append(f"MCA parameters ({names}): the program does not run on Open MPI")
    return list(dict.fromkeys(lines))


def _with_chosen_implementation(facts: ProgramFacts, configuration: Configuration) -> ProgramFacts:
    chosen = str(configuration.job.mca.get("io", ""))
    if facts.mpi_family != "openmpi" or not facts.mpiio_implementation:
        return facts
    for implementation in ("romio", "ompio"):
        if chosen.startswith(implementation):
            return replace(facts, mpiio_implementation=implementation)
    return facts


def _matching(
    rule: FileRule, files: Sequence[ObservedFile], root: Path | None
) -> list[ObservedFile]:
    if rule.match.startswith("/") and root is None:
        return list(files)
    base = str(root) if root else ""
    return [f for f in files if matches(rule.match, os.path.join(base, f.path))]


def _check_rule(
    rule: FileRule, files: Sequence[ObservedFile], facts: ProgramFacts
) -> Iterator[str]:
    if not files:
        yield f"settings for {rule.match!r}: no file of that name was read or written"
    for layer, (library, interfaces) in _LAYERS.items() if files else ():
        settings = rule.layers[layer]
        through = [file for file in files if file.interface in interfaces]
        if layer == "mpiio" and not facts.mpiio_implementation:
            through = []
        if settings and not through:
            names = ", ".join(settings)
            yield f"{names}: no file matching {rule.match!r} is used through {library}"
        for key in settings if through else ():
            if layer == "mpiio" and _is_applied_by_storage(key, facts):
                continue
            if layer == "mpiio" and not _honours(key, facts):
                yield f"{key}: {facts.mpiio_implementation} has no such hint"
            elif layer != "hdf5":
                for file in through:
                    yield from _check_file(file, key, rule, layer, facts)


def _is_applied_by_storage(key: str, facts: ProgramFacts) -> bool:
    """Return whether the storage applies the hint, regardless of the MPI-IO library."""
    striping = facts.striping
    return striping is not None and striping.by_any_mpi and key in _OF_THE_LAYOUT


def _check_file(
    file: ObservedFile, key: str, rule: FileRule, layer: str, facts: ProgramFacts
) -> Iterator[str]:
    """Compare a hint or a parameter with the value that was observed."""
    own, wanted = file.requested.get(key), file.applied.get(key)
    reported = file.reported.get("NumSubFiles" if key in _AGGREGATORS else key)
    if own is not None and wanted is None and not rule.override:
        yield f"{key} on {file.path}: the program sets it itself ({own})"
    if wanted in (None, reported) or (layer == "mpiio" and not _reports_reliably(file, facts)):
        return
    if reported is None:
        if layer == "mpiio":
            yield f"{key} on {file.path}: the MPI does not take it"
    elif key in _AGGREGATORS:
        plural = "s" if reported != "1" else ""
        yield f"{key}={wanted} on {file.path}: {reported} data file{plural} written"
    else:
        maker = "the MPI" if layer == "mpiio" else _LAYERS[layer][0]
        yield f"{key}={wanted} on {file.path}: {maker} made it {reported}"


def _reports_reliably(file: ObservedFile, facts: ProgramFacts) -> bool:
    """Return whether the hints of MPI_File_get_info are those that the MPI library applies.

    Open MPI echoes any hint or none, but from version 5 on it queries ROMIO, whose keys are
    reliable.
    """
    if facts.mpi_family == "mpich":
        return bool(file.reported)
    given = {*file.applied, *file.requested}
    return any(key.startswith("romio_") and key not in given for key in file.reported)


def _honours(key: str, facts: ProgramFacts) -> bool:
    """Return whether the program's MPI-IO library knows a hint; also true if that is uncertain."""
    try:
        stacks = get(f"mpiio.{key}").stacks
    except UsageError:
        return True
    return facts.mpiio_implementation in stacks or (facts.uses_cray_mpich and "cray" in stacks)
