# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A site in one file: what its batch system, MPIs and storage are, found by harmless questions."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.site._base import Answer as Answer
    from stripewise.site._base import Host as Host
    from stripewise.site._base import Probe as Probe
    from stripewise.site._host import LocalHost as LocalHost
    from stripewise.site._report import SiteReport as SiteReport
    from stripewise.site._report import check_site as check_site
    from stripewise.site._report import site_lines as site_lines
    from stripewise.site._report import write_site as write_site
    from stripewise.site.probes import all_probes as all_probes
else:
    __getattr__, __all__ = lazy_exports(__name__)
