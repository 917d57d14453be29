# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Maintains the database: status, backups, anonymous copies, and deletion of old rows."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.upkeep._backup import KEPT_LOAD_DAYS as KEPT_LOAD_DAYS
    from stripewise.centre.database.upkeep._backup import backup as backup
    from stripewise.centre.database.upkeep._backup import prune as prune
    from stripewise.centre.database.upkeep._backup import restore as restore
    from stripewise.centre.database.upkeep._export import anonymise as anonymise
    from stripewise.centre.database.upkeep._export import export as export
    from stripewise.centre.database.upkeep._status import Status as Status
    from stripewise.centre.database.upkeep._status import status as status
else:
    __getattr__, __all__ = lazy_exports(__name__)
