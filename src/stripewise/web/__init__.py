# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The portal: pages for people, data for machines, over the statistics database."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.web._app import create_app as create_app
    from stripewise.web._gate import Gate as Gate
    from stripewise.web._gate import Guest as Guest
    from stripewise.web._gate import PortalGate as PortalGate
    from stripewise.web._server import make_room as make_room
    from stripewise.web._server import make_server as make_server
    from stripewise.web._settings import PortalSettings as PortalSettings
    from stripewise.web._settings import ServerSettings as ServerSettings
    from stripewise.web._settings import SiteSettings as SiteSettings
    from stripewise.web._workers import Workers as Workers
    from stripewise.web.logins import read_settings as read_settings
else:
    __getattr__, __all__ = lazy_exports(__name__)
