# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI-IO implementations an Open MPI offers, and which one a run used."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

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
