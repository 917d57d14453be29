# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5's properties: file access, dataset creation, transfer.

Defaults: read from HDF5 1.10.8 by H5Pget_*.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._conditions import KIB, MIB
from stripewise.tunables._knob import Knob

_GET = "measured: H5Pget_*, HDF5 1.10.8"
_MANUAL = "documented: HDF5 reference manual"

DATASET_KEYS = frozenset({"chunk", "fill_time", "alloc_time", "transfer"})
"""Properties that a rule for datasets may hold."""

_VERSIONS = "(earliest|v18|v110|v112|v114|v200|latest)"

_property: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.HDF5,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("hdf5",),
    applies=when.hdf5,
    source=_GET,
)


def _alignments(facts: ProgramFacts) -> tuple[Value, ...]:
    """Threshold equal to the alignment: a file can at most double."""
    return tuple(
        (size, size) for size in (1 * MIB, 4 * MIB, 64 * KIB) if facts.write_bytes >= 2 * size
    )


KNOBS: tuple[Knob, ...] = (
    _property(
        key="alignment",
        also="netCDF-4: nc_set_alignment (4.9 and later)",
        kind="ints",
        lengths=(2,),
        maximum=2**40,
        default="1, 1 (off)",
        safety=SafetyClass.LAYOUT,
        effect_order=50,
        rungs=_alignments,
        applies=when.all_of(when.hdf5, when.written),
        summary="Objects of at least [0] bytes start at a multiple of [1] bytes",
    ),
    _property(
        key="coll_metadata_write",
        also="netCDF-4: set by the library itself for parallel files (4.6.2 and later)",
        kind="bool",
        default="false",
        effect_order=51,
        rungs=when.values(True),
        applies=when.all_of(when.parallel_hdf5, when.several_ranks, when.written),
        summary="Metadata is flushed by one collective write",
        source=f"{_MANUAL}, H5Pset_coll_metadata_write",
    ),
    _property(
        key="meta_block_size",
        also="netCDF-4: no call of its own",
        kind="int",
        maximum=2**40,
        default="2048",
        safety=SafetyClass.LAYOUT,
        effect_order=52,
        rungs=when.values(64 * KIB, 1 * MIB),
        applies=when.all_of(when.hdf5, when.written),
        summary="Blocks in which file space for metadata is taken, bytes",
    ),
    _property(
        key="small_data_block_size",
        kind="int",
        maximum=2**40,
        default="2048",
        safety=SafetyClass.LAYOUT,
        effect_order=56,
        rungs=when.values(64 * KIB, 1 * MIB),
        applies=when.all_of(when.hdf5, when.written),
        summary="Blocks in which file space for small raw data is taken, bytes",
    ),
    _property(
        key="sieve_buf_size",
        also="netCDF-4: no call of its own",
        kind="int",
        maximum=2**40,
        default="64 KiB",
        effect_order=43,
        rungs=when.values(1 * MIB, 16 * MIB),
        applies=when.serial_hdf5,
        summary="Buffer for partial access to contiguous datasets; serial files only",
        source=f"{_GET}; the MPI-IO driver has no such buffer (measured)",
    ),
    _property(
        key="libver",
        also="netCDF-4: chosen by the library",
        kind="text",
        pattern=rf"{_VERSIONS},{_VERSIONS}",
        example="v110,latest",
        default="earliest,latest",
        safety=SafetyClass.LAYOUT,
        effect_order=57,
        rungs=when.values("latest,latest"),
        applies=when.all_of(
            when.hdf5, when.written, when.not_netcdf4("keeps its files readable by older versions")
        ),
        summary="Oldest and newest format of objects; old readers may not know newer ones",
    ),
    _property(
        key="mdc",
        kind="ints",
        lengths=(2,),
        minimum=KIB,
        maximum=128 * MIB,
        default="2 MiB, 32 MiB",
        safety=SafetyClass.LAYOUT,
        effect_order=58,
        rungs=when.values((32 * MIB, 32 * MIB)),
        summary="Initial and largest bytes of the metadata cache",
        source=f"{_GET}; layout class assumed: evictions come in another order",
    ),
    _property(
        key="chunk_cache",
        also="netCDF-4: nc_set_chunk_cache, nc_set_var_chunk_cache",
        kind="ints",
        lengths=(2,),
        maximum=2**40,
        default="521, 1 MiB",
        safety=SafetyClass.LAYOUT,
        effect_order=55,
        rungs=when.values((12421, 16 * MIB), (99991, 128 * MIB)),
        applies=when.all_of(when.serial_hdf5, when.not_netcdf4("sets the chunk cache itself")),
        summary="Slots and bytes of the cache for chunks of a dataset",
        source=f"{_GET}; not used by parallel writes; layout class: chunks in another order",
    ),
    _property(
        key="page_buffer_size",
        kind="int",
        maximum=2**40,
        default="0, off",
        safety=SafetyClass.CONTRACT,
        summary="Page buffer, bytes; files without paged file space fail to open with it",
        applies=when.serial_hdf5,
    ),
    _property(
        key="chunk",
        also="netCDF-4: nc_def_var_chunking; NetCDF Fortran: nf90_def_var(chunksizes=)",
        kind="ints",
        lengths=tuple(range(1, 33)),
        minimum=1,
        maximum=2**32 - 1,
        default="contiguous layout",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.DATASET,
        effect_order=25,
        rungs=when.chunk_of_a_rank,
        applies=when.all_of(when.hdf5, when.written),
        summary="Chunk dimensions of new datasets of that rank",
        source=f"{_MANUAL}; the rung, one rank's block as a chunk: assumed",
    ),
    _property(
        key="alloc_time",
        also="netCDF-4: chosen by the library",
        kind="enum",
        choices=("default", "early", "late", "incr"),
        default="early through MPI-IO, else late",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.DATASET,
        applies=when.all_of(when.hdf5, when.written),
        summary="When file space for raw data is taken",
        source=f"{_GET} (late); {_MANUAL} (early through MPI-IO)",
    ),
    _property(
        key="all_coll_metadata_ops",
        also="netCDF-4: set by the library itself for parallel files (4.6.2 and later)",
        kind="bool",
        default="false",
        safety=SafetyClass.CONTRACT,
        effect_order=53,
        rungs=when.values(True),
        applies=when.all_of(when.parallel_hdf5, when.several_ranks, when.matched_metadata),
        summary="Metadata is read by one rank; hangs where ranks call unevenly",
        source=f"{_MANUAL}, H5Pset_all_coll_metadata_ops",
    ),
    _property(
        key="transfer",
        also="netCDF-4: nc_var_par_access(NC_COLLECTIVE)",
        kind="enum",
        choices=("independent", "collective"),
        default="independent",
        safety=SafetyClass.CONTRACT,
        acts_at=ActsAt.TRANSFER,
        effect_order=15,
        rungs=when.values("collective"),
        applies=when.all_of(
            when.parallel_hdf5, when.several_ranks, when.matched, when.moves_independently
        ),
        summary="Kind of data transfer; collective hangs where ranks call unevenly (seen)",
        source=f"{_MANUAL}, H5Pset_dxpl_mpio",
    ),
    _property(
        key="fill_time",
        also="netCDF-4: nc_def_var_fill(NC_NOFILL), nc_set_fill",
        kind="enum",
        choices=("ifset", "alloc", "never"),
        default="ifset",
        safety=SafetyClass.CONTRACT,
        acts_at=ActsAt.DATASET,
        effect_order=54,
        rungs=when.values("never"),
        by_name="no counter proves that every element is written",
        applies=when.all_of(when.hdf5, when.written),
        summary="When fill values are written; never: unwritten elements are undefined (seen)",
    ),
)
