# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Profile -> ProgramFacts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ProgramFacts
from stripewise.readers._container import (
    ContainerLayer,
    FileFlag,
    MpiFamily,
    Op,
    ProcessFlag,
    SettingsKind,
)
from stripewise.readers._openmpi import chosen_component, implementation, mpiio_components
from stripewise.readers._profile import Profile

_FAMILIES: dict[int, str] = {
    MpiFamily.MPICH: "mpich",
    MpiFamily.OPENMPI: "openmpi",
    MpiFamily.OTHER: "other",
}
_WRITES = [Op.WRITE, Op.WRITE_COLLECTIVE]
_READS = [Op.READ, Op.READ_COLLECTIVE]
_OBJECTS = ([Op.OPEN], [Op.CLOSE], [Op.META])


def program_facts(
    profile: Profile,
    elapsed_seconds: float,
    environment: Mapping[str, str] | None,
    mpiio_alternatives: Sequence[str] | None,
) -> ProgramFacts:
    """See `Profile.facts`."""
    records = profile.counted_records
    layer = records["layer"]
    flags = int(np.bitwise_or.reduce(profile.processes["flags"], initial=0))
    family, version = _mpi(profile)
    mpiio = records[layer == ContainerLayer.MPIIO]
    posix = records[(layer == ContainerLayer.POSIX) | (layer == ContainerLayer.STDIO)]
    outermost = _highest_layer(records, profile.owners)
    if mpiio_alternatives is None:
        mpiio_alternatives = _alternatives(profile, family, version) if mpiio.size else ()
    return ProgramFacts(
        n_ranks=profile.n_ranks,
        n_hosts=max(1, len(np.unique(profile.processes["host"][profile.counted]))),
        mpi_family=family,
        mpi_version=version,
        mpiio_implementation=_implementation(profile, family, environment) if mpiio.size else "",
        mpiio_alternatives=tuple(mpiio_alternatives),
        uses_hdf5=bool(flags & ProcessFlag.HDF5) or bool((layer == ContainerLayer.HDF5).any()),
        uses_parallel_hdf5=bool(flags & ProcessFlag.HDF5_PARALLEL),
        uses_pnetcdf=bool(flags & ProcessFlag.PNETCDF),
        uses_netcdf4=bool(flags & ProcessFlag.NETCDF4),
        uses_adios2=bool(flags & ProcessFlag.ADIOS2),
        collective_bytes=_bytes(mpiio, [Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE]),
        independent_bytes=_bytes(mpiio, [Op.READ, Op.WRITE]),
        mpiio_read_bytes=_bytes(mpiio, [Op.READ, Op.READ_COLLECTIVE]),
        posix_bytes=int(
            posix["outermost_read_bytes"].sum() + posix["outermost_write_bytes"].sum()
        ),
        noncontiguous=bool((mpiio["flags"] & FileFlag.INTERLEAVED).any()),
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        shared_files=_shared_files(profile, mpiio),
        write_calls=int(outermost["ops"]["count"][:, _WRITES].sum()),
        read_calls=int(outermost["ops"]["count"][:, _READS].sum()),
        io_seconds=profile.io_seconds,
        elapsed_seconds=elapsed_seconds,
        matched_calls=_matched_calls(profile, records[layer == ContainerLayer.HDF5]),
        matched_metadata=_matched(profile, records[layer == ContainerLayer.HDF5], _OBJECTS),
    )


def _bytes(rows: NDArray[Any], ops: list[Op]) -> int:
    return int(rows["ops"]["bytes"][:, ops].sum())


def _mpi(profile: Profile) -> tuple[str, str]:
    """Family and library version of the first rank; "" without MPI."""
    for process in profile.processes[profile.used_mpi]:
        family = _FAMILIES.get(int(process["mpi_family"]), "")
        if family:
            return family, bytes(process["mpi_version"]).decode(errors="replace")
    return "", ""


def _commands(profile: Profile) -> list[list[str]]:
    """Command lines of the processes that are not ranks (launchers among them)."""
    rows = profile.processes["command"][~profile.used_mpi]
    return [bytes(row).decode(errors="replace").split("\x1f") for row in rows]


def _alternatives(profile: Profile, family: str, version: str) -> tuple[str, ...]:
    if family != "openmpi":
        return ()
    executables = profile.processes["exe"][~profile.used_mpi]
    near = [Path(os.fsdecode(bytes(exe))) for exe in executables if exe]
    return mpiio_components(version, [p for p in near if p.name.startswith(("orte", "prte"))])


def _implementation(profile: Profile, family: str, environment: Mapping[str, str] | None) -> str:
    if family != "openmpi":
        return "romio"
    merged: dict[int, dict[str, str]] = {}
    for entry in profile.settings:
        if entry.layer == ContainerLayer.MPIIO:
            merged.setdefault(entry.kind, {}).update(entry.values)
    given = merged.get(SettingsKind.PROGRAM, {}) | merged.get(SettingsKind.APPLIED, {})
    chosen = chosen_component(
        _commands(profile), os.environ if environment is None else environment
    )
    return implementation(merged.get(SettingsKind.REPORTED, {}), given, chosen)


def _highest_layer(records: NDArray[Any], owners: NDArray[np.int64]) -> NDArray[Any]:
    """Rows of the highest layer with data calls, per process and file.

    Of the files inside an ADIOS2 file none counts, not even where a rank only writes for others.
    """
    inside = owners[records["path"]] != records["path"]
    records = records[~inside]
    calls = records["ops"]["count"][:, [*_WRITES, *_READS]].sum(axis=1)
    records = records[calls > 0]
    if not records.size:
        return records
    order = np.lexsort((records["layer"], records["path"], records["process"]))
    ordered = records[order]
    last = np.ones(len(ordered), dtype=bool)
    last[:-1] = (ordered["process"][1:] != ordered["process"][:-1]) | (
        ordered["path"][1:] != ordered["path"][:-1]
    )
    return np.asarray(ordered[last])


def _shared_files(profile: Profile, mpiio: NDArray[Any]) -> int:
    """Files on which more than one rank made MPI-IO data calls."""
    used = mpiio[mpiio["ops"]["count"][:, [*_WRITES, *_READS]].sum(axis=1) > 0]
    if not used.size:
        return 0
    ranks = profile.processes["rank"][used["process"]]
    pairs = np.unique(np.stack([used["path"], ranks], axis=1), axis=0)
    return int((np.unique(pairs[:, 0], return_counts=True)[1] > 1).sum())


def _matched_calls(profile: Profile, hdf5: NDArray[Any]) -> bool:
    """Whether all ranks made the same number of HDF5 reads and writes on every file."""
    return _matched(profile, hdf5, (_WRITES, _READS))


def _matched(profile: Profile, hdf5: NDArray[Any], kinds: Sequence[Sequence[Op]]) -> bool:
    """Whether all ranks made the same number of calls of each kind on every file, and any."""
    if not hdf5.size or not profile.is_rank.any():
        return False
    n_ranks = profile.n_ranks
    ranks = profile.processes["rank"][hdf5["process"]]
    for ops in kinds:
        calls = np.zeros((len(profile.paths), n_ranks), dtype=np.int64)
        np.add.at(calls, (hdf5["path"], ranks), hdf5["ops"]["count"][:, ops].sum(axis=1))
        if (calls != calls[:, :1]).any():
            return False
    every = [op for ops in kinds for op in ops]
    return bool(hdf5["ops"]["count"][:, every].sum())
