# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Declares the tables of the statistics database."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.tables._access import Audit as Audit
    from stripewise.centre.database.tables._access import Ledger as Ledger
    from stripewise.centre.database.tables._access import LoginAttempt as LoginAttempt
    from stripewise.centre.database.tables._access import Principal as Principal
    from stripewise.centre.database.tables._access import Session as Session
    from stripewise.centre.database.tables._access import Token as Token
    from stripewise.centre.database.tables._base import Base as Base
    from stripewise.centre.database.tables._jobs import Cluster as Cluster
    from stripewise.centre.database.tables._jobs import FindingRow as FindingRow
    from stripewise.centre.database.tables._jobs import Job as Job
    from stripewise.centre.database.tables._jobs import JobFile as JobFile
    from stripewise.centre.database.tables._jobs import JobIo as JobIo
    from stripewise.centre.database.tables._jobs import JobPattern as JobPattern
    from stripewise.centre.database.tables._jobs import JobSource as JobSource
    from stripewise.centre.database.tables._jobs import Member as Member
    from stripewise.centre.database.tables._jobs import PairedRun as PairedRun
    from stripewise.centre.database.tables._jobs import Person as Person
    from stripewise.centre.database.tables._jobs import PersonUid as PersonUid
    from stripewise.centre.database.tables._jobs import Program as Program
    from stripewise.centre.database.tables._jobs import Project as Project
    from stripewise.centre.database.tables._jobs import SettingRow as SettingRow
    from stripewise.centre.database.tables._storage import CampaignFigure as CampaignFigure
    from stripewise.centre.database.tables._storage import CampaignRow as CampaignRow
    from stripewise.centre.database.tables._storage import Event as Event
    from stripewise.centre.database.tables._storage import FileSystem as FileSystem
    from stripewise.centre.database.tables._storage import JobLoad as JobLoad
    from stripewise.centre.database.tables._storage import JobServed as JobServed
    from stripewise.centre.database.tables._storage import JobTag as JobTag
    from stripewise.centre.database.tables._storage import MonitorState as MonitorState
    from stripewise.centre.database.tables._storage import Rollup as Rollup
    from stripewise.centre.database.tables._storage import Sample as Sample
    from stripewise.centre.database.tables._storage import Series as Series
else:
    __getattr__, __all__ = lazy_exports(__name__)
