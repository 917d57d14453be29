# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists ROMIO's hints, for MPICH and its derivatives, and for Open MPI when it uses ROMIO.

Defaults: printed by ROMIO_PRINT_HINTS=1 under MPICH 4.0.2 and Open MPI 4.1.4 (romio321).
"""

from __future__ import annotations

from collections.abc import Mapping
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
    Text,
    Tunable,
)
from stripewise.settings.tunables._conditions import KIB, MIB

_PRINTED = "measured: ROMIO_PRINT_HINTS=1, MPICH 4.0.2"
_GUIDE = "documented: ROMIO user's guide, section Hints"
_THREE = ("enable", "disable", "automatic")

_anywhere = partial(
    Tunable,
    layer=Layer.MPIIO,
    acts_at=ActsAt.OPEN,
    stacks=("romio", "ompio", "cray"),
    applies=(when.mpiio, when.several_ranks, when.collective),
    source=_PRINTED,
)
_hint = partial(
    _anywhere, stacks=("romio", "cray"), requires=when.requires_romio, applies=(when.romio,)
)
_created = partial(_hint, safety=SafetyClass.LAYOUT, acts_at=ActsAt.CREATE)
_layout = partial(_created, requires=when.requires_striping_hints)
_collective = partial(_hint, applies=(when.romio, when.several_ranks, when.collective))
_lustre = partial(
    _hint,
    stacks=("romio",),
    applies=(when.romio, when.lustre, when.collective),
    source="documented: ROMIO sources, adio/ad_lustre/ad_lustre_hints.c",
)
_ibm = partial(_hint, stacks=("ibm",), source="documented: H5Tuner sets it; assumed otherwise")


def _spread(value: Value, facts: ProgramFacts | None) -> Mapping[str, Value]:
    """Return the setting that allows as many aggregators per host as their number needs.

    ROMIO's default, `*:1`, allows one per host regardless of cb_nodes (measured).
    """
    hosts = facts.aggregator_hosts if facts else 1
    if hosts <= 1 or not isinstance(value, int):
        return {"mpiio.cb_config_list": "*:*"}
    return {"mpiio.cb_config_list": f"*:{-(-value // hosts)}"}


def _only_aggregators(facts: ProgramFacts) -> tuple[Value, ...]:
    return () if facts.amount("independent_bytes").most else (True,)


TUNABLES = (
    _hint(
        "romio_ds_write",
        OneOf("automatic", *_THREE),
        "Data sieving in writes with holes: read, modify, write back under a lock",
        search=SearchRange(20, "disable"),
        applies=(when.romio, when.written, when.noncontiguous),
        source=f"{_PRINTED}; system writes traced: 512 KiB pieces, or 4 KiB ones if disabled",
    ),
    _hint(
        "romio_cb_write",
        OneOf("automatic", *_THREE),
        "Two-phase buffering of collective writes; automatic: where ranges interleave",
        search=SearchRange(21, "enable", "disable"),
        applies=(when.romio, when.several_ranks, when.written, when.collective),
        source=f"{_PRINTED}; acts on collective calls only (system writes traced)",
    ),
    _hint(
        "romio_ds_read",
        OneOf("automatic", *_THREE),
        "Data sieving in reads with holes: read the whole range, pick out the pieces",
        search=SearchRange(24, "disable"),
        applies=(when.romio, when.mpiio_read, when.noncontiguous),
    ),
    _hint(
        "romio_cb_read",
        OneOf("automatic", *_THREE),
        "Two-phase buffering of collective reads; automatic: where ranges interleave",
        search=SearchRange(25, "enable", "disable"),
        applies=(when.romio, when.several_ranks, when.mpiio_read, when.collective),
    ),
    _anywhere(
        "cb_nodes",
        Integer("ROMIO: one a host; Cray: the stripe count; OMPIO: automatic", 1, INT_MAX),
        "Number of aggregators: ranks that access the file in collective calls",
        search=SearchRange(30, by=when.aggregators),
        implies=_spread,
        source=f"{_PRINTED}; acts in ROMIO with cb_config_list, and in OMPIO 4.1.4 (traced)",
    ),
    _anywhere(
        "cb_buffer_size",
        Integer("ROMIO 16 MiB; OMPIO 32 MiB", 4 * KIB, INT_MAX),
        "Bytes that an aggregator moves in one round (ROMIO's Lustre driver: ignored)",
        search=SearchRange(
            40, by=when.buffer_sizes(16 * MIB, (64 * MIB, 256 * MIB), (4 * MIB, 1 * MIB))
        ),
        applies=(when.mpiio, when.several_ranks, when.collective, when.rounds_by_size),
        source=f"{_PRINTED}; acts in ROMIO's UFS driver and in OMPIO 4.1.4 (traced)",
    ),
    _hint(
        "ind_wr_buffer_size",
        Integer("512 KiB", 4 * KIB, INT_MAX),
        "Bytes that data sieving writes at once",
        search=SearchRange(41, by=when.buffer_sizes(512 * KIB, (4 * MIB, 16 * MIB, 64 * MIB), ())),
        applies=(when.romio, when.written, when.noncontiguous),
        source=f"{_PRINTED}; sizes of system writes traced",
    ),
    _hint(
        "ind_rd_buffer_size",
        Integer("4 MiB", 4 * KIB, INT_MAX),
        "Bytes that data sieving reads at once",
        search=SearchRange(42, by=when.buffer_sizes(4 * MIB, (16 * MIB, 64 * MIB), (1 * MIB,))),
        applies=(when.romio, when.mpiio_read, when.noncontiguous),
    ),
    _layout(
        "striping_unit",
        Integer("that of the directory; without stripes 0", 4 * KIB, 2**32 - 1),
        "Stripe size of a new file; on any file system, alignment of the aggregators' shares",
        search=SearchRange(45, by=when.stripe_sizes),
        applies=(when.striping_hints, when.several_ranks, when.collective),
        source="measured: 4 MiB on 4 ranks moved the system writes of MPICH; else documented",
    ),
    _layout(
        "striping_factor",
        Integer("that of the directory", -1, 65535),
        "Number of stripes (targets) of a new file",
        search=SearchRange(12, by=when.stripe_counts),
        applies=(when.striping_hints, when.written, when.striped),
        source=f"{_GUIDE}; needs a driver for the file system",
    ),
    _collective(
        "romio_no_indep_rw",
        Flag("false"),
        "Only aggregators open the file; forces collective buffering on",
        search=SearchRange(70, by=_only_aggregators),
        source=f"{_PRINTED}; independent calls still work (traced)",
    ),
    _hint(
        "cb_config_list",
        Text("*:1", r"[^\s:,]+(:(\d+|\*))?(,[^\s:,]+(:(\d+|\*))?)*", "*:2"),
        "Maximum aggregators per host; set together with cb_nodes",
        source=f"{_PRINTED}; {_GUIDE}",
    ),
    _collective(
        "romio_cb_pfr",
        OneOf("disable", *_THREE),
        "Persistent file realms: aggregators keep their shares between calls",
        search=SearchRange(100, "enable", by_name="a seldom used code path"),
    ),
    _hint(
        "romio_cb_fr_types",
        Text("aar", r"aar|fsr|[0-9]+", "aar"),
        "Type of file realms; with romio_cb_pfr only",
    ),
    _hint(
        "romio_cb_fr_alignment",
        Integer("1", 1),
        "Alignment of file realms, bytes; with romio_cb_pfr only",
    ),
    _hint(
        "romio_cb_ds_threshold",
        Integer("0"),
        "Extent per piece, bytes, below which pieces are sieved; with romio_cb_pfr only",
    ),
    _collective(
        "romio_cb_alltoall",
        OneOf("automatic", *_THREE),
        "Exchange of collective buffering by MPI_Alltoallv instead of point to point",
        search=SearchRange(100, "enable", "disable", by_name="it acts with romio_cb_pfr only"),
    ),
    _hint(
        "romio_min_fdomain_size",
        Integer("0", 0, INT_MAX),
        "Minimum bytes per aggregator: fewer aggregators for little data",
        source="measured: 2 MiB left one of two aggregators active; searched as cb_nodes",
    ),
    _hint(
        "romio_synchronized_flush",
        OneOf("disabled", "enabled", "disabled"),
        "MPI_File_sync flushes on one rank after a barrier",
    ),
    _hint(
        "romio_visibility_immediate",
        Flag("true"),
        "Writes are visible to other ranks at once",
        source="documented: ROMIO sources of MPICH 4.1",
    ),
    _hint(
        "direct_write",
        Flag("false"),
        "O_DIRECT writes; only drivers with direct I/O honour it",
        source=f"{_GUIDE}; whether the UFS driver honours it was not tested",
    ),
    _hint(
        "direct_read",
        Flag("false"),
        "O_DIRECT reads; only drivers with direct I/O honour it",
        source=_GUIDE,
    ),
    _layout(
        "start_iodevice",
        Integer("-1, chosen by the file system", -1),
        "Index of the first target of a new file",
        applies=(when.striping_hints, when.striped),
        source=_GUIDE,
    ),
    _created(
        "overstriping_ratio",
        Integer("1; newest versions only", 1, 65535),
        "Lustre: stripes per target of a new file",
        applies=(when.romio, when.lustre),
        source="documented: sources of PnetCDF and ROMIO of 2025",
    ),
    _hint(
        "collective_buffering",
        Flag("true"),
        "OMPIO: buffering of collective calls; Open MPI 4.1 does it with false, and not with"
        " true; searched as mca.fcoll",
        stacks=("ompio",),
        applies=(when.ompio, when.several_ranks, when.collective),
        requires=when.requires_ompio,
        source="documented: MPI standard, reserved hints; measured: system writes, Open MPI 4.1.4",
    ),
    _ibm(
        "IBM_largeblock_io",
        Flag("false"),
        "GPFS: accesses are large, tokens are taken by block",
        applies=(lambda facts: "only IBM's MPI supports it",),
    ),
    _ibm(
        "bgl_nodes_pset",
        Integer("chosen by the machine", 1),
        "Blue Gene: aggregators per pset",
        applies=(lambda facts: "only Blue Gene's MPI supports it",),
    ),
    _lustre(
        "romio_lustre_co_ratio",
        Integer("1", 1, 1024),
        "Maximum aggregators per target in collective writes",
        search=SearchRange(35, 2, 4),
    ),
    _lustre(
        "romio_lustre_coll_threshold",
        Integer("0, off"),
        "Size of requests, bytes, from which they skip collective buffering",
        search=SearchRange(72),
    ),
    _lustre(
        "romio_lustre_ds_in_coll",
        OneOf("enable", "enable", "disable"),
        "Data sieving for the holes of collective writes",
        search=SearchRange(36, "disable"),
    ),
    _lustre(
        "romio_lustre_start_iodevice",
        Integer("-1, chosen by the file system", -1),
        "Index of the first target of a new file",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
    ),
    _lustre(
        "romio_lustre_cb_lock_ahead_write",
        Integer("0", 0, 1),
        "Take extent locks ahead; builds with lock-ahead only",
    ),
    _lustre(
        "romio_lustre_cb_lock_ahead_read",
        Integer("0", 0, 1),
        "Take extent locks ahead for reads; builds with lock-ahead only",
    ),
    _lustre(
        "romio_lustre_cb_lock_ahead_num_extents", Integer("500", 1), "Extents locked ahead at once"
    ),
    _lustre(
        "romio_lustre_cb_lock_ahead_flags", Integer("0"), "Flags of the requests that lock ahead"
    ),
)
