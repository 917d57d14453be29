# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the statistics database; the migrations make them."""

from stripewise.fleet.tables._access import (
    Audit,
    Ledger,
    LoginAttempt,
    Principal,
    SeenFile,
    Session,
    Token,
)
from stripewise.fleet.tables._base import Base, Reasons
from stripewise.fleet.tables._jobs import (
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    PairedRun,
    SettingRow,
)
from stripewise.fleet.tables._people import Cluster, Member, Person, PersonUid, Program, Project
from stripewise.fleet.tables._served import JobLoad, JobServed, JobTag, MonitorState
from stripewise.fleet.tables._storage import (
    CampaignFigure,
    CampaignRow,
    Event,
    FileSystem,
    Rollup,
    Sample,
    Series,
)

__all__ = [
    "Audit",
    "Base",
    "CampaignFigure",
    "CampaignRow",
    "Cluster",
    "Event",
    "FileSystem",
    "FindingRow",
    "Job",
    "JobFile",
    "JobIo",
    "JobLoad",
    "JobPattern",
    "JobServed",
    "JobSource",
    "JobTag",
    "Ledger",
    "LoginAttempt",
    "Member",
    "MonitorState",
    "PairedRun",
    "Person",
    "PersonUid",
    "Principal",
    "Program",
    "Project",
    "Reasons",
    "Rollup",
    "Sample",
    "SeenFile",
    "Series",
    "Session",
    "SettingRow",
    "Token",
]
