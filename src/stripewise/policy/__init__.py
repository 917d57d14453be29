# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the site and the user allow."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.policy._load import load_policy as load_policy
    from stripewise.policy._parse import parse_policy as parse_policy
    from stripewise.policy._places import SITE_DIRECTORY as SITE_DIRECTORY
    from stripewise.policy._places import SITE_POLICY as SITE_POLICY
    from stripewise.policy._places import data_directory as data_directory
    from stripewise.policy._places import has_policy as has_policy
    from stripewise.policy._places import installed_packs as installed_packs
    from stripewise.policy._places import packs_in as packs_in
    from stripewise.policy._places import site_packs as site_packs
    from stripewise.policy._places import user_directory as user_directory
    from stripewise.policy._places import user_packs as user_packs
    from stripewise.policy._places import user_policy_path as user_policy_path
    from stripewise.policy._policy import Policy as Policy
else:
    __getattr__, __all__ = lazy_exports(__name__)
