# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The API for programs, version 1: the same queries and rights as the pages."""

from stripewise.web.api._base import PREFIX, Routes
from stripewise.web.api._etags import ETags
from stripewise.web.api._jobs import JobRoutes
from stripewise.web.api._storage import StorageRoutes

ROUTES: tuple[type[Routes], ...] = (JobRoutes, StorageRoutes)

__all__ = ["PREFIX", "ROUTES", "ETags", "Routes"]
