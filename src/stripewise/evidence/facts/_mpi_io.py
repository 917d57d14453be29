# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells which MPI-IO implementation a run used, and how it is given hints."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from stripewise.evidence.trace import RunProfile

_COMPONENT = re.compile(r"^mca:io:(\w+):version", re.MULTILINE)
_VERSION = re.compile(r"^ompi:version:full:(\S+)", re.MULTILINE)


def parse_components(text: str) -> tuple[str, ...]:
    """Names of the `io` components in the output of `ompi_info --parsable`."""
    return tuple(sorted(set(_COMPONENT.findall(text))))


def mpiio_components(library_version: str, near: Sequence[Path] = ()) -> tuple[str, ...]:
    """MPI-IO implementations that an Open MPI could use, as values of MCA `io`.

    Args:
        library_version: First line of MPI_Get_library_version; an `ompi_info` of another
            version is not believed.
        near: Executables of that installation (mpiexec, orted); `ompi_info` is looked for
            beside them first, then on PATH.

    Returns:
        Sorted names; empty if there is no matching `ompi_info` or no choice.
    """
    beside = [str(path.parent / "ompi_info") for path in near]
    for name in dict.fromkeys([*beside, shutil.which("ompi_info") or ""]):
        text = _ompi_info(name) if name else ""
        version = _VERSION.search(text)
        if version and (not library_version or f"v{version.group(1)}," in library_version):
            components = parse_components(text)
            return components if len(components) > 1 else ()
    return ()


@lru_cache(maxsize=16)
def _ompi_info(name: str) -> str:
    try:
        done = subprocess.run(
            [name, "--parsable"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def chosen_component(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> str:
    """Value of MCA `io` given on a launcher's command line, else in the environment."""
    for command in commands:
        for i, word in enumerate(command[:-2]):
            if word.lstrip("-") in ("mca", "gmca", "omca") and command[i + 1] == "io":
                return command[i + 2]
    return environment.get("OMPI_MCA_io", "")


def implementation(reported: Mapping[str, str], given: Mapping[str, str], chosen: str) -> str:
    """Decide "romio" or "ompio" for a run under Open MPI.

    Open MPI echoes the hints that it was given whoever does the I/O, so hints count as
    evidence of ROMIO only where nobody gave them.

    Args:
        reported: Hints from MPI_File_get_info.
        given: Hints that the program or Stripewise passed.
        chosen: Value of MCA `io`, "" if unset.
    """
    if any(key.startswith("romio_") and key not in given for key in reported):
        return "romio"
    if chosen.startswith("^"):
        return "romio" if "ompio" in chosen else "ompio"
    return "romio" if chosen.startswith("romio") else "ompio"


# Whose MPI-IO a run used: it decides which hints are heard, and how they are given.

ROMIO_SIGNS = ("cb_buffer_size", "romio_cb_write", "romio_cb_read")
_CRAY_SIGNS = ("cray_cb_nodes_multiplier", "aggregator_placement_stride", "cb_align")


class Mpiio(StrEnum):
    """Implementation of MPI-IO."""

    ROMIO = "romio"
    CRAY = "cray"
    OMPIO = "ompio"
    UNKNOWN = ""


def mpiio_of(profile: RunProfile) -> Mpiio:
    """Tell it by the hints that it reported, the library, the launcher, the notes."""
    reported = {key for hints in profile.hints.values() for key in hints.reported}
    if not reported.isdisjoint(_CRAY_SIGNS) or "MPICH_MPIIO_STATS" in profile.source:
        return Mpiio.CRAY
    if not reported.isdisjoint(ROMIO_SIGNS):
        return Mpiio.ROMIO
    if profile.mpi:
        return Mpiio.OMPIO if profile.mpi == "openmpi" else Mpiio.ROMIO
    words = profile.command.split()
    launcher = os.path.basename(words[0]) if words else ""
    if launcher in ("mpiexec.openmpi", "mpirun.openmpi", "orterun", "prterun"):
        return Mpiio.OMPIO
    if launcher in ("mpiexec.mpich", "mpirun.mpich", "mpiexec.hydra"):
        return Mpiio.ROMIO
    if launcher == "aprun":
        return Mpiio.CRAY
    return Mpiio.OMPIO if any("OMPIO" in text for text in profile.notes) else Mpiio.UNKNOWN


def stack_of(profile: RunProfile, mpiio: Mpiio) -> str:
    """Name the stack as the measured ones are: "mpich", "openmpi", "openmpi-romio", or ""."""
    if mpiio is Mpiio.OMPIO:
        return "openmpi"
    if mpiio is Mpiio.ROMIO:
        return "openmpi-romio" if profile.mpi == "openmpi" else "mpich"
    return ""


def hint_lines(mpiio: Mpiio, hints: Mapping[str, str]) -> tuple[str, ...]:
    """Shell lines that give hints of ROMIO to a program: for its MPI, or for each if unknown.

    Sources: ROMIO user's guide (ROMIO_HINTS); intro_mpi(3) of Cray MPICH
    (MPICH_MPIIO_HINTS).  Open MPI's own MPI-IO ignores these hints.
    """
    words = " ".join(shlex.quote(f"{key} {value}") for key, value in hints.items())
    cray = ":".join(["*", *(f"{key}={value}" for key, value in hints.items())])
    file_line = f"printf '%s\\n' {words} > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
    if mpiio is Mpiio.ROMIO:
        return (f"{file_line}   # ROMIO",)
    if mpiio is Mpiio.CRAY:
        return (f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",)
    if mpiio is Mpiio.OMPIO:
        return (without_ompio(), f"{file_line}   # ROMIO")
    return (
        f"{file_line}   # ROMIO: MPICH, Intel MPI",
        f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",
        f"{without_ompio()}; and the first line",
    )


def without_ompio() -> str:
    """Return the line by which Open MPI uses its ROMIO, whatever its version calls it."""
    return "export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO"
