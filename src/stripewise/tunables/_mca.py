# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's MCA parameters: which MPI-IO implementation, and what steers OMPIO.

Defaults: printed by `ompi_info --param io|fcoll|fbtl|fs|sharedfp all -l 9`, Open MPI 4.1.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._conditions import KIB, MIB
from stripewise.tunables._knob import Knob

_INFO = "measured: ompi_info --all, Open MPI 4.1.4"
_FLAGS = "searched as the hint that does the same"

_parameter: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.MCA,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.JOB,
    stacks=("ompio",),
    required=when.requires_ompio,
    applies=when.all_of(when.open_mpi, when.ompio),
    source=_INFO,
)


def _other_implementations(facts: ProgramFacts) -> tuple[Value, ...]:
    now = facts.mpiio_implementation
    return tuple(name for name in facts.mpiio_alternatives if not (now and name.startswith(now)))


def _algorithms(facts: ProgramFacts) -> tuple[Value, ...]:
    """Open MPI 5 has no two_phase any more."""
    older = ("two_phase",) if " v4." in facts.mpi_version else ()
    return ("individual", "dynamic_gen2", "dynamic", *older)


def _has_choice(facts: ProgramFacts) -> str:
    return "" if _other_implementations(facts) else "this Open MPI has no other implementation"


KNOBS: tuple[Knob, ...] = (
    _parameter(
        key="io",
        kind="enum",
        choices=("ompio", "romio314", "romio321", "romio341"),
        default="ompio",
        effect_order=10,
        rungs=_other_implementations,
        applies=when.all_of(when.open_mpi, when.mpiio, _has_choice),
        required=lambda facts: {},
        stacks=("openmpi",),
        summary="Implementation of MPI-IO",
        source=f"{_INFO}: io_ompio_priority 30, io_romio321_priority 10",
    ),
    _parameter(
        key="fcoll",
        kind="enum",
        choices=("vulcan", "dynamic", "dynamic_gen2", "two_phase", "individual", "static"),
        default="vulcan; dynamic_gen2 on Lustre",
        effect_order=22,
        rungs=_algorithms,
        applies=when.all_of(when.open_mpi, when.ompio, when.several_ranks, when.collective),
        summary="Algorithm of OMPIO's collective calls",
        source="documented: Open MPI sources (default); measured: system writes of all but static",
    ),
    _parameter(
        key="io_ompio_grouping_option",
        kind="int",
        minimum=1,
        maximum=7,
        default="5, simple",
        effect_order=60,
        rungs=when.values(7, 6, 2, 3, 1, 4),
        by_name="its effect is mostly that of cb_nodes",
        applies=when.all_of(when.open_mpi, when.ompio, when.several_ranks, when.collective),
        summary="How ranks are grouped under aggregators",
    ),
    _parameter(
        key="io_ompio_num_aggregators",
        kind="int",
        minimum=-1,
        maximum=2**31 - 1,
        default="-1, automatic",
        summary="Number of aggregators",
        source=f"{_INFO}; {_FLAGS}: mpiio.cb_nodes",
    ),
    _parameter(
        key="io_ompio_bytes_per_agg",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="32 MiB",
        summary="Bytes that an aggregator moves in one round",
        source=f"{_INFO}; {_FLAGS}: mpiio.cb_buffer_size",
    ),
    _parameter(
        key="io_ompio_max_aggregators_ratio",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        default="8",
        summary="At most one aggregator per so many ranks, where chosen automatically",
    ),
    _parameter(
        key="io_ompio_aggregators_cutoff_threshold",
        kind="int",
        minimum=0,
        maximum=2**31 - 1,
        default="3",
        summary="Gain below which no further aggregator is added, where chosen automatically",
    ),
    _parameter(
        key="io_ompio_cycle_buffer_size",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="512 MiB",
        effect_order=61,
        rungs=when.buffer_sizes(16 * MIB, (), (16 * MIB,)),
        applies=when.all_of(
            when.open_mpi,
            when.ompio,
            lambda facts: "" if facts.independent_bytes else "no independent MPI-IO data calls",
        ),
        summary="Most bytes that one independent call moves at once",
    ),
    _parameter(
        key="io_ompio_overwrite_amode",
        kind="int",
        maximum=1,
        default="1",
        summary="Open write-only files for reading too, as data sieving needs",
    ),
    _parameter(
        key="fcoll_vulcan_async_io",
        kind="int",
        maximum=2,
        default="0, automatic",
        effect_order=68,
        rungs=when.values(1, 2),
        applies=when.all_of(when.open_mpi, when.ompio, when.several_ranks, when.collective),
        by_name="automatic is asynchronous wherever it can be",
        summary="Writes in vulcan: 1 asynchronous, 2 synchronous",
    ),
    _parameter(
        key="fcoll_vulcan_write_chunksize",
        kind="int",
        minimum=-1,
        maximum=2**31 - 1,
        default="-1, the cycle",
        summary="Bytes that vulcan writes at once",
    ),
    _parameter(
        key="fcoll_vulcan_num_groups",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        default="1",
        summary="Groups of vulcan",
    ),
    _parameter(
        key="fcoll_dynamic_gen2_num_groups",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        default="1",
        summary="Groups of dynamic_gen2",
    ),
    _parameter(
        key="fbtl_posix_write_datasieving",
        kind="bool",
        default="true",
        rungs=when.values(False),
        applies=when.all_of(when.open_mpi, when.ompio, when.written, when.noncontiguous),
        by_name="no effect was seen on 4 KiB pieces with 4 KiB holes",
        summary="Data sieving in OMPIO's writes with holes",
    ),
    _parameter(
        key="fbtl_posix_read_datasieving",
        kind="bool",
        default="true",
        rungs=when.values(False),
        applies=when.all_of(when.open_mpi, when.ompio, when.mpiio_read, when.noncontiguous),
        by_name="no effect was seen on 4 KiB pieces with 4 KiB holes",
        summary="Data sieving in OMPIO's reads with holes",
    ),
    _parameter(
        key="fbtl_posix_max_block_size",
        kind="int",
        minimum=1,
        default="1 MiB",
        summary="Largest piece that OMPIO sieves",
    ),
    _parameter(
        key="fbtl_posix_max_gap_size",
        kind="int",
        default="4 KiB",
        summary="Largest hole that OMPIO sieves over",
    ),
    _parameter(
        key="fbtl_posix_max_tmpbuf_size",
        kind="int",
        minimum=4 * KIB,
        default="64 MiB",
        summary="Largest buffer of OMPIO's data sieving",
    ),
    _parameter(
        key="io_ompio_pipeline_buffer_size",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="1 MiB (Open MPI 5)",
        summary="Pieces in which data in the memory of a GPU is moved",
        source="documented: Open MPI sources, common/ompio",
    ),
    _parameter(
        key="fs",
        kind="enum",
        choices=("ufs", "lustre", "gpfs", "ime", "pvfs2"),
        default="by the file system",
        safety=SafetyClass.CONTRACT,
        summary="Component for the file system; a wrong one can ignore its locks",
        source=f"{_INFO} (Debian's has ufs only)",
    ),
    _parameter(
        key="fbtl",
        kind="enum",
        choices=("posix", "ime", "pvfs2"),
        default="by the file system",
        safety=SafetyClass.CONTRACT,
        summary="Component that reads and writes",
        source=f"{_INFO} (Debian's has posix only)",
    ),
    _parameter(
        key="fs_ufs_lock_algorithm",
        kind="int",
        maximum=3,
        default="0, automatic",
        safety=SafetyClass.CONTRACT,
        summary="Locks: 1 never, 2 whole file, 3 ranges; never: sieving can lose updates",
    ),
    _parameter(
        key="fs_lustre_lock_algorithm",
        kind="int",
        maximum=3,
        default="0, automatic",
        safety=SafetyClass.CONTRACT,
        applies=when.all_of(when.open_mpi, when.ompio, when.lustre),
        summary="Locks: 1 never, 2 whole file, 3 ranges; never: sieving can lose updates",
        source="documented: Open MPI sources, ompi/mca/fs/lustre",
    ),
    _parameter(
        key="fs_lustre_stripe_size",
        kind="int",
        default="0, that of the directory",
        safety=SafetyClass.LAYOUT,
        applies=when.all_of(when.open_mpi, when.ompio, when.lustre),
        summary="Stripe size of new files",
        source="documented: Open MPI sources, ompi/mca/fs/lustre",
    ),
    _parameter(
        key="fs_lustre_stripe_width",
        kind="int",
        default="0, that of the directory",
        safety=SafetyClass.LAYOUT,
        applies=when.all_of(when.open_mpi, when.ompio, when.lustre),
        summary="Stripe count of new files",
        source="documented: Open MPI sources, ompi/mca/fs/lustre",
    ),
    _parameter(
        key="sharedfp",
        kind="enum",
        choices=("sm", "lockedfile", "individual"),
        default="sm on one host, else lockedfile",
        summary="How the shared file pointer is kept; individual: order by time stamps",
        source="measured: ompi_info (priorities); assumed: when each is chosen",
        safety=SafetyClass.CONTRACT,
    ),
)
