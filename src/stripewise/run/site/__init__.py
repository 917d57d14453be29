# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks an installation on this machine (doctor), and reports on a whole site."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.site._base import Check as Check
    from stripewise.run.site._base import CheckStatus as CheckStatus
    from stripewise.run.site._base import Host as Host
    from stripewise.run.site._base import LocalHost as LocalHost
    from stripewise.run.site._base import Probe as Probe
    from stripewise.run.site._doctor import run_doctor as run_doctor
    from stripewise.run.site._probes import all_probes as all_probes
    from stripewise.run.site._report import SiteReport as SiteReport
    from stripewise.run.site._report import check_site as check_site
    from stripewise.run.site._report import site_lines as site_lines
    from stripewise.run.site._report import write_site as write_site
else:
    __getattr__, __all__ = lazy_exports(__name__)
