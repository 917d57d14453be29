# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hints of ROMIO's Lustre driver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._knob import Knob

_SOURCE = "documented: ROMIO sources, adio/ad_lustre/ad_lustre_hints.c"

_hint: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.MPIIO,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("romio",),
    required=when.requires_romio,
    applies=when.all_of(when.romio, when.lustre, when.collective),
    source=_SOURCE,
)

KNOBS: tuple[Knob, ...] = (
    _hint(
        key="romio_lustre_co_ratio",
        kind="int",
        minimum=1,
        maximum=1024,
        default="1",
        effect_order=35,
        rungs=when.values(2, 4),
        summary="Most aggregators per target in collective writes",
    ),
    _hint(
        key="romio_lustre_coll_threshold",
        kind="int",
        default="0, off",
        effect_order=72,
        summary="Requests of at least so many bytes skip collective buffering",
    ),
    _hint(
        key="romio_lustre_ds_in_coll",
        kind="enum",
        choices=("enable", "disable"),
        default="enable",
        effect_order=36,
        rungs=when.values("disable"),
        summary="Data sieving for the holes of collective writes",
    ),
    _hint(
        key="romio_lustre_start_iodevice",
        kind="int",
        minimum=-1,
        default="-1, chosen by the file system",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        summary="Index of the first target of a new file",
    ),
    _hint(
        key="romio_lustre_cb_lock_ahead_write",
        kind="int",
        maximum=1,
        default="0",
        summary="Take extent locks ahead; builds with lock-ahead only",
    ),
    _hint(
        key="romio_lustre_cb_lock_ahead_read",
        kind="int",
        maximum=1,
        default="0",
        summary="Take extent locks ahead for reads; builds with lock-ahead only",
    ),
    _hint(
        key="romio_lustre_cb_lock_ahead_num_extents",
        kind="int",
        minimum=1,
        default="500",
        summary="Extents locked ahead at once",
    ),
    _hint(
        key="romio_lustre_cb_lock_ahead_flags",
        kind="int",
        default="0",
        summary="Flags of the requests that lock ahead",
    ),
)
