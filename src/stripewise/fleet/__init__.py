# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database: jobs and what is known of their I/O, for a whole centre."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet._anonymous import anonymise as anonymise
    from stripewise.fleet._engine import create_engine as create_engine
    from stripewise.fleet._engine import database_url as database_url
    from stripewise.fleet._engine import shown as shown
    from stripewise.fleet._engine import sqlite_file as sqlite_file
    from stripewise.fleet._engine import str_of as str_of
    from stripewise.fleet._engine import transaction as transaction
    from stripewise.fleet._export import export as export
    from stripewise.fleet._schema import check as check
    from stripewise.fleet._schema import initialise as initialise
    from stripewise.fleet._spool import leave_report as leave_report
    from stripewise.fleet._spool import report_of as report_of
else:
    __getattr__, __all__ = lazy_exports(__name__)
