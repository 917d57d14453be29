# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan: loaded, its tools, where its logs go."""

from __future__ import annotations

from stripewise.site._base import Host, Probe, Section

_TOOLS = ("darshan-config", "darshan-parser", "darshan-dxt-parser")
_VARIABLES = ("DXT_ENABLE_IO_TRACE", "DXT_TRIGGER_CONF_PATH", "LD_PRELOAD")


class DarshanProbe(Probe):
    """Modules, variables, `darshan-config --log-path`."""

    name = "darshan"
    summary = "Darshan's module, tools and place of logs"

    def run(self, host: Host) -> Section:
        """Read the environment, ask darshan-config."""
        modules = host.environment.get("LOADEDMODULES", "").split(":")
        variables = {
            key: value
            for key, value in sorted(host.environment.items())
            if key in _VARIABLES or key.startswith("DARSHAN")
        }
        found: Section = {
            "modules": [word for word in modules if "darshan" in word.lower()],
            "variables": variables,
            "tools": [name for name in _TOOLS if host.which(name)],
        }
        if host.which("darshan-config"):
            answer = host.ask("darshan-config", "--log-path")
            path = answer.text.strip()
            found["log_path"] = {"path": path, **answer.failure()}
            if path.startswith("/"):
                found["log_path"]["there"] = host.ask("ls", "-d", path).ok
        return found
