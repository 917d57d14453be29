# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hints that only Cray MPICH knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._knob import Knob

_hint: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.MPIIO,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("cray",),
    applies=when.all_of(when.cray, when.collective),
    source="documented: Cray MPICH, intro_mpi(3) and MPICH_MPIIO_HINTS_DISPLAY=1",
)

KNOBS: tuple[Knob, ...] = (
    _hint(
        key="cray_cb_nodes_multiplier",
        kind="int",
        minimum=1,
        maximum=1024,
        default="1",
        effect_order=31,
        rungs=when.values(2, 4),
        applies=when.all_of(when.cray, when.collective, when.lustre),
        summary="Aggregators per stripe",
    ),
    _hint(
        key="cray_cb_write_lock_mode",
        kind="int",
        maximum=2,
        default="0",
        effect_order=32,
        rungs=when.values(2),
        applies=when.all_of(when.cray, when.collective, when.lustre, when.written),
        summary="0 extent locks; 1 one lock for all writers (collective only); 2 lock ahead",
    ),
    _hint(
        key="aggregator_placement_stride",
        kind="int",
        minimum=-1,
        default="-1, one a host in turn",
        summary="Distance in ranks between aggregators",
    ),
    _hint(
        key="cb_align",
        kind="int",
        maximum=3,
        default="2",
        summary="Algorithm that aligns aggregators' shares to stripes",
    ),
    _hint(
        key="direct_io",
        kind="bool",
        default="false",
        summary="O_DIRECT in collective calls",
    ),
    _hint(
        key="abort_on_rw_error",
        kind="enum",
        choices=("enable", "disable"),
        default="disable",
        summary="End the program at a failed read or write instead of returning an error",
    ),
    _hint(
        key="cray_fileoff_based_aggr",
        kind="bool",
        default="false",
        summary="Aggregators' shares by file offset",
    ),
)
