# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives the facts of a program from the profile of any evidence."""

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import ProgramFacts, ReportedPart, reasons
from stripewise.evidence.facts._files import owners
from stripewise.evidence.trace import (
    ALL_RANKS,
    COLLECTIVE_OPS,
    DATA_OPS,
    READS,
    SYSTEM_LAYERS,
    WRITES,
    FileFlag,
    IoLayer,
    Op,
    ProcessFlag,
    RunProfile,
    SettingsKind,
    begins,
    groups,
    requested_bytes,
)

# Which MPI-IO implementation a run used, and how it is given hints.


_COMPONENT = re.compile(r"^mca:io:(\w+):version", re.MULTILINE)
_VERSION = re.compile(r"^ompi:version:full:(\S+)", re.MULTILINE)


def parse_components(text: str) -> tuple[str, ...]:
    """Return the names of the `io` components in the output of `ompi_info --parsable`."""
    return tuple(sorted(set(_COMPONENT.findall(text))))


def mpiio_components(library_version: str, near: Sequence[Path] = ()) -> tuple[str, ...]:
    """Return the MPI-IO implementations that an Open MPI offers, as values of MCA `io`.

    Args:
        library_version: First line of MPI_Get_library_version; an `ompi_info` of another version
            is ignored.
        near: Executables of that installation (mpiexec, orted); `ompi_info` is searched beside
            them first, then in PATH.

    Returns:
        Sorted names; empty without a matching `ompi_info` or without a choice.
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
    """Return the value of MCA `io` from a launcher's command line, else the environment."""
    for command in commands:
        for i, word in enumerate(command[:-2]):
            if word.lstrip("-") in ("mca", "gmca", "omca") and command[i + 1] == "io":
                return command[i + 2]
    return environment.get("OMPI_MCA_io", "")


def implementation(reported: Mapping[str, str], given: Mapping[str, str], chosen: str) -> str:
    """Decide between "romio" and "ompio" for a run under Open MPI.

    Open MPI echoes given hints whichever implementation does the I/O, so hints are evidence of
    ROMIO only if nobody gave them.

    Args:
        reported: Hints reported by MPI_File_get_info.
        given: Hints that the program or Stripewise passed.
        chosen: Value of MCA `io`, empty if unset.
    """
    if any(key.startswith("romio_") and key not in given for key in reported):
        return "romio"
    if chosen.startswith("^"):
        return "romio" if "ompio" in chosen else "ompio"
    return "romio" if chosen.startswith("romio") else "ompio"


# MPI-IO library of a run: it decides which hints take effect, and how they are given.

ROMIO_SIGNS = ("cb_buffer_size", "romio_cb_write", "romio_cb_read")
_CRAY_SIGNS = ("cray_cb_nodes_multiplier", "aggregator_placement_stride", "cb_align")


class Mpiio(StrEnum):
    """Implementation of MPI-IO."""

    ROMIO = "romio"
    CRAY = "cray"
    OMPIO = "ompio"
    UNKNOWN = ""


def mpiio_of(profile: RunProfile) -> Mpiio:
    """Determine the MPI-IO library from reported hints, MPI library, launcher and notes."""
    reported = {key for hints in profile.hints.values() for key in hints.reported}
    if not reported.isdisjoint(_CRAY_SIGNS) or "MPICH_MPIIO_STATS" in profile.source:
        return Mpiio.CRAY
    if not reported.isdisjoint(ROMIO_SIGNS):
        return Mpiio.ROMIO
    if profile.mpi:
        is_ompio = profile.mpi == "openmpi" and not _has_chosen_romio(profile)
        return Mpiio.OMPIO if is_ompio else Mpiio.ROMIO
    words = profile.command.split()
    launcher = os.path.basename(words[0]) if words else ""
    if launcher in ("mpiexec.openmpi", "mpirun.openmpi", "orterun", "prterun"):
        return Mpiio.OMPIO
    if launcher in ("mpiexec.mpich", "mpirun.mpich", "mpiexec.hydra"):
        return Mpiio.ROMIO
    if launcher == "aprun":
        return Mpiio.CRAY
    return Mpiio.OMPIO if any("OMPIO" in text for text in profile.notes) else Mpiio.UNKNOWN


def _has_chosen_romio(profile: RunProfile) -> bool:
    """Return whether the environment or the launcher of an Open MPI program selects ROMIO."""
    if not len(profile.processes):
        return False
    flags = int(np.bitwise_or.reduce(profile.program["flags"], initial=0))
    chosen = chosen_component(_commands(profile), {})
    return bool(flags & ProcessFlag.ROMIO_CHOSEN) or implementation({}, {}, chosen) == "romio"


def stack_of(profile: RunProfile, mpiio: Mpiio) -> str:
    """Return the name of the measured stack: "mpich", "openmpi", "openmpi-romio", or empty."""
    if mpiio is Mpiio.OMPIO:
        return "openmpi"
    if mpiio is Mpiio.ROMIO:
        return "openmpi-romio" if profile.mpi == "openmpi" else "mpich"
    return ""


def hint_lines(mpiio: Mpiio, hints: Mapping[str, str]) -> tuple[str, ...]:
    """Return shell lines that give ROMIO hints to a program, for each MPI library if unknown.

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
    """Return the shell line that makes Open MPI use ROMIO, whatever its version calls it."""
    return "export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO"


_OBJECTS = ([Op.OPEN], [Op.CLOSE], [Op.META])


def program_facts(
    profile: RunProfile,
    elapsed_seconds: float | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
) -> ProgramFacts:
    """Derive the facts that tunables and strategies use.

    Args:
        profile: Profile from any source; facts that it does not contain count as false.
        elapsed_seconds: Wall-clock time of the run, if it is known better than in the profile.
        environment: Environment of the run, for MCA parameters; by default that of the caller.
    """
    rows = profile.counters
    layer = rows["layer"]
    flags = int(np.bitwise_or.reduce(profile.processes["flags"], initial=0))
    mpiio, hdf5 = rows[layer == IoLayer.MPIIO], rows[layer == IoLayer.HDF5]
    system = rows[np.isin(layer, SYSTEM_LAYERS)]
    outermost = _highest_layer(profile)
    shared_hdf5 = bool(np.isin(hdf5["file"], mpiio["file"]).any())
    return ProgramFacts(
        n_ranks=max(profile.n_ranks, 1),
        n_hosts=max(1, len(set(profile.program["host"].tolist())) or len(profile.hosts)),
        mpi_family=profile.mpi,
        mpi_version=profile.mpi_version,
        mpiio_implementation=_implementation(profile, environment) if mpiio.size else "",
        mpiio_driver=_driver(profile),
        mpiio_alternatives=_alternatives(profile) if mpiio.size else (),
        uses_hdf5=bool(flags & ProcessFlag.HDF5 or hdf5.size),
        uses_parallel_hdf5=bool(flags & ProcessFlag.HDF5_PARALLEL) or shared_hdf5,
        uses_pnetcdf=bool(flags & ProcessFlag.PNETCDF or (layer == IoLayer.PNETCDF).any()),
        uses_netcdf4=bool(flags & ProcessFlag.NETCDF4),
        uses_adios2=bool(flags & ProcessFlag.ADIOS2),
        collective_bytes=_bytes(mpiio, COLLECTIVE_OPS),
        independent_bytes=_bytes(mpiio, (Op.READ, Op.WRITE)),
        mpiio_read_bytes=_bytes(mpiio, READS),
        posix_bytes=int(requested_bytes(system).sum()),
        noncontiguous=bool((mpiio["flags"] & FileFlag.INTERLEAVED).any()),
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        shared_files=_shared_files(profile, mpiio),
        write_calls=int(outermost[:, WRITES].sum()),
        read_calls=int(outermost[:, READS].sum()),
        io_seconds=profile.io_seconds,
        elapsed_seconds=profile.elapsed_seconds if elapsed_seconds is None else elapsed_seconds,
        matched_calls=_matched(profile, hdf5, (WRITES, READS)),
        matched_metadata=_matched(profile, hdf5, _OBJECTS),
        missing=_missing(profile, mpiio, system),
    )


_PARTS = {
    "read_bytes": ReportedPart.READ_BYTES,
    "write_bytes": ReportedPart.WRITE_BYTES,
    "read_calls": ReportedPart.READ_BYTES,
    "write_calls": ReportedPart.WRITE_BYTES,
    "io_seconds": ReportedPart.SECONDS,
}
"""Part that must be known for each figure; numbers of calls are known if their bytes are."""
_PARTS_BY_LAYER = {
    "collective_bytes": (ReportedPart.BYTES, True),
    "independent_bytes": (ReportedPart.BYTES, True),
    "mpiio_read_bytes": (ReportedPart.READ_BYTES, True),
    "posix_bytes": (ReportedPart.BYTES, False),
}
"""The same for the bytes of one layer, if its files are concerned; True stands for MPI-IO."""


def _missing(profile: RunProfile, mpiio: NDArray[Any], system: NDArray[Any]) -> dict[str, str]:
    """Return why amounts are unknown or incomplete, by name."""
    found = {name: profile.why_missing(part) for name, part in _PARTS.items()}
    files = [frozenset(rows["file"].tolist()) for rows in (system, mpiio)]
    for name, (part, of_mpiio) in _PARTS_BY_LAYER.items():
        found[name] = reasons(
            gap.why
            for gap in profile.gaps
            if gap.parts & part and (not gap.files or gap.files & files[of_mpiio])
        )
    return {name: why for name, why in found.items() if why}


def _bytes(rows: NDArray[Any], ops: Sequence[Op]) -> int:
    return int(rows["bytes"][:, ops].sum())


def _commands(profile: RunProfile) -> list[list[str]]:
    """Return the command lines of the processes that are not ranks (including launchers)."""
    rows = profile.processes["command"][~profile.used_mpi]
    return [bytes(row).decode(errors="replace").split("\x1f") for row in rows]


def _alternatives(profile: RunProfile) -> tuple[str, ...]:
    if profile.mpi != "openmpi":
        return ()
    executables = profile.processes["exe"][~profile.used_mpi]
    near = [Path(os.fsdecode(bytes(exe))) for exe in executables if exe]
    daemons = [path for path in near if path.name.startswith(("orte", "prte"))]
    return mpiio_components(profile.mpi_version, daemons)


def _implementation(profile: RunProfile, environment: Mapping[str, str]) -> str:
    merged: dict[int, dict[str, str]] = {}
    for entry in profile.settings:
        if entry.layer == IoLayer.MPIIO:
            merged.setdefault(entry.kind, {}).update(entry.values)
    if profile.mpi != "openmpi":
        return "romio" if profile.mpi else ""
    given = merged.get(SettingsKind.PROGRAM, {}) | merged.get(SettingsKind.APPLIED, {})
    flags = int(np.bitwise_or.reduce(profile.processes["flags"], initial=0))
    if flags & ProcessFlag.ROMIO_CHOSEN:  # a job's own environment differs from the caller's
        return "romio"
    chosen = chosen_component(_commands(profile), environment)
    return implementation(merged.get(SettingsKind.REPORTED, {}), given, chosen)


def _driver(profile: RunProfile) -> str:
    """Return the driver that ROMIO reports, if it is the same for all files; otherwise empty."""
    drivers = {
        entry.values["romio_filesystem_type"].partition(":")[0].strip()
        for entry in profile.settings
        if entry.kind == SettingsKind.REPORTED and "romio_filesystem_type" in entry.values
    }
    return drivers.pop() if len(drivers) == 1 else ""


def _highest_layer(profile: RunProfile) -> NDArray[np.int64]:
    """Return (k, n_ops) int64: calls in the highest layer with data calls, per process and file.

    Files inside an ADIOS2 file do not count, even if a rank only writes for others.
    """
    rows = profile.counters
    used = rows["count"][:, DATA_OPS].any(axis=1)
    used &= owners(rows, profile.paths) == rows["file"]
    layer, file, process = (rows[name][used] for name in ("layer", "file", "process"))
    actors = profile.actors[used]
    order = np.lexsort((layer, file, process, actors))[::-1]
    highest = order[begins(actors[order], process[order], file[order])]
    return np.asarray(rows["count"][np.flatnonzero(used)[highest]])


def _shared_files(profile: RunProfile, mpiio: NDArray[Any]) -> int:
    """Return the number of files that more than one rank wrote or read through MPI-IO."""
    used = mpiio[mpiio["count"][:, DATA_OPS].any(axis=1)]
    users = (set(used["rank"][places].tolist()) for _, places in groups(used["file"]))
    several = profile.n_ranks != 1
    return sum(len(u - {ALL_RANKS}) > 1 or (several and ALL_RANKS in u) for u in users)


def _matched(profile: RunProfile, hdf5: NDArray[Any], kinds: Sequence[Sequence[Op]]) -> bool:
    """Return whether all ranks made the same nonzero number of calls of each kind on every file.

    Rows that combine all ranks do not prove it.
    """
    if not hdf5.size or not profile.is_mpi or (hdf5["rank"] < 0).any():
        return False
    files, place = np.unique(hdf5["file"], return_inverse=True)
    for ops in kinds:
        calls = np.zeros((len(files), profile.n_ranks), dtype=np.int64)
        np.add.at(calls, (place, hdf5["rank"]), hdf5["count"][:, ops].sum(axis=1))
        if (calls != calls[:, :1]).any():
            return False
    every = [op for ops in kinds for op in ops]
    return bool(hdf5["count"][:, every].any())
