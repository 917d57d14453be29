# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the facts about a program from its first run, which select the tunables to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.core._amount import Figured


@dataclass(frozen=True)
class PatternSummary:
    """The structure of an access pattern, without names and places, for comparing programs.

    Attributes:
        writing: Whether the data were written; if false, they were read.
        distributions: Distribution of each dimension, in C order: "BLOCK", "CYCLIC(4)", "*".
        grid: Number of processes in each dimension.
        block: Elements per dimension that one process moves.
        element_bytes: Size of one element.
        steps: Number of writes (reads) that make up one array, or number of its repetitions.
        collective: Share of the calls that were collective, 0 to 1.
        datasets: Number of datasets with this pattern.
        share: Share of the bytes moved by all patterns, 0 to 1.
        kind: A value of `PatternKind`, as text.
        extents: Elements of one array in each dimension; empty if unknown.
        halo: Elements in each dimension by which neighbours overlap; empty if they do not.
        active_ranks: Number of ranks that take part; 0 stands for the product of the grid.
        bytes: Bytes that all ranks moved over all these datasets and steps; 0 if unknown.
        file_class: Number, from 1, of the class in `ProgramFacts.file_classes` that contains the
            files; 0 if they are in none.
    """

    writing: bool
    distributions: tuple[str, ...] = ()
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    element_bytes: int = 1
    steps: int = 1
    collective: float = 0.0
    datasets: int = 1
    share: float = 1.0
    kind: str = "distributed"
    extents: tuple[int, ...] = ()
    halo: tuple[int, ...] = ()
    active_ranks: int = 0
    bytes: int = 0
    file_class: int = 0


@dataclass(frozen=True)
class FileClass:
    """A class of files with similar access.

    Attributes:
        match: Glob that matches these files and no others of the run; empty if there is none, in
            which case no setting can be limited to them.
        n_files: Number of files in the run.
        layers: Interfaces used, starting with the one that the program called: ("hdf5", "mpiio").
        writes / reads: Whether writes (reads) are a significant share of the bytes moved.
        collective: Whether collective calls moved most bytes of MPI-IO.
        noncontiguous: Whether a file view with holes was set.
        shared: Whether several ranks accessed each file.
        call_bytes: Mean size of the program's data calls.
        amplification: Bytes that system calls moved for each byte that the program requested.
        io_share: Share of the I/O time on all files, 0 to 1.
    """

    match: str
    n_files: int = 1
    layers: tuple[str, ...] = ()
    writes: bool = False
    reads: bool = False
    collective: bool = False
    noncontiguous: bool = False
    shared: bool = False
    call_bytes: int = 0
    amplification: float = 1.0
    io_share: float = 0.0


@dataclass(frozen=True)
class Striping:
    """Striping that new files can have on a described storage system.

    Attributes:
        targets: Number of storage targets.
        stripe_count / stripe_size: Default stripe count (-1 for all targets) and stripe size in
            bytes of a new file.
        by_any_mpi: Whether striping hints act with any MPI-IO driver, as on emulated storage.
    """

    targets: int
    stripe_count: int = 1
    stripe_size: int = 1 << 20
    by_any_mpi: bool = False


@dataclass(frozen=True)
class ProgramFacts(Figured):
    """Facts about a program that tunables and strategies use.

    Attributes:
        n_ranks: Number of ranks in MPI_COMM_WORLD; 1 without MPI.
        n_hosts: Number of hosts on which ranks ran.
        mpi_family: Family of the MPI: "mpich", "openmpi" or "other"; empty without MPI.
        mpi_version: First line of MPI_Get_library_version.
        mpiio_implementation: MPI-IO implementation: "romio" or "ompio"; empty if MPI-IO was not
            used.
        mpiio_alternatives: MPI-IO implementations that this MPI could use instead, as the values
            of MCA `io` ("ompio", "romio321"); empty if there is no choice.
        uses_hdf5: Whether any HDF5 file call was made.
        uses_parallel_hdf5: Whether an HDF5 file was opened through MPI-IO.
        uses_pnetcdf: Whether a file was opened through PnetCDF.
        uses_netcdf4: Whether the process had loaded the netCDF library and used HDF5, so that its
            files are netCDF-4 files.
        uses_adios2: Whether ADIOS2 wrote or read data.
        collective_bytes / independent_bytes: Bytes of MPI-IO data calls of each kind.
        mpiio_read_bytes: Bytes read by both kinds of MPI-IO calls.
        posix_bytes: Bytes of outermost POSIX and stdio data calls.
        noncontiguous: Whether a noncontiguous file view was set.
        read_bytes / write_bytes: Bytes that the program requested.
        shared_files: Number of files that more than one rank wrote or read through MPI-IO.
        write_calls / read_calls: Numbers of outermost data calls.
        io_seconds / elapsed_seconds: I/O time and elapsed time of the run.
        filesystem: Type of the file system ("ext4", "lustre", ...) of the outputs, real or
            emulated; empty if unknown.
        mpiio_driver: Driver that ROMIO reports for the files ("UFS", "LUSTRE"); empty if it
            reports none.
        striping: Striping that new files can have; None if unknown.
        burst_buffer_nodes: Number of burst-buffer nodes in the job script; 0 without a burst
            buffer.
        job_cpus: Number of CPUs that the job script requests for all ranks, an upper limit for
            ranks times threads; 0 if unknown.
        in_reach: Whether the runtime library is loaded in the program; if not, its I/O is known
            from Darshan logs, and no settings can be applied inside it.
        virtual_nodes: Number of emulated nodes, by which ROMIO places its aggregators; 0 if these
            are the real hosts.
        network_variables: Environment variables as "NAME=VALUE", each of which selects another
            set-up of a described network.
        matched_calls: Whether all ranks made the same number of HDF5 data calls on every file
            (required by contract settings).
        matched_metadata: Whether all ranks made the same number of HDF5 calls that open, make,
            close and describe objects, on every file.
        pattern: Notation of the pattern that moved most bytes; empty if none was recognised.
        interleaved: Whether the pieces of each rank are interleaved with those of others in the
            file.
        block: Elements per dimension of an HDF5 dataset that one rank moves in that pattern; empty
            for other files.
        block_bytes: Bytes of that block.
        patterns: All recognised patterns, the one that moved most bytes first.
        file_classes: Classes of files with different behaviour, the one with most I/O time first;
            empty if all relevant files behave alike.
        missing: Amounts (bytes, calls, seconds) that are unknown or only lower bounds, with the
            reason.
    """

    n_ranks: int = 1
    n_hosts: int = 1
    mpi_family: str = ""
    mpi_version: str = ""
    mpiio_implementation: str = ""
    mpiio_alternatives: tuple[str, ...] = ()
    uses_hdf5: bool = False
    uses_parallel_hdf5: bool = False
    collective_bytes: int = 0
    independent_bytes: int = 0
    mpiio_read_bytes: int = 0
    posix_bytes: int = 0
    noncontiguous: bool = False
    read_bytes: int = 0
    write_bytes: int = 0
    shared_files: int = 0
    write_calls: int = 0
    read_calls: int = 0
    io_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    matched_calls: bool = False
    matched_metadata: bool = False
    filesystem: str = ""
    uses_pnetcdf: bool = False
    uses_netcdf4: bool = False
    uses_adios2: bool = False
    pattern: str = ""
    interleaved: bool = False
    block: tuple[int, ...] = ()
    block_bytes: int = 0
    patterns: tuple[PatternSummary, ...] = ()
    file_classes: tuple[FileClass, ...] = ()
    mpiio_driver: str = ""
    striping: Striping | None = None
    network_variables: tuple[str, ...] = ()
    virtual_nodes: int = 0
    burst_buffer_nodes: int = 0
    job_cpus: int = 0
    in_reach: bool = True
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def uses_cray_mpich(self) -> bool:
        """Whether the MPI is Cray MPICH, which has its own variables and output."""
        return "cray" in self.mpi_version.lower()

    def moved_bytes(self, *, writing: bool) -> int:
        """Return the bytes in one direction; if incomplete, at least the sum over its patterns."""
        name = "write_bytes" if writing else "read_bytes"
        known = int(getattr(self, name))
        if self.amount(name).is_exact:
            return known
        return max(known, sum(one.bytes for one in self.patterns if one.writing is writing))

    @property
    def aggregator_hosts(self) -> int:
        """Number of hosts on which ROMIO places its aggregators."""
        return self.virtual_nodes or self.n_hosts
