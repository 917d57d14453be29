# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of space: what is full, what will be full, and who is near a limit."""

from __future__ import annotations

from boards._board import Board, Row
from boards._common import (
    CHOOSE_FS,
    FS,
    FULL,
    MDT,
    OST,
    TARGET,
    TARGET_LINKS,
    full_share,
    inode_share,
)  # fmt: skip
from boards._panels import Column, Line, bars, figure, lines, rows
from boards._queries import Scope
from stripewise.centre.monitor import metrics as m

_S = Scope(("fs",))
_QUOTA = ("fs", "type", "id")
_FREE = _S.series(m.TARGET_AVAILABLE_BYTES, OST)
_SOON = ((7.0, "yellow"), (2.0, "red"))
_USED = m.TARGET_USED_BYTES


def _over(series: str, window: str) -> str:
    """Return series of targets over a window, whichever server had them.

    Otherwise a target that another server has taken over would have two trends, and count twice.
    """
    return f"(max by (fs, target) ({series}))[{window}:5m]"


def _days_left(by: str, window: str) -> str:
    """Return in how many days space is full if it continues to grow as in a window."""
    free = f"sum by ({by}) ({_FREE})"
    return f"{free} / (-sum by ({by}) (deriv({_over(_FREE, window)})) > 0) / 86400"


def _of_limit(used: str, limit: str) -> str:
    return f"topk(20, {used} / on (fs, type, id) ({limit} > 0))"


_HARD = 'limit="hard"'
_BYTES = _of_limit(
    _S.level(m.QUOTA_USED_BYTES, _QUOTA),
    _S.level(m.QUOTA_LIMIT_BYTES, _QUOTA, _HARD, how="max"),
)
_FILES = _of_limit(
    _S.level(m.QUOTA_USED_FILES, _QUOTA),
    _S.level(m.QUOTA_LIMIT_FILES, _QUOTA, _HARD, how="max"),
)
_TOP = (
    figure("Space left", "Space that users can still fill.",
           Line(_S.level(m.TARGET_AVAILABLE_BYTES, FS, OST), "{{fs}}"), "bytes", width=8),
    figure("Growth in a day", "How fast the space in use grows, by the trend of the last day.",
           Line(f"sum by (fs) (deriv({_over(_S.series(_USED, OST), '1d')})) * 86400", "{{fs}}"),
           "bytes", width=8),
    figure("Days until full", "By the trend of the last day. Without a number the file "
           "system does not grow. Take it as a warning, not as a date.",
           Line(_days_left("fs", "1d"), "{{fs}}"), "none", width=8, empty="does not grow"),
    bars("Space in use", "Share of the space that is not left to users.",
         Line(full_share(_S, FS, OST), "{{fs}}"), "percentunit", steps=FULL, most=1),
    bars("Inodes in use", "Share of the inodes of the metadata targets that is in use.",
         Line(inode_share(_S, FS, MDT), "{{fs}}"), "percentunit", steps=FULL, most=1),
    lines("Space over time", "Space in use, its size, and where the trend of the last six hours "
          "would be in a week.",
          [Line(_S.level(_USED, FS, OST), "{{fs}} in use"),
           Line(_S.level(m.TARGET_TOTAL_BYTES, FS, OST), "{{fs}} size"),
           Line(f"sum by (fs) (predict_linear({_over(_S.series(_USED, OST), '6h')}, 604800))",
                "{{fs}} in a week")], "bytes"),
    lines("Spread over targets", "Fullest and emptiest storage target. A wide spread makes new "
          "files unevenly placed.",
          [Line(f"max by (fs) ({full_share(_S, TARGET, OST)})", "{{fs}} fullest"),
           Line(f"min by (fs) ({full_share(_S, TARGET, OST)})", "{{fs}} emptiest")],
          "percentunit", steps=FULL, most=1),
    rows("Targets", "Space of each target, the fullest first.",
         [Column("in use", full_share(_S, TARGET), "percentunit", FULL),
          Column("left", _S.level(m.TARGET_AVAILABLE_BYTES, TARGET), "bytes"),
          Column("free, with what is reserved", _S.level(m.TARGET_FREE_BYTES, TARGET),
                 "bytes"),
          Column("days until full", _days_left("fs, target", "1d"), "none"),
          Column("inodes in use", inode_share(_S, TARGET), "percentunit", FULL),
          Column("inodes free", _S.level(m.TARGET_FREE_FILES, TARGET), "short")],
         links=TARGET_LINKS, height=10),
)  # fmt: skip
_QUOTAS = (
    rows("Nearest to their limit of space", "Space in use by the hard limit, by user, group and "
         "project number.", [Column("of the limit", _BYTES, "percentunit", FULL)], links={},
         width=12),
    rows("Nearest to their limit of inodes", "Inodes in use by the hard limit.",
         [Column("of the limit", _FILES, "percentunit", FULL)], links={}, width=12),
    rows("Largest owners", "Space by user, group and project number.",
         [Column("space", f"topk(20, {_S.level(m.QUOTA_USED_BYTES, _QUOTA)})", "bytes")],
         links={}, width=12),
    rows("Owners of most inodes", "Inodes by user, group and project number.",
         [Column("inodes", f"topk(20, {_S.level(m.QUOTA_USED_FILES, _QUOTA)})", "short")],
         links={}, width=12),
)  # fmt: skip

CAPACITY = Board(
    "capacity", "capacity",
    "What is full, what will be full and when, and who is near a limit?",
    (CHOOSE_FS,), (Row("", _TOP), Row("Quotas", _QUOTAS, False)), hours=24 * 7,
)  # fmt: skip
