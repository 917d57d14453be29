# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hints of ROMIO's Lustre driver."""

from __future__ import annotations

from functools import partial

from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass, Search, Tunable
from stripewise.tunables._domains import Integer, OneOf

_SOURCE = "documented: ROMIO sources, adio/ad_lustre/ad_lustre_hints.c"

_hint = partial(
    Tunable,
    layer=Layer.MPIIO,
    acts_at=ActsAt.OPEN,
    stacks=("romio",),
    requires=when.requires_romio,
    applies=(when.romio, when.lustre, when.collective),
    source="documented: ROMIO sources, adio/ad_lustre/ad_lustre_hints.c",
)

TUNABLES = (
    _hint(
        "romio_lustre_co_ratio",
        Integer("1", 1, 1024),
        "Most aggregators per target in collective writes",
        search=Search(35, 2, 4),
    ),
    _hint(
        "romio_lustre_coll_threshold",
        Integer("0, off"),
        "Requests of at least so many bytes skip collective buffering",
        search=Search(72),
    ),
    _hint(
        "romio_lustre_ds_in_coll",
        OneOf("enable", "enable", "disable"),
        "Data sieving for the holes of collective writes",
        search=Search(36, "disable"),
    ),
    _hint(
        "romio_lustre_start_iodevice",
        Integer("-1, chosen by the file system", -1),
        "Index of the first target of a new file",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
    ),
    _hint(
        "romio_lustre_cb_lock_ahead_write",
        Integer("0", 0, 1),
        "Take extent locks ahead; builds with lock-ahead only",
    ),
    _hint(
        "romio_lustre_cb_lock_ahead_read",
        Integer("0", 0, 1),
        "Take extent locks ahead for reads; builds with lock-ahead only",
    ),
    _hint(
        "romio_lustre_cb_lock_ahead_num_extents", Integer("500", 1), "Extents locked ahead at once"
    ),
    _hint(
        "romio_lustre_cb_lock_ahead_flags", Integer("0"), "Flags of the requests that lock ahead"
    ),
)
