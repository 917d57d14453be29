# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the hints that only Cray MPICH supports."""

from __future__ import annotations

from functools import partial

from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    ActsAt,
    Flag,
    Integer,
    Layer,
    OneOf,
    SearchRange,
    Tunable,
)

_hint = partial(
    Tunable,
    layer=Layer.MPIIO,
    acts_at=ActsAt.OPEN,
    stacks=("cray",),
    applies=(when.mpiio, when.cray, when.collective),
    source="documented: Cray MPICH, intro_mpi(3) and MPICH_MPIIO_HINTS_DISPLAY=1",
)

TUNABLES = (
    _hint(
        "cray_cb_nodes_multiplier",
        Integer("1", 1, 1024),
        "Aggregators per stripe",
        search=SearchRange(31, 2, 4),
        applies=(when.mpiio, when.cray, when.collective, when.lustre),
    ),
    _hint(
        "cray_cb_write_lock_mode",
        Integer("0", 0, 2),
        "0 extent locks; 1 one lock for all writers (collective only); 2 lock ahead",
        search=SearchRange(32, 2),
        applies=(when.mpiio, when.cray, when.collective, when.lustre, when.written),
    ),
    _hint(
        "aggregator_placement_stride",
        Integer("-1, one a host in turn", -1),
        "Distance in ranks between aggregators",
    ),
    _hint("cb_align", Integer("2", 0, 3), "Algorithm that aligns aggregators' shares to stripes"),
    _hint("direct_io", Flag("false"), "O_DIRECT in collective calls"),
    _hint(
        "abort_on_rw_error",
        OneOf("disable", "enable", "disable"),
        "End the program at a failed read or write instead of returning an error",
    ),
    _hint("cray_fileoff_based_aggr", Flag("false"), "Aggregators' shares by file offset"),
)
