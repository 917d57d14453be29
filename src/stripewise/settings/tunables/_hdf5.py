# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists HDF5's properties: file access, dataset creation, transfer.

Defaults: read from HDF5 1.10.8 by H5Pget_*.
"""

from __future__ import annotations

from functools import partial

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    ActsAt,
    Condition,
    Flag,
    Integer,
    Integers,
    Layer,
    OneOf,
    SafetyClass,
    SearchRange,
    Text,
    Tunable,
)
from stripewise.settings.tunables._conditions import KIB, MIB

_GET = "measured: H5Pget_*, HDF5 1.10.8"
_MANUAL = "documented: HDF5 reference manual"

DATASET_KEYS = frozenset({"chunk", "fill_time", "alloc_time", "transfer"})
"""Properties that a rule for datasets may set."""

_VERSIONS = "(earliest|v18|v110|v112|v114|v200|latest)"

_shared = (when.hdf5, when.parallel_hdf5, when.several_ranks)
_property = partial(
    Tunable,
    layer=Layer.HDF5,
    acts_at=ActsAt.OPEN,
    stacks=("hdf5",),
    applies=(when.hdf5,),
    source=_GET,
)
_layout = partial(_property, safety=SafetyClass.LAYOUT)
_written = partial(_layout, applies=(when.hdf5, when.written))
_dataset = partial(_written, acts_at=ActsAt.DATASET)
_contract = partial(_property, safety=SafetyClass.CONTRACT)


def _not_netcdf4(why: str) -> Condition:
    """Return the condition that netCDF-4 does not use HDF5; `why` says what netCDF-4 does."""
    return when.needs(lambda facts: not facts.uses_netcdf4, f"netCDF-4 {why}")


def _alignments(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return alignments with thresholds of the same size, so that a file can at most double."""
    written = facts.amount("write_bytes").most
    return tuple((size, size) for size in (1 * MIB, 4 * MIB, 64 * KIB) if written >= 2 * size)


TUNABLES = (
    _written(
        "alignment",
        Integers("1, 1 (off)", 2, maximum=2**40),
        "Threshold and alignment, bytes: objects from the threshold on are aligned",
        search=SearchRange(50, by=_alignments),
        also="netCDF-4: nc_set_alignment (4.9 and later)",
    ),
    _property(
        "coll_metadata_write",
        Flag("false"),
        "Metadata is flushed by one collective write",
        search=SearchRange(51, True),
        also="netCDF-4: set by the library itself for parallel files (4.6.2 and later)",
        applies=(*_shared, when.written),
        source=f"{_MANUAL}, H5Pset_coll_metadata_write",
    ),
    _written(
        "meta_block_size",
        Integer("2048", 0, 2**40),
        "Block size in which file space for metadata is allocated, bytes",
        search=SearchRange(52, 64 * KIB, 1 * MIB),
        also="netCDF-4: no call of its own",
    ),
    _written(
        "small_data_block_size",
        Integer("2048", 0, 2**40),
        "Block size in which file space for small raw data is allocated, bytes",
        search=SearchRange(56, 64 * KIB, 1 * MIB),
    ),
    _property(
        "sieve_buf_size",
        Integer("64 KiB", 0, 2**40),
        "Buffer for partial access to contiguous datasets; serial files only",
        search=SearchRange(43, 1 * MIB, 16 * MIB),
        also="netCDF-4: no call of its own",
        applies=(when.hdf5, when.serial_hdf5),
        source=f"{_GET}; the MPI-IO driver has no such buffer (measured)",
    ),
    _layout(
        "libver",
        Text("earliest,latest", rf"{_VERSIONS},{_VERSIONS}", "v110,latest"),
        "Oldest and newest format of objects; old readers may not know newer ones",
        search=SearchRange(57, "latest,latest"),
        also="netCDF-4: chosen by the library",
        applies=(
            when.hdf5,
            when.written,
            _not_netcdf4("keeps its files readable by older versions"),
        ),
    ),
    _layout(
        "mdc",
        Integers("2 MiB, 32 MiB", 2, minimum=KIB, maximum=128 * MIB),
        "Initial and largest bytes of the metadata cache",
        search=SearchRange(58, (32 * MIB, 32 * MIB)),
        source=f"{_GET}; layout class assumed: evictions come in another order",
    ),
    _layout(
        "chunk_cache",
        Integers("521, 1 MiB", 2, maximum=2**40),
        "Chunk cache of a dataset: slots and bytes",
        search=SearchRange(55, (12421, 16 * MIB), (99991, 128 * MIB)),
        also="netCDF-4: nc_set_chunk_cache, nc_set_var_chunk_cache",
        applies=(when.hdf5, when.serial_hdf5, _not_netcdf4("sets the chunk cache itself")),
        source=f"{_GET}; not used by parallel writes; layout class: chunks in another order",
    ),
    _contract(
        "page_buffer_size",
        Integer("0, off", 0, 2**40),
        "Page buffer, bytes; files without paged file space fail to open with it",
        applies=(when.hdf5, when.serial_hdf5),
    ),
    _dataset(
        "chunk",
        Integers("contiguous layout", *range(1, 33), minimum=1, maximum=2**32 - 1),
        "Chunk dimensions of new datasets with as many dimensions",
        search=SearchRange(25, by=when.chunk_of_a_rank),
        also="netCDF-4: nc_def_var_chunking; NetCDF Fortran: nf90_def_var(chunksizes=)",
        source=f"{_MANUAL}; the rung, one rank's block as a chunk: assumed",
    ),
    _dataset(
        "alloc_time",
        OneOf("early through MPI-IO, else late", "default", "early", "late", "incr"),
        "When file space for raw data is taken",
        also="netCDF-4: chosen by the library",
        source=f"{_GET} (late); {_MANUAL} (early through MPI-IO)",
    ),
    _contract(
        "all_coll_metadata_ops",
        Flag("false"),
        "One rank reads metadata for all; hangs unless every rank makes the same calls",
        search=SearchRange(53, True),
        also="netCDF-4: set by the library itself for parallel files (4.6.2 and later)",
        applies=(*_shared, when.matched_metadata),
        source=f"{_MANUAL}, H5Pset_all_coll_metadata_ops",
    ),
    _contract(
        "transfer",
        OneOf("independent", "independent", "collective"),
        "Mode of data transfer; collective hangs unless every rank makes the same calls",
        search=SearchRange(15, "collective"),
        also="netCDF-4: nc_var_par_access(NC_COLLECTIVE)",
        acts_at=ActsAt.TRANSFER,
        applies=(*_shared, when.matched, when.moves_independently),
        source=f"{_MANUAL}, H5Pset_dxpl_mpio",
    ),
    _contract(
        "fill_time",
        OneOf("ifset", "ifset", "alloc", "never"),
        "When fill values are written; with never, unwritten elements are undefined",
        search=SearchRange(54, "never", by_name="no counter proves that every element is written"),
        also="netCDF-4: nc_def_var_fill(NC_NOFILL), nc_set_fill",
        acts_at=ActsAt.DATASET,
        applies=(when.hdf5, when.written),
    ),
)
