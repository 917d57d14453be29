# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from support.databases import (  # noqa: F401  # fixtures
    connection,
    empty_engine,
    engine,
    postgres_template,
    sqlite_template,
)
