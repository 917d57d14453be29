# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A workload with its settings, as a simulation takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stripewise.machines import Dimension, quantity
from stripewise.model import Value
from stripewise.simulation import Workload
from stripewise.tunables import tunable_of


@dataclass(frozen=True)
class Case:
    """A workload, a software stack and settings, on a storage.

    Attributes:
        workload: Of all ranks.
        stack: Name of the software stack.
        settings: Full tunable name -> value.
        transport: Environment that chooses a variant of the storage.
    """

    workload: Workload
    stack: str
    settings: tuple[tuple[str, Value], ...]
    transport: tuple[tuple[str, str], ...] = ()


def settings_of(settings: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """Return settings by full name, sizes in bytes."""
    named = {
        tunable_of(name).name: int(quantity(value, Dimension.SIZE))
        if isinstance(value, str) and value[:1].isdigit()
        else value
        for name, value in settings.items()
    }
    return tuple(sorted(named.items()))
