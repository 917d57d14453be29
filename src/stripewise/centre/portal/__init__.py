# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Serves the portal: pages for people and an API for programs, over the statistics database."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.portal._app import create_app as create_app
    from stripewise.centre.portal._client import Portal as Portal
    from stripewise.centre.portal._client import PortalError as PortalError
    from stripewise.centre.portal._gate import Gate as Gate
    from stripewise.centre.portal._gate import Guest as Guest
    from stripewise.centre.portal._serve_page import PAGES as PAGES
    from stripewise.centre.portal._server import connection_limits as connection_limits
    from stripewise.centre.portal._server import make_server as make_server
    from stripewise.centre.portal._settings import PortalSettings as PortalSettings
    from stripewise.centre.portal._settings import ServerSettings as ServerSettings
    from stripewise.centre.portal._settings import read_settings as read_settings
    from stripewise.centre.portal._workers import Workers as Workers
else:
    __getattr__, __all__ = lazy_exports(__name__)
