# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the portal: each makes its content from the database for one viewer."""

from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._registry import MENU, PAGES

__all__ = ["MENU", "PAGES", "Asked", "Audience", "Page"]
