# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists Open MPI's MCA parameters, which select the MPI-IO implementation and control OMPIO.

Defaults: printed by `ompi_info --param io|fcoll|fbtl|fs|sharedfp all -l 9`, Open MPI 4.1.4.
"""

from __future__ import annotations

from functools import partial

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    INT_MAX,
    ActsAt,
    Flag,
    Integer,
    Layer,
    OneOf,
    SafetyClass,
    SearchRange,
    Tunable,
)
from stripewise.settings.tunables._conditions import KIB, MIB

_INFO = "measured: ompi_info --all, Open MPI 4.1.4"
_FLAGS = "searched as the hint that does the same"

_parameter = partial(
    Tunable,
    layer=Layer.MCA,
    acts_at=ActsAt.JOB,
    stacks=("ompio",),
    requires=when.requires_ompio,
    applies=(when.open_mpi, when.ompio),
    source=_INFO,
)
_lustre = partial(
    _parameter,
    safety=SafetyClass.LAYOUT,
    applies=(when.open_mpi, when.ompio, when.lustre),
    source="documented: Open MPI sources, ompi/mca/fs/lustre",
)
_contract = partial(_parameter, safety=SafetyClass.CONTRACT)
_collective = partial(
    _parameter, applies=(when.open_mpi, when.ompio, when.several_ranks, when.collective)
)


def _other_implementations(facts: ProgramFacts) -> tuple[Value, ...]:
    now = facts.mpiio_implementation
    return tuple(name for name in facts.mpiio_alternatives if not (now and name.startswith(now)))


def _algorithms(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return the algorithms for collective calls; Open MPI 5 no longer has two_phase."""
    older = ("two_phase",) if " v4." in facts.mpi_version else ()
    return ("individual", "dynamic_gen2", "dynamic", *older)


_has_choice = when.needs(_other_implementations, "this Open MPI has no other implementation")
_independent = when.moves("independent_bytes", "no independent MPI-IO data calls")

TUNABLES = (
    _parameter(
        "io",
        OneOf("ompio", "ompio", "romio314", "romio321", "romio341"),
        "Implementation of MPI-IO",
        search=SearchRange(10, by=_other_implementations),
        stacks=("openmpi",),
        applies=(when.open_mpi, when.mpiio, _has_choice),
        requires=lambda facts: {},
        source=f"{_INFO}: io_ompio_priority 30, io_romio321_priority 10",
    ),
    _collective(
        "fcoll",
        OneOf(
            "vulcan; dynamic_gen2 on Lustre",
            "vulcan",
            "dynamic",
            "dynamic_gen2",
            "two_phase",
            "individual",
            "static",
        ),
        "Algorithm of OMPIO's collective calls",
        search=SearchRange(22, by=_algorithms),
        source="documented: Open MPI sources (default); measured: system writes of all but static",
    ),
    _collective(
        "io_ompio_grouping_option",
        Integer("5, simple", 1, 7),
        "How ranks are grouped under aggregators",
        search=SearchRange(60, 7, 6, 2, 3, 1, 4, by_name="its effect is mostly that of cb_nodes"),
    ),
    _parameter(
        "io_ompio_num_aggregators",
        Integer("-1, automatic", -1, INT_MAX),
        "Number of aggregators",
        source=f"{_INFO}; {_FLAGS}: mpiio.cb_nodes",
    ),
    _parameter(
        "io_ompio_bytes_per_agg",
        Integer("32 MiB", 4 * KIB, INT_MAX),
        "Bytes that an aggregator moves in one round",
        source=f"{_INFO}; {_FLAGS}: mpiio.cb_buffer_size",
    ),
    _parameter(
        "io_ompio_max_aggregators_ratio",
        Integer("8", 1, INT_MAX),
        "Minimum ranks per aggregator, where chosen automatically",
    ),
    _parameter(
        "io_ompio_aggregators_cutoff_threshold",
        Integer("3", 0, INT_MAX),
        "Gain below which no further aggregator is added, where chosen automatically",
    ),
    _parameter(
        "io_ompio_cycle_buffer_size",
        Integer("512 MiB", 4 * KIB, INT_MAX),
        "Maximum bytes that one independent call moves at once",
        search=SearchRange(61, by=when.buffer_sizes(16 * MIB, (), (16 * MIB,))),
        applies=(when.open_mpi, when.ompio, _independent),
    ),
    _parameter(
        "io_ompio_overwrite_amode",
        Integer("1", 0, 1),
        "Open write-only files for reading too, as data sieving needs",
    ),
    _collective(
        "fcoll_vulcan_async_io",
        Integer("0, automatic", 0, 2),
        "Writes in vulcan: 1 asynchronous, 2 synchronous",
        search=SearchRange(68, 1, 2, by_name="automatic is asynchronous wherever it can be"),
    ),
    _parameter(
        "fcoll_vulcan_write_chunksize",
        Integer("-1, the cycle", -1, INT_MAX),
        "Bytes that vulcan writes at once; does nothing in Open MPI 4.1",
    ),
    _parameter("fcoll_vulcan_num_groups", Integer("1", 1, INT_MAX), "Groups of vulcan"),
    _parameter(
        "fcoll_dynamic_gen2_num_groups", Integer("1", 1, INT_MAX), "Groups of dynamic_gen2"
    ),
    _parameter(
        "fbtl_posix_write_datasieving",
        Flag("true"),
        "Data sieving in OMPIO's writes with holes",
        search=SearchRange(
            100, False, by_name="no effect was seen on 4 KiB pieces with 4 KiB holes"
        ),
        applies=(when.open_mpi, when.ompio, when.written, when.noncontiguous),
    ),
    _parameter(
        "fbtl_posix_read_datasieving",
        Flag("true"),
        "Data sieving in OMPIO's reads with holes",
        search=SearchRange(
            100, False, by_name="no effect was seen on 4 KiB pieces with 4 KiB holes"
        ),
        applies=(when.open_mpi, when.ompio, when.mpiio_read, when.noncontiguous),
    ),
    _parameter(
        "fbtl_posix_max_block_size", Integer("1 MiB", 1), "Largest piece that OMPIO sieves"
    ),
    _parameter("fbtl_posix_max_gap_size", Integer("4 KiB"), "Largest hole that OMPIO sieves over"),
    _parameter(
        "fbtl_posix_max_tmpbuf_size",
        Integer("64 MiB", 4 * KIB),
        "Largest buffer of OMPIO's data sieving",
    ),
    _parameter(
        "io_ompio_pipeline_buffer_size",
        Integer("1 MiB (Open MPI 5)", 4 * KIB, INT_MAX),
        "Pieces in which data in the memory of a GPU is moved",
        source="documented: Open MPI sources, common/ompio",
    ),
    _contract(
        "fs",
        OneOf("by the file system", "ufs", "lustre", "gpfs", "ime", "pvfs2"),
        "Component for the file system; a wrong one can ignore its locks",
        source=f"{_INFO} (Debian's has ufs only)",
    ),
    _contract(
        "fbtl",
        OneOf("by the file system", "posix", "ime", "pvfs2"),
        "Component that reads and writes",
        source=f"{_INFO} (Debian's has posix only)",
    ),
    _contract(
        "fs_ufs_lock_algorithm",
        Integer("0, automatic", 0, 3),
        "Locks: 1 never, 2 whole file, 3 ranges; never: sieving can lose updates",
    ),
    _lustre(
        "fs_lustre_lock_algorithm",
        Integer("0, automatic", 0, 3),
        "Locks: 1 never, 2 whole file, 3 ranges; never: sieving can lose updates",
        safety=SafetyClass.CONTRACT,
    ),
    _lustre(
        "fs_lustre_stripe_size",
        Integer("0, that of the directory"),
        "Stripe size of new files",
    ),
    _lustre(
        "fs_lustre_stripe_width",
        Integer("0, that of the directory"),
        "Stripe count of new files",
    ),
    _contract(
        "sharedfp",
        OneOf("sm on one host, else lockedfile", "sm", "lockedfile", "individual"),
        "How the shared file pointer is kept; individual: order by time stamps",
        source="measured: ompi_info (priorities); assumed: when each is chosen",
    ),
)
