# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a library can be preloaded, tried with a program that prints what it has mapped."""

from __future__ import annotations

import re

from stripewise.site._base import Host, Probe, Section

_LIBRARY = re.compile(r"/\S*/lib(?:m|dl|z|util)[-.]\S*so\S*")


class PreloadProbe(Probe):
    """`LD_PRELOAD=LIBRARY cat /proc/self/maps`."""

    name = "preload"
    summary = "a library preloaded into cat"

    def run(self, host: Host) -> Section:
        """Preload the runtime library; where it is not built, a library of the system."""
        own = host.runtime_library()
        library = own or _system_library(host.read("/proc/self/maps"))
        found: Section = {"set_before": host.environment.get("LD_PRELOAD", "")}
        if not library:
            return {**found, "works": None, "problem": "no library to try it with"}
        answer = host.ask("cat", "/proc/self/maps", variables={"LD_PRELOAD": library})
        works = answer.ok and library in answer.text
        return {**found, "own_library": bool(own), "works": works, **answer.failure()}


def _system_library(maps: str) -> str:
    found = _LIBRARY.search(maps)
    return found.group() if found else ""
