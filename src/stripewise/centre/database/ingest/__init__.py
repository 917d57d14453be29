# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads inputs of all kinds, Slurm's records among them, into the database."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.ingest._ingest import IngestOptions as IngestOptions
    from stripewise.centre.database.ingest._ingest import Tally as Tally
    from stripewise.centre.database.ingest._ingest import ingest as ingest
    from stripewise.centre.database.ingest._ingest import watch as watch
    from stripewise.centre.database.ingest._ledger import SlurmIntake as SlurmIntake
    from stripewise.centre.database.ingest._ledger import next_window as next_window
    from stripewise.centre.database.ingest._ledger import take_jobs as take_jobs
    from stripewise.centre.database.ingest._report import leave_report as leave_report
    from stripewise.centre.database.ingest._report import report_of as report_of
    from stripewise.centre.database.ingest._sacct import parse_sacct as parse_sacct
    from stripewise.centre.database.ingest._sacct import read_sacct as read_sacct
else:
    __getattr__, __all__ = lazy_exports(__name__)
