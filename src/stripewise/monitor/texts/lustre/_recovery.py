# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recovery of a target after a restart: *.*.recovery_status.

    status: RECOVERING
    time_remaining: 119
    connected_clients: 3/7
    completed_clients: 3
    evicted_clients: 0

After it: "status: COMPLETE", "recovery_duration: 150", "completed_clients: 8/8".  A target that no
client was connected to says "status: INACTIVE".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stripewise.monitor.texts.lustre._damage import Damage, number, whole_lines

STATES = ("inactive", "waiting", "waiting_for_clients", "recovering", "complete")
"""Those that Lustre is known to print, in lower case."""
_STATUS = re.compile(r"status: ([A-Z_]{1,32})", re.ASCII)
_LINE = re.compile(r"([A-Za-z_][A-Za-z_ -]{0,39}): (.*)", re.ASCII)
_SHARE = re.compile(r"(\d{1,20})(?:/\d{1,20})?", re.ASCII)
_CLIENTS = {
    "connected_clients": "connected",
    "completed_clients": "completed",
    "evicted_clients": "evicted",
}
_SECONDS = ("time_remaining", "recovery_duration")


@dataclass(frozen=True)
class Recovery:
    """One text.

    Attributes:
        state: In lower case: "complete", "recovering", ...; "": not told.
        clients: "connected", "completed", "evicted": how many.
        remaining_seconds / duration_seconds: Of recovery; None: not told.
        problems: What was left out.
    """

    state: str = ""
    clients: Mapping[str, int] | None = None
    remaining_seconds: int | None = None
    duration_seconds: int | None = None
    problems: tuple[str, ...] = ()


def parse_recovery_status(text: str) -> Recovery:
    """Parse the status of a recovery."""
    damage = Damage()
    states: list[str] = []
    numbers: dict[str, int] = {}
    doubled: set[str] = set()
    for line in whole_lines(text, damage):
        if line.startswith("status: "):
            status = _STATUS.fullmatch(line)
            states.append(status[1].lower() if status else "")
        elif found := _LINE.fullmatch(line):
            _add(found, line, numbers, doubled, damage)
        else:
            damage.add("not a line of recovery_status", line)
    state = states[0] if len(states) == 1 else ""
    if not state:
        damage.add("recovery_status has not one status", text)
    for name in doubled:
        numbers.pop(name, None)
    clients = {label: numbers[name] for name, label in _CLIENTS.items() if name in numbers}
    return Recovery(
        state, clients,
        numbers.get("time_remaining"), numbers.get("recovery_duration"), damage.problems(),
    )  # fmt: skip


def _add(
    found: re.Match[str], line: str, numbers: dict[str, int], doubled: set[str], damage: Damage
) -> None:
    name = found[1]
    if name not in _CLIENTS and name not in _SECONDS:
        return
    share = _SHARE.fullmatch(found[2]) if name in _CLIENTS else None
    value = number(share[1] if share else found[2])
    if value is None:
        damage.add("not a number", line)
    if name in numbers or value is None:
        doubled.add(name)
        if value is not None:
            damage.add("a line that is there twice", line)
        return
    numbers[name] = value
