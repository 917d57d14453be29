# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tools that show and set how files are striped, and those of storage tiers."""

from __future__ import annotations

from stripewise.site._base import Host, Probe, Section

TOOLS = {
    "lfs": ("--version",),
    "beegfs-ctl": (),
    "mmlsattr": (),
    "dwstat": (),
    "dwcli": (),
    "flux": ("--version",),
    "strace": ("-V",),
}
"""Program to the words that make it print its version and do nothing else; none: only found."""


class ToolsProbe(Probe):
    """Which tools are there, with their versions."""

    name = "tools"
    summary = "striping tools and those of storage tiers"

    def run(self, host: Host) -> Section:
        """Look on PATH."""
        found: Section = {}
        for name, words in TOOLS.items():
            path = host.which(name)
            if not path:
                found[name] = {"found": False}
                continue
            answer = host.ask(name, *words) if words else None
            version = answer.text.partition("\n")[0] if answer else ""
            problem = answer.failure() if answer else {}
            found[name] = {"found": True, "path": path, "version": version, **problem}
        return found
