# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""When a tunable can act on a program, said in plain words, and ladders that many share."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import Condition, Rungs

KIB = 1024
MIB = 1024 * KIB

# File systems on which an MPI-IO driver can set the layout of a new file.
STRIPED_FILESYSTEMS = frozenset({"lustre", "gpfs", "panfs", "pvfs2", "orangefs", "beegfs"})


def mpiio(facts: ProgramFacts) -> str:
    """MPI-IO was used."""
    return "" if facts.mpiio_implementation else "the program does no MPI-IO"


def romio_name(facts: ProgramFacts) -> str:
    """Value of MCA `io` that selects ROMIO under this Open MPI; "" where there is none."""
    return next((a for a in facts.mpiio_alternatives if a.startswith("romio")), "")


def romio(facts: ProgramFacts) -> str:
    """MPI-IO is ROMIO, or can be made so."""
    if facts.mpiio_implementation == "romio" or romio_name(facts):
        return mpiio(facts)
    return mpiio(facts) or f"MPI-IO here is {facts.mpiio_implementation}, not ROMIO"


def ompio(facts: ProgramFacts) -> str:
    """MPI-IO is OMPIO, or can be made so."""
    if facts.mpiio_implementation == "ompio" or "ompio" in facts.mpiio_alternatives:
        return mpiio(facts)
    return mpiio(facts) or f"MPI-IO here is {facts.mpiio_implementation}, not OMPIO"


def requires_romio(facts: ProgramFacts) -> Mapping[str, Value]:
    """Under Open MPI, ROMIO must be selected for its hints to act."""
    return {"mca.io": romio_name(facts) or "romio321"} if facts.mpi_family == "openmpi" else {}


def requires_ompio(facts: ProgramFacts) -> Mapping[str, Value]:
    """OMPIO must be selected for its parameters to act."""
    return {"mca.io": "ompio"} if facts.mpi_family == "openmpi" else {}


def cray(facts: ProgramFacts) -> str:
    """MPI is Cray MPICH."""
    if "cray" in facts.mpi_version.lower():
        return mpiio(facts)
    return mpiio(facts) or "only Cray MPICH knows it"


def open_mpi(facts: ProgramFacts) -> str:
    """MPI is Open MPI."""
    if facts.mpi_family == "openmpi":
        return mpiio(facts)
    return "the program uses no Open MPI"


def collective(facts: ProgramFacts) -> str:
    """Collective data calls were made."""
    return "" if facts.collective_bytes else "the program makes no collective MPI-IO data calls"


def several_ranks(facts: ProgramFacts) -> str:
    """More than one rank took part."""
    return "" if facts.n_ranks > 1 else "one rank only"


def noncontiguous(facts: ProgramFacts) -> str:
    """A file view with holes was set, so that data sieving can act."""
    return "" if facts.noncontiguous else "every access is contiguous in the file"


def written(facts: ProgramFacts) -> str:
    """Something was written."""
    return "" if facts.write_bytes else "the program writes nothing"


def read(facts: ProgramFacts) -> str:
    """Something was read."""
    return "" if facts.read_bytes else "the program reads nothing"


def mpiio_read(facts: ProgramFacts) -> str:
    """Something was read through MPI-IO."""
    return "" if facts.mpiio_read_bytes else "the program reads nothing through MPI-IO"


def striped(facts: ProgramFacts) -> str:
    """The file system has stripes that an MPI-IO driver can set."""
    if facts.filesystem in STRIPED_FILESYSTEMS:
        return ""
    where = facts.filesystem or "this file system"
    return f"MPI-IO has no striping driver for {where}"


def lustre(facts: ProgramFacts) -> str:
    """The files lie on Lustre."""
    return "" if facts.filesystem == "lustre" else "the files do not lie on Lustre"


def hdf5(facts: ProgramFacts) -> str:
    """HDF5 was used."""
    return "" if facts.uses_hdf5 else "the program does not use HDF5"


def parallel_hdf5(facts: ProgramFacts) -> str:
    """HDF5 over MPI-IO was used."""
    return "" if facts.uses_parallel_hdf5 else hdf5(facts) or "HDF5 is not used through MPI-IO"


def serial_hdf5(facts: ProgramFacts) -> str:
    """HDF5 over POSIX was used."""
    if facts.uses_parallel_hdf5:
        return "it acts on serial HDF5 files only; these are opened through MPI-IO"
    return hdf5(facts)


def not_netcdf4(why: str) -> Condition:
    """HDF5 is not used by netCDF-4, which `why`."""

    def condition(facts: ProgramFacts) -> str:
        return f"netCDF-4 {why}" if facts.uses_netcdf4 else ""

    return condition


def pnetcdf(facts: ProgramFacts) -> str:
    """PnetCDF was used."""
    return "" if facts.uses_pnetcdf else "the program does not use PnetCDF"


def adios2(facts: ProgramFacts) -> str:
    """ADIOS2 was used."""
    return "" if facts.uses_adios2 else "the program does not use ADIOS2"


def matched(facts: ProgramFacts) -> str:
    """All ranks made the same number of data calls: what forced collective transfer needs."""
    return "" if facts.matched_calls else "ranks make different numbers of calls: it would hang"


def matched_metadata(facts: ProgramFacts) -> str:
    """All ranks made the same number of calls on objects: what collective metadata needs."""
    if facts.matched_metadata:
        return ""
    return "ranks make different numbers of calls on objects: it would hang"


def moves_independently(facts: ProgramFacts) -> str:
    """Data goes by independent calls; what is left beside collective ones is metadata."""
    if facts.independent_bytes * 20 > facts.collective_bytes:
        return ""
    return "its transfers are collective already"


def buffer_sizes(default: int, larger: tuple[int, ...], smaller: tuple[int, ...]) -> Rungs:
    """Sizes of a buffer; larger ones only where there is enough data to fill the default."""

    def ladder(facts: ProgramFacts) -> tuple[Value, ...]:
        n_bytes = max(facts.read_bytes, facts.write_bytes)
        grown = tuple(size for size in larger if n_bytes > default and size < 4 * n_bytes)
        return (*grown, *(size for size in smaller if size < n_bytes))

    return ladder


LARGEST_CHUNK_BYTES = 2**32 - 1
SMALLEST_CHUNK_BYTES = 4 * KIB


def chunk_of_a_rank(facts: ProgramFacts) -> tuple[Value, ...]:
    """One rank's block as a chunk, so that what it moves is contiguous in the file.

    None where the block is not known, or is contiguous in the file already.
    """
    fits = SMALLEST_CHUNK_BYTES <= facts.block_bytes <= LARGEST_CHUNK_BYTES
    return (facts.block,) if facts.interleaved and facts.block and fits else ()


def aggregators(facts: ProgramFacts) -> tuple[Value, ...]:
    """Powers of two up to the number of ranks, and that number.

    ROMIO's default is one a host, so that rung is left out where only ROMIO is there.
    """
    rungs: list[int] = []
    count = 1
    while count < facts.n_ranks:
        rungs.append(count)
        count *= 2
    rungs.append(facts.n_ranks)
    if facts.mpiio_implementation == "romio" and "ompio" not in facts.mpiio_alternatives:
        rungs = [rung for rung in rungs if rung != facts.n_hosts]
    return tuple(rungs)
