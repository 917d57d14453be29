# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How new files lie on a described storage, under settings."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.errors import ConfigurationError
from stripewise.machines import Storage, granted_targets
from stripewise.model import Value
from stripewise.simulation.stacks import Layout
from stripewise.text import plural

STRIPE_COUNT, STRIPE_SIZE = "mpiio.striping_factor", "mpiio.striping_unit"
LAYOUT_SETTINGS = frozenset({STRIPE_COUNT, STRIPE_SIZE})


def layout_of(
    storage: Storage,
    settings: Mapping[str, Value],
    capacity_bytes: int = 0,
    *,
    private: bool = False,
) -> Layout:
    """Return the layout of new files.

    Args:
        storage: That they lie on.
        settings: Of which `striping_factor` (-1: all targets) and `striping_unit` count.
        capacity_bytes: Of a burst buffer.
        private: Whether each node has a part of the burst buffer to itself.

    Raises:
        ConfigurationError: There are not so many targets, or they cannot be private.
    """
    targets = granted_targets(storage, capacity_bytes)
    if private:
        return _private(storage, settings, targets)
    default = targets if storage.value("layout.granularity") else _count(storage)
    count, size = settings.get(STRIPE_COUNT, default), settings.get(STRIPE_SIZE, 0)
    if not isinstance(count, int) or not isinstance(size, int) or count < -1 or size < 0:
        raise ConfigurationError(
            f"striping_factor = {count!r}, striping_unit = {size!r}: give whole numbers"
        )
    if count > targets:
        raise ConfigurationError(
            f"striping_factor = {count}: {storage.name} has {plural(targets, 'target')}; give at "
            "most that, or -1 for all"
        )
    if count == 0:
        count = default
    return Layout(
        stripe_count=targets if count == -1 else count,
        stripe_size=size or int(storage.value("layout.stripe_size")),
        targets=targets,
    )


def _private(storage: Storage, settings: Mapping[str, Value], targets: int) -> Layout:
    if not storage.value("layout.granularity"):
        raise ConfigurationError(
            f"{storage.name} is no burst buffer: nodes have no part of it to themselves"
        )
    if LAYOUT_SETTINGS & settings.keys():
        raise ConfigurationError(
            "files with private access lie on one node of the burst buffer: leave "
            f"{', '.join(sorted(LAYOUT_SETTINGS & settings.keys()))} out"
        )
    return Layout(1, int(storage.value("layout.stripe_size")), targets, private=True)


def _count(storage: Storage) -> int:
    return min(int(storage.value("layout.stripe_count")), int(storage.value("servers.targets")))
