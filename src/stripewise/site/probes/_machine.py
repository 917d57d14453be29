# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The host itself."""

from __future__ import annotations

import platform

from stripewise.site._base import Host, Probe, Section

_RELEASE_KEYS = ("NAME", "VERSION_ID", "PRETTY_NAME")
_CRAY_FILES = ("/etc/opt/cray/release/cle-release", "/etc/cray-release/cle-release")


class MachineProbe(Probe):
    """Kernel, distribution, Python, Cray's release."""

    name = "machine"
    summary = "kernel, distribution, Python, processors"

    def run(self, host: Host) -> Section:
        """Ask `uname`, and read what the distribution says of itself."""
        kernel = host.ask("uname", "-srm")
        release = _pairs(host.read("/etc/os-release"))
        cray = next(filter(None, (host.read(path).strip() for path in _CRAY_FILES)), "")
        processors = host.ask("nproc")
        return {
            "kernel": kernel.text.strip(),
            "distribution": {key: release[key] for key in _RELEASE_KEYS if key in release},
            "cray_release": cray[:500],
            "processors": int(processors.text) if processors.text.strip().isdigit() else None,
            "python": platform.python_version(),
        }


def _pairs(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value.strip('"') for key, equals, value in pairs if equals}
