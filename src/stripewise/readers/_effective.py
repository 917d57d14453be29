# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that were asked for but could not act, by what was observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.formats import matches
from stripewise.model import Configuration, FileRule, ObservedFile, ProgramFacts, Value
from stripewise.tunables import get

_LIBRARIES = {"hdf5": "HDF5", "pnetcdf": "PnetCDF", "adios2": "ADIOS2"}
_AGGREGATORS = ("NumAggregators", "NumSubFiles")
_MPIIO_INTERFACES = ("mpiio", "pnetcdf", "hdf5")


def cannot_act(
    configuration: Configuration,
    files: Sequence[ObservedFile],
    facts: ProgramFacts,
    root: Path | None = None,
) -> list[str]:
    """One line per setting that had no effect in a run, with the reason.

    Args:
        configuration: What was applied.
        files: What was observed.
        facts: Of the same program; the MPI-IO that the configuration chooses counts.
        root: What relative paths are relative to; without it, rules for absolute paths are
            not judged on files with relative ones.
    """
    lines: list[str] = []
    facts = _with_chosen_implementation(facts, configuration)
    for rule in configuration.files:
        if not rule.is_empty or rule.datasets:
            lines += _of_rule(rule, _matching(rule, files, root), facts)
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
    return [f for f in files if matches(rule.match, str(root / f.path) if root else f.path)]


def _of_rule(rule: FileRule, files: Sequence[ObservedFile], facts: ProgramFacts) -> list[str]:
    if not files:
        return [f"settings for {rule.match!r}: no file of that name was read or written"]
    lines = []
    for layer, library in _LIBRARIES.items():
        settings = rule.layers[layer]
        through = [file for file in files if file.interface == layer]
        if settings and not through:
            names = _names(settings)
            lines.append(f"{names}: no file matching {rule.match!r} is used through {library}")
        elif layer != "hdf5":
            lines += [
                line for key in settings for line in _of_library(rule, key, library, through)
            ]
    if not rule.mpiio:
        return lines
    through_mpi = [f for f in files if f.interface in _MPIIO_INTERFACES]
    if not facts.mpiio_implementation or not through_mpi:
        names = _names(rule.mpiio)
        return [*lines, f"{names}: no file matching {rule.match!r} is used through MPI-IO"]
    for key, value in rule.mpiio.items():
        lines += _of_hint(rule, key, value, through_mpi, facts)
    return lines


def _of_library(
    rule: FileRule, key: str, library: str, files: Sequence[ObservedFile]
) -> list[str]:
    """Judge a PnetCDF hint or an ADIOS2 parameter on the files that the library wrote."""
    lines = []
    for file in files:
        own, wanted = file.requested.get(key), file.applied.get(key)
        reported = file.reported.get("NumSubFiles" if key in _AGGREGATORS else key)
        if own is not None and wanted is None and not rule.override:
            lines.append(f"{key} on {file.path}: the program sets it itself ({own})")
        elif wanted is not None and reported is not None and reported != wanted:
            if key in _AGGREGATORS:
                plural = "s" if reported != "1" else ""
                lines.append(
                    f"{key}={wanted} on {file.path}: {reported} data file{plural} written"
                )
            else:
                lines.append(f"{key}={wanted} on {file.path}: {library} made it {reported}")
    return lines


def _of_hint(
    rule: FileRule, key: str, value: Value, files: Sequence[ObservedFile], facts: ProgramFacts
) -> list[str]:
    implementation = facts.mpiio_implementation
    if not _honours(key, implementation, facts.mpi_version):
        return [f"{key}: {implementation} has no such hint"]
    lines = []
    for file in files:
        own = file.requested.get(key)
        if own is not None and key not in file.applied and not rule.override:
            lines.append(f"{key} on {file.path}: the program sets it itself ({own})")
        reported = file.reported.get(key)
        wanted = file.applied.get(key)
        if wanted is None or not _tells_truth(file, facts):
            continue
        if reported is None:
            lines.append(f"{key} on {file.path}: the MPI does not take it")
        elif reported != wanted:
            lines.append(f"{key}={wanted} on {file.path}: the MPI made it {reported}")
    return lines


def _tells_truth(file: ObservedFile, facts: ProgramFacts) -> bool:
    """Whether what MPI_File_get_info returned is what the MPI does.

    Open MPI echoes any hint or none, but from version 5 it asks its ROMIO, whose own keys tell.
    """
    if facts.mpi_family == "mpich":
        return bool(file.reported)
    given = {*file.applied, *file.requested}
    return any(key.startswith("romio_") and key not in given for key in file.reported)


def _honours(key: str, implementation: str, mpi_version: str) -> bool:
    """Whether an MPI-IO implementation knows a hint; unknown hints get the benefit."""
    try:
        stacks = get(f"mpiio.{key}").stacks
    except UsageError:
        return True
    return implementation in stacks or ("cray" in stacks and "CRAY" in mpi_version.upper())


def _names(settings: Mapping[str, Value]) -> str:
    return ", ".join(settings)
