# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the portal: each builds its blocks from the database for one viewer."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.portal.pages._base import Asked as Asked
    from stripewise.centre.portal.pages._base import Page as Page
else:
    __getattr__, __all__ = lazy_exports(__name__)
