# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the statistics database: the jobs of a whole centre and what is known of their I/O."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database._engine import create_engine as create_engine
    from stripewise.centre.database._engine import database_url as database_url
    from stripewise.centre.database._engine import shown as shown
    from stripewise.centre.database._engine import sqlite_file as sqlite_file
    from stripewise.centre.database._engine import transaction as transaction
    from stripewise.centre.database._engine import url_text as url_text
    from stripewise.centre.database._records import EventRecord as EventRecord
    from stripewise.centre.database._records import Parsed as Parsed
    from stripewise.centre.database._records import SampleRecord as SampleRecord
    from stripewise.centre.database._schema import check as check
    from stripewise.centre.database._schema import initialise as initialise
else:
    __getattr__, __all__ = lazy_exports(__name__)
