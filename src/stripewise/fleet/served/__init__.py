# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What servers count for targets and jobs: stored as it comes, and given to the jobs it is of."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet._records import EventRecord as EventRecord
    from stripewise.fleet._records import SampleRecord as SampleRecord
    from stripewise.fleet.served._agents import read_state as read_state
    from stripewise.fleet.served._agents import write_parts as write_parts
    from stripewise.fleet.served._deliver import MARK as MARK
    from stripewise.fleet.served._deliver import Delivery as Delivery
    from stripewise.fleet.served._deliver import TakenError as TakenError
    from stripewise.fleet.served._deliver import deliver as deliver
    from stripewise.fleet.served._deliver import open_store as open_store
    from stripewise.fleet.served._growth import store_growth as store_growth
    from stripewise.fleet.served._keep import KEPT_LOAD_DAYS as KEPT_LOAD_DAYS
    from stripewise.fleet.served._keep import prune_loads as prune_loads
    from stripewise.fleet.served._loads import Load as Load
    from stripewise.fleet.served._loads import store_job_loads as store_job_loads
    from stripewise.fleet.served._settle import hand_over as hand_over
    from stripewise.fleet.served._settle import settle as settle
    from stripewise.fleet.served._sums import parts_of as parts_of
    from stripewise.fleet.served._tags import TagParts as TagParts
    from stripewise.fleet.served._tags import parse_tag as parse_tag
    from stripewise.fleet.served._template import Template as Template
    from stripewise.fleet.served._twice import Twice as Twice
    from stripewise.fleet.served._twice import told_twice as told_twice
else:
    __getattr__, __all__ = lazy_exports(__name__)
