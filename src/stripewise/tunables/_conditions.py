# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""When a tunable can act on a program, said in plain words, and ladders that many share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import Condition, Rungs

KIB = 1024
MIB = 1024 * KIB

# File systems on which an MPI-IO driver can set the layout of a new file.
STRIPED_FILESYSTEMS = frozenset({"lustre", "gpfs", "panfs", "pvfs2", "orangefs", "beegfs"})


def _needs(met: Callable[[ProgramFacts], object], otherwise: str) -> Condition:
    """Return the condition that something holds of a program, or is not zero."""
    return lambda facts: "" if met(facts) else otherwise


mpiio = _needs(lambda facts: facts.mpiio_implementation, "the program does no MPI-IO")
collective = _needs(
    lambda facts: facts.collective_bytes, "the program makes no collective MPI-IO data calls"
)
moves_independently = _needs(
    # what is left beside collective calls is metadata
    lambda facts: facts.independent_bytes * 20 > facts.collective_bytes,
    "its transfers are collective already",
)
several_ranks = _needs(lambda facts: facts.n_ranks > 1, "one rank only")
noncontiguous = _needs(  # data sieving acts on file views with holes
    lambda facts: facts.noncontiguous, "every access is contiguous in the file"
)
written = _needs(lambda facts: facts.write_bytes, "the program writes nothing")
read = _needs(lambda facts: facts.read_bytes, "the program reads nothing")
mpiio_read = _needs(
    lambda facts: facts.mpiio_read_bytes, "the program reads nothing through MPI-IO"
)
lustre = _needs(lambda facts: facts.filesystem == "lustre", "the files do not lie on Lustre")
hdf5 = _needs(lambda facts: facts.uses_hdf5, "the program does not use HDF5")
pnetcdf = _needs(lambda facts: facts.uses_pnetcdf, "the program does not use PnetCDF")
adios2 = _needs(lambda facts: facts.uses_adios2, "the program does not use ADIOS2")
matched = _needs(  # data calls: what forced collective transfer needs
    lambda facts: facts.matched_calls, "ranks make different numbers of calls: it would hang"
)
matched_metadata = _needs(  # what collective metadata needs
    lambda facts: facts.matched_metadata,
    "ranks make different numbers of calls on objects: it would hang",
)


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


def striped(facts: ProgramFacts) -> str:
    """The file system has stripes that an MPI-IO driver can set."""
    if facts.filesystem in STRIPED_FILESYSTEMS:
        return ""
    where = facts.filesystem or "this file system"
    return f"MPI-IO has no striping driver for {where}"


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
