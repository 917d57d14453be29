# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes records into the tables, and finds the jobs to which they belong."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.store._deliver import MARK as MARK
    from stripewise.centre.database.store._deliver import Delivery as Delivery
    from stripewise.centre.database.store._deliver import TakenError as TakenError
    from stripewise.centre.database.store._deliver import deliver as deliver
    from stripewise.centre.database.store._deliver import open_store as open_store
    from stripewise.centre.database.store._deliver import other_agents as other_agents
    from stripewise.centre.database.store._deliver import read_state as read_state
    from stripewise.centre.database.store._deliver import write_parts as write_parts
    from stripewise.centre.database.store._loads import Load as Load
    from stripewise.centre.database.store._loads import Template as Template
    from stripewise.centre.database.store._loads import store_job_loads as store_job_loads
    from stripewise.centre.database.store._settle import settle as settle
else:
    __getattr__, __all__ = lazy_exports(__name__)
