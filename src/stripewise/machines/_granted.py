# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a job is granted of a storage: of a burst buffer, nodes by capacity."""

from __future__ import annotations

from math import ceil

from stripewise.errors import ConfigurationError
from stripewise.machines._description import Storage
from stripewise.text import size_text


def granted_targets(storage: Storage, capacity_bytes: int = 0) -> int:
    """Return the targets that a job's files can lie on.

    Args:
        storage: A burst buffer, or one with fixed targets.
        capacity_bytes: That the job asked a burst buffer for; 0: the least that is granted, the
            nodes that a file has by default.

    Raises:
        ConfigurationError: It is more than there is, or the targets are fixed.
    """
    targets = int(storage.value("servers.targets"))
    granularity = storage.value("layout.granularity")
    if not granularity:
        if capacity_bytes:
            raise ConfigurationError(
                f"capacity = {size_text(capacity_bytes)}: {storage.name} has fixed targets; only "
                "a burst buffer is granted by capacity"
            )
        return targets
    default = int(storage.value("layout.stripe_count"))
    granted = ceil(capacity_bytes / granularity) if capacity_bytes else default
    if granted > targets:
        raise ConfigurationError(
            f"capacity = {size_text(capacity_bytes)} needs {granted:,} nodes of "
            f"{size_text(int(granularity))}; {storage.name} has {targets:,}"
        )
    return granted
