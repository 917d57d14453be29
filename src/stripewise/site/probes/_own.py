# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of Stripewise is here: version, runtime library, policy, descriptions of storage."""

from __future__ import annotations

from stripewise import __version__
from stripewise.machines import known_storages
from stripewise.policy import SITE_DIRECTORY, SITE_POLICY, installed_packs, user_policy_path
from stripewise.site._base import Host, Probe, Section


class OwnProbe(Probe):
    """Stripewise's own files."""

    name = "stripewise"
    summary = "version, runtime library, policy, descriptions of storage"

    def run(self, host: Host) -> Section:
        """Look at the places of the site and of the user."""
        policy = host.read(str(SITE_POLICY))
        known = known_storages()
        return {
            "version": __version__,
            "runtime_library": host.runtime_library(),
            "site_directory": str(SITE_DIRECTORY),
            "site_policy": policy[:16000],
            "user_policy": bool(host.read(str(user_policy_path()))),
            "descriptions": [one.storage.name for one in known.found],
            "description_problems": list(known.problems),
            "packs": len(installed_packs()),
        }
