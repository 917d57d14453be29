# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO's hints: MPICH and its kin, and Open MPI when told to use ROMIO.

Defaults: printed by ROMIO_PRINT_HINTS=1 under MPICH 4.0.2 and Open MPI 4.1.4 (romio321).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._conditions import KIB, MIB
from stripewise.tunables._knob import Knob

_PRINTED = "measured: ROMIO_PRINT_HINTS=1, MPICH 4.0.2"
_GUIDE = "documented: ROMIO user's guide, section Hints"
_THREE = ("enable", "disable", "automatic")

_hint: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.MPIIO,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("romio", "cray"),
    required=when.requires_romio,
    applies=when.romio,
)


def _spread(value: Value, facts: ProgramFacts | None) -> Mapping[str, Value]:
    """Let as many aggregators stand on each host as the count needs.

    ROMIO's own default, `*:1`, allows one a host whatever cb_nodes says (measured).
    """
    hosts = facts.n_hosts if facts else 1
    if hosts <= 1 or not isinstance(value, int):
        return {"mpiio.cb_config_list": "*:*"}
    return {"mpiio.cb_config_list": f"*:{-(-value // hosts)}"}


KNOBS: tuple[Knob, ...] = (
    _hint(
        key="romio_ds_write",
        kind="enum",
        choices=_THREE,
        default="automatic",
        effect_order=20,
        rungs=when.values("disable"),
        applies=when.all_of(when.romio, when.written, when.noncontiguous),
        summary="Data sieving in writes with holes: read, modify, write back under a lock",
        source=f"{_PRINTED}; system writes traced: 512 KiB pieces, or 4 KiB ones if disabled",
    ),
    _hint(
        key="romio_cb_write",
        kind="enum",
        choices=_THREE,
        default="automatic",
        effect_order=21,
        rungs=when.values("enable", "disable"),
        applies=when.all_of(when.romio, when.several_ranks, when.written, when.collective),
        summary="Two-phase buffering of collective writes; automatic: where ranges interleave",
        source=f"{_PRINTED}; acts on collective calls only (system writes traced)",
    ),
    _hint(
        key="romio_ds_read",
        kind="enum",
        choices=_THREE,
        default="automatic",
        effect_order=24,
        rungs=when.values("disable"),
        applies=when.all_of(when.romio, when.mpiio_read, when.noncontiguous),
        summary="Data sieving in reads with holes: read more than asked, pick out",
        source=_PRINTED,
    ),
    _hint(
        key="romio_cb_read",
        kind="enum",
        choices=_THREE,
        default="automatic",
        effect_order=25,
        rungs=when.values("enable", "disable"),
        applies=when.all_of(when.romio, when.several_ranks, when.mpiio_read, when.collective),
        summary="Two-phase buffering of collective reads; automatic: where ranges interleave",
        source=_PRINTED,
    ),
    _hint(
        key="cb_nodes",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        default="ROMIO: one a host; Cray: the stripe count; OMPIO: automatic",
        effect_order=30,
        rungs=when.aggregators,
        applies=when.all_of(when.mpiio, when.several_ranks, when.collective),
        implied=_spread,
        required=lambda facts: {},
        stacks=("romio", "ompio", "cray"),
        summary="Aggregators: ranks that do the file access of collective calls",
        source=f"{_PRINTED}; acts in ROMIO with cb_config_list, and in OMPIO 4.1.4 (traced)",
    ),
    _hint(
        key="cb_buffer_size",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="ROMIO 16 MiB; OMPIO 32 MiB",
        effect_order=40,
        rungs=when.buffer_sizes(16 * MIB, (64 * MIB, 256 * MIB), (4 * MIB, 1 * MIB)),
        applies=when.all_of(when.mpiio, when.several_ranks, when.collective),
        required=lambda facts: {},
        stacks=("romio", "ompio", "cray"),
        summary="Bytes that an aggregator moves in one round (ROMIO's Lustre driver: ignored)",
        source=f"{_PRINTED}; acts in ROMIO's UFS driver and in OMPIO 4.1.4 (traced)",
    ),
    _hint(
        key="ind_wr_buffer_size",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="512 KiB",
        effect_order=41,
        rungs=when.buffer_sizes(512 * KIB, (4 * MIB, 16 * MIB, 64 * MIB), ()),
        applies=when.all_of(when.romio, when.written, when.noncontiguous),
        summary="Bytes that data sieving writes at once",
        source=f"{_PRINTED}; sizes of system writes traced",
    ),
    _hint(
        key="ind_rd_buffer_size",
        kind="int",
        minimum=4 * KIB,
        maximum=2**31 - 1,
        default="4 MiB",
        effect_order=42,
        rungs=when.buffer_sizes(4 * MIB, (16 * MIB, 64 * MIB), (1 * MIB,)),
        applies=when.all_of(when.romio, when.mpiio_read, when.noncontiguous),
        summary="Bytes that data sieving reads at once",
        source=_PRINTED,
    ),
    _hint(
        key="striping_unit",
        kind="int",
        minimum=4 * KIB,
        maximum=2**32 - 1,
        default="that of the directory; without stripes 0",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        effect_order=45,
        rungs=when.values(1 * MIB, 4 * MIB),
        applies=when.all_of(when.romio, when.several_ranks, when.collective),
        summary="Stripe size of a new file; everywhere, what aggregators' shares are aligned to",
        source="measured: 4 MiB on 4 ranks moved the system writes of MPICH; else documented",
    ),
    _hint(
        key="striping_factor",
        kind="int",
        minimum=-1,
        maximum=65535,
        default="that of the directory",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        effect_order=12,
        stacks=("romio", "cray"),
        rungs=when.values(4, 16, -1),
        applies=when.all_of(when.romio, when.written, when.striped),
        summary="Number of stripes (targets) of a new file",
        source=f"{_GUIDE}; needs a driver for the file system",
    ),
    _hint(
        key="romio_no_indep_rw",
        kind="bool",
        default="false",
        effect_order=70,
        rungs=lambda facts: () if facts.independent_bytes else (True,),
        applies=when.all_of(when.romio, when.several_ranks, when.collective),
        summary="Only aggregators open the file; forces collective buffering on",
        source=f"{_PRINTED}; independent calls still work (traced)",
    ),
    _hint(
        key="cb_config_list",
        kind="text",
        pattern=r"[^\s:,]+(:(\d+|\*))?(,[^\s:,]+(:(\d+|\*))?)*",
        example="*:2",
        default="*:1",
        summary="How many aggregators a host may have; set with cb_nodes",
        source=f"{_PRINTED}; {_GUIDE}",
    ),
    _hint(
        key="romio_cb_pfr",
        kind="enum",
        choices=_THREE,
        default="disable",
        rungs=when.values("enable"),
        applies=when.all_of(when.romio, when.several_ranks, when.collective),
        by_name="a seldom used code path",
        summary="Persistent file realms: aggregators keep their shares between calls",
        source=_PRINTED,
    ),
    _hint(
        key="romio_cb_fr_types",
        kind="text",
        default="aar",
        pattern=r"aar|fsr|[0-9]+",
        example="aar",
        summary="Type of file realms; with romio_cb_pfr only",
        source=_PRINTED,
    ),
    _hint(
        key="romio_cb_fr_alignment",
        kind="int",
        minimum=1,
        default="1",
        summary="Alignment of file realms, bytes; with romio_cb_pfr only",
        source=_PRINTED,
    ),
    _hint(
        key="romio_cb_ds_threshold",
        kind="int",
        default="0",
        summary="Extent per piece, bytes, below which pieces are sieved; with romio_cb_pfr only",
        source=_PRINTED,
    ),
    _hint(
        key="romio_cb_alltoall",
        kind="enum",
        choices=_THREE,
        default="automatic",
        rungs=when.values("enable", "disable"),
        applies=when.all_of(when.romio, when.several_ranks, when.collective),
        by_name="it acts with romio_cb_pfr only",
        summary="Exchange of collective buffering by MPI_Alltoallv instead of point to point",
        source=_PRINTED,
    ),
    _hint(
        key="romio_min_fdomain_size",
        kind="int",
        default="0",
        maximum=2**31 - 1,
        summary="Least bytes of an aggregator's share: fewer aggregators for little data",
        source="measured: 2 MiB left one of two aggregators active; searched as cb_nodes",
    ),
    _hint(
        key="romio_synchronized_flush",
        kind="enum",
        choices=("enabled", "disabled"),
        default="disabled",
        summary="MPI_File_sync flushes on one rank after a barrier",
        source=_PRINTED,
    ),
    _hint(
        key="romio_visibility_immediate",
        kind="bool",
        default="true",
        summary="Writes are visible to other ranks at once",
        source="documented: ROMIO sources of MPICH 4.1",
    ),
    _hint(
        key="direct_write",
        kind="bool",
        default="false",
        summary="O_DIRECT writes; only drivers with direct I/O honour it",
        source=f"{_GUIDE}; whether the UFS driver honours it was not looked at",
    ),
    _hint(
        key="direct_read",
        kind="bool",
        default="false",
        summary="O_DIRECT reads; only drivers with direct I/O honour it",
        source=_GUIDE,
    ),
    _hint(
        key="start_iodevice",
        kind="int",
        minimum=-1,
        default="-1, chosen by the file system",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        applies=when.all_of(when.romio, when.striped),
        summary="Index of the first target of a new file",
        source=_GUIDE,
    ),
    _hint(
        key="overstriping_ratio",
        kind="int",
        minimum=1,
        maximum=65535,
        default="1; newest versions only",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        applies=when.all_of(when.romio, when.lustre),
        summary="Lustre: stripes per target of a new file",
        source="documented: sources of PnetCDF and ROMIO of 2025",
    ),
    _hint(
        key="collective_buffering",
        kind="bool",
        default="true",
        stacks=("ompio",),
        applies=when.all_of(when.ompio, when.several_ranks, when.collective),
        required=when.requires_ompio,
        summary="OMPIO: two-phase buffering of collective calls; searched as mca.fcoll",
        source="documented: MPI standard, reserved hints; Open MPI sources, common/ompio",
    ),
    _hint(
        key="IBM_largeblock_io",
        kind="bool",
        default="false",
        applies=lambda facts: "only IBM's MPI knows it",
        stacks=("ibm",),
        summary="GPFS: accesses are large, tokens are taken by block",
        source="documented: H5Tuner sets it; assumed otherwise",
    ),
    _hint(
        key="bgl_nodes_pset",
        kind="int",
        minimum=1,
        default="chosen by the machine",
        applies=lambda facts: "only Blue Gene's MPI knows it",
        stacks=("ibm",),
        summary="Blue Gene: aggregators per pset",
        source="documented: H5Tuner sets it; assumed otherwise",
    ),
)
