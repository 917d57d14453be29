# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What limits phases, in words: a chain, the most limiting first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.machines import Storage
from stripewise.simulation._limit_words import WORDS
from stripewise.simulation._phases import PhaseTime
from stripewise.simulation._rates import DATA
from stripewise.simulation.stacks import Layout

_LEAST_SHARE = 0.005


@dataclass(frozen=True)
class Limit:
    """Something that the requests need time for.

    Attributes:
        resource: "process", "file" (a node into one file), "node", "target", "whole", "lock",
            "ahead", "request", "exchange" or "metadata".
        seconds: For which it is in use; uses of different resources overlap.
        share: Of the whole time, 0 to 1.
        words: What it is, for people: "1 writer per stripe: 12 x 1.0 GiB/s".
        next: What limits next, if this one is lifted; "": nothing that is described.
    """

    resource: str
    seconds: float
    share: float
    words: str
    next: str = ""


def limits_of(times: Sequence[PhaseTime], storage: Storage, layout: Layout) -> tuple[Limit, ...]:
    """Return what the phases' time goes to, the most limiting first.

    Args:
        times: Of all phases, in order.
        storage: That serves them.
        layout: Of the files.
    """
    total = sum(one.seconds for one in times)
    spent: dict[str, float] = {}
    most: dict[str, tuple[float, PhaseTime]] = {}
    for time in times:
        for name, once in _used(time).items():
            seconds = once * time.phase.repeats
            spent[name] = spent.get(name, 0.0) + seconds
            if name not in most or seconds > most[name][0]:
                most[name] = seconds, time
    if not total:
        return ()
    order = sorted(
        (name for name in spent if spent[name] >= _LEAST_SHARE * total),
        key=lambda name: -spent[name],
    )
    words = {name: WORDS[name](most[name][1], times, storage, layout) for name in order}
    return tuple(
        Limit(name, spent[name], min(spent[name] / total, 1.0), words[name], words.get(after, ""))
        for name, after in zip(order, [*order[1:], ""], strict=True)
    )


def _used(time: PhaseTime) -> dict[str, float]:
    """Seconds for which one repetition uses each resource."""
    used = {"exchange": time.exchange, "copy": time.copy, "metadata": time.metadata}
    flows = time.flows
    for name in (*DATA, "lock"):
        together = time.uses.get(name, 0.0)
        alone = (
            flow.rounds * (flow.lock if name == "lock" else flow.data[name]) for flow in flows
        )
        used[name] = max((together, *alone))
    # The process is busy with its lock as well; that is a limit of its own.
    used["process"] = max((f.rounds * (f.data["process"] - f.ahead) for f in flows), default=0.0)
    used["ahead"] = max((flow.rounds * flow.ahead for flow in flows), default=0.0)
    used["request"] = max((flow.rounds * flow.waits for flow in flows), default=0.0)
    return {name: seconds for name, seconds in used.items() if seconds > 0}
