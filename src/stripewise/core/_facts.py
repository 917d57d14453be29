# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a first run showed of a program, which decides what tunables are tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.core._amount import Figured


@dataclass(frozen=True)
class PatternSummary:
    """What counts of a pattern when programs are compared: its structure, no names, no places.

    Attributes:
        writing: Written, otherwise read.
        distributions: One per dimension, C order: "BLOCK", "CYCLIC(4)", "*".
        grid: Processes per dimension.
        block: Elements per dimension that one process moves.
        element_bytes: Of one element.
        steps: Writes (reads) that together make one array, or times that it is repeated.
        collective: Share of the calls that are collective, 0 to 1.
        datasets: How many datasets have it.
        share: Of the bytes that all patterns move, 0 to 1.
        kind: Text of `PatternKind`.
        extents: Elements per dimension of one array; empty: not known.
        halo: Elements per dimension by which neighbours overlap; empty: none.
        active_ranks: That take part; 0: the product of the grid.
        bytes: That all ranks moved, of all these datasets and steps; 0: not known.
        file_class: Place, from 1, of the class of files in the program's facts that they are
            in; 0: in none that is told apart.
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
    """Files that behave alike.

    Attributes:
        match: Glob that matches these files and no other that was seen; "" if there is none,
            so that no setting can be given to them alone.
        n_files: How many were seen.
        layers: Interfaces, the one that the program called first: ("hdf5", "mpiio").
        writes / reads: The program wrote (read) a real share of what it moved.
        collective: Most bytes of MPI-IO were moved by collective calls.
        noncontiguous: A file view with holes was set.
        shared: Several ranks moved data of each file.
        call_bytes: Mean size of the program's data calls.
        amplification: Bytes that system calls moved for each byte that the program asked for.
        io_share: Of the I/O time on all files, 0 to 1.
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
    """What new files can be striped over, where the storage is described.

    Attributes:
        targets: How many there are.
        stripe_count / stripe_size: Of a new file by default; -1: all targets; bytes.
        by_any_mpi: Striping hints act whatever driver MPI-IO has: the storage is emulated.
    """

    targets: int
    stripe_count: int = 1
    stripe_size: int = 1 << 20
    by_any_mpi: bool = False


@dataclass(frozen=True)
class ProgramFacts(Figured):
    """Facts that tunables and strategies consult.

    Attributes:
        n_ranks: Ranks in MPI_COMM_WORLD; 1 without MPI.
        n_hosts: Hosts that ranks ran on.
        mpi_family: "mpich", "openmpi", "other" or "" without MPI.
        mpi_version: First line of MPI_Get_library_version.
        mpiio_implementation: "romio" or "ompio"; "" if MPI-IO was not used.
        mpiio_alternatives: MPI-IO implementations that this MPI could use instead, as the
            values of MCA `io` ("ompio", "romio321"); empty where there is no choice.
        uses_hdf5: Any HDF5 file call was seen.
        uses_parallel_hdf5: An HDF5 file was opened through MPI-IO.
        uses_pnetcdf: A file was opened through PnetCDF.
        uses_netcdf4: The netCDF library was in the process and HDF5 was used: its files are
            netCDF-4 files.
        uses_adios2: ADIOS2 wrote or read something.
        collective_bytes / independent_bytes: Bytes of MPI-IO data calls of each kind.
        mpiio_read_bytes: Bytes that MPI-IO calls of both kinds read.
        posix_bytes: Bytes of outermost POSIX and stdio data calls.
        noncontiguous: A noncontiguous file view was set.
        read_bytes / write_bytes: What the program asked to move.
        shared_files: Files that more than one rank wrote or read through MPI-IO.
        write_calls / read_calls: Outermost data calls.
        io_seconds: I/O time of the run, elapsed_seconds: its whole time.
        filesystem: Type of the file system that the outputs lie on ("ext4", "lustre", ...), or
            that they are emulated to lie on; "" where it is not known.
        mpiio_driver: Driver that ROMIO says it uses for the files ("UFS", "LUSTRE"); "" where
            it does not say.
        striping: What new files can be striped over; None where that is not known.
        burst_buffer_nodes: Of the job as its script says; 0: it has no burst buffer.
        job_cpus: Of all ranks together, as a job script says: ranks by threads cannot be more;
            0: not known.
        in_reach: The library is in the program; if not, its I/O is known from Darshan's logs, and
            nothing can be set inside it.
        virtual_nodes: Nodes that ROMIO finds on emulated storage, and places its aggregators by;
            0: the hosts themselves.
        network_variables: "NAME=VALUE" of the environment, each of which chooses another set-up
            of the network, where that is described.
        matched_calls: All ranks made the same number of HDF5 data calls on every file
            (what a contract setting needs).
        matched_metadata: All ranks made the same number of HDF5 calls that open, make, close
            and describe objects, on every file.
        pattern: Notation of the access that moved most bytes, "" if none was recognised.
        interleaved: In the file, a rank's part of it lies in pieces between those of others.
        block: Elements per dimension that one rank moves of an HDF5 dataset in that access;
            empty if it is none.
        block_bytes: Bytes of that block.
        patterns: All patterns that were recognised, the one that moved most first.
        file_classes: Classes of files with different behaviour, the one with most I/O time
            first; empty where all files that matter behave alike.
        missing: Amounts (bytes, calls, seconds) that are not known, or of which this is the
            least, and why.
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
        """Whether the MPI is that of Cray, which reads and prints variables of its own."""
        return "cray" in self.mpi_version.lower()

    def moved_bytes(self, *, writing: bool) -> int:
        """Return the bytes in one direction: at least those of its patterns, if not all known."""
        name = "write_bytes" if writing else "read_bytes"
        known = int(getattr(self, name))
        if self.amount(name).is_exact:
            return known
        return max(known, sum(one.bytes for one in self.patterns if one.writing is writing))

    @property
    def aggregator_hosts(self) -> int:
        """Hosts among which ROMIO places its aggregators."""
        return self.virtual_nodes or self.n_hosts
