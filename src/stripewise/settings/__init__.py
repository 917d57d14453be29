# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what can be set: tunables, formats of configurations, and policies."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.settings._policy import Policy as Policy
    from stripewise.settings._policy import load_policy as load_policy
    from stripewise.settings._policy_text import parse_policy as parse_policy
    from stripewise.settings._report import configuration_document as configuration_document
    from stripewise.settings._report import configuration_json as configuration_json
    from stripewise.settings._report import configuration_lines as configuration_lines
    from stripewise.settings._report import effective_json as effective_json
    from stripewise.settings._report import effective_lines as effective_lines
    from stripewise.settings._report import tunable_json as tunable_json
    from stripewise.settings._report import tunable_lines as tunable_lines
    from stripewise.settings._report import tunables_lines as tunables_lines
else:
    __getattr__, __all__ = lazy_exports(__name__)
