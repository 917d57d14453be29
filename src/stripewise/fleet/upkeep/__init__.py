# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database kept in order: its state, what is dropped with age, backups."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet.upkeep._backup import backup as backup
    from stripewise.fleet.upkeep._backup import restore as restore
    from stripewise.fleet.upkeep._prune import Pruned as Pruned
    from stripewise.fleet.upkeep._prune import prune as prune
    from stripewise.fleet.upkeep._status import Status as Status
    from stripewise.fleet.upkeep._status import status as status
else:
    __getattr__, __all__ = lazy_exports(__name__)
