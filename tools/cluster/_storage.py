# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The emulated storages of the test cluster: a parallel file system and a burst buffer."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from _config import Settings

POOL = "wlm_pool"
LUSTRE_RELEASE = "2.15"
"""Release whose output formats `lctl` prints."""
LUSTRE, BURST_BUFFER = "shaheen2-lustre", "shaheen2-datawarp"
_GRANULARITY = re.compile(r'(granularity = \{ value = )"[^"]*"')
_TARGETS = re.compile(r"(\[servers\]\ntargets = \{ value = )[0-9]+")


def write_descriptions(settings: Settings) -> None:
    """Write the description of the burst buffer with the pool's granularity and nodes."""
    preset = files("stripewise.storage.machines").joinpath("presets", f"{BURST_BUFFER}.toml")
    text = preset.read_text(encoding="utf-8")
    text = _GRANULARITY.sub(rf'\g<1>"{settings.granularity_bytes} B"', text)
    text = _TARGETS.sub(rf"\g<1>{settings.bb_nodes}", text)
    (settings.path / "burst-buffer.toml").write_text(text, encoding="utf-8")


def make_scratch_clocks(settings: Settings) -> None:
    """Make the scratch directory a parallel file system, whose servers `bin/lctl` simulates."""
    from lctl import write_lctl

    clocks = settings.path / "clocks" / "scratch"
    _make(settings, LUSTRE, settings.path / "scratch", clocks)
    write_lctl(settings.path / "bin" / "lctl", clocks, LUSTRE_RELEASE)


def make_session_clocks(
    settings: Settings, directory: Path, path: Path, nodes: int, *, private: bool
) -> None:
    """Make a session's directory a burst buffer with a number of nodes."""
    capacity = nodes * settings.granularity_bytes
    description = str(settings.path / "burst-buffer.toml")
    _make(settings, description, directory, path, capacity, private)


def _make(
    settings: Settings,
    machine: str,
    root: Path,
    path: Path,
    capacity_bytes: int = 0,
    private: bool = False,
) -> None:
    from stripewise.storage.emulation import EmulatedStorage, EmulationOptions, make_clocks

    options = EmulationOptions(
        machine=f"{machine}@1/{settings.slowdown}",
        ranks_per_node=1,
        capacity_bytes=capacity_bytes,
        private=private,
    )
    make_clocks(EmulatedStorage.find(options), root, path)
