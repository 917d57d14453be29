# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Notices that other work disturbs a measurement: processors in use by others, drift, spread."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType

OTHERS_SHARE = 0.25
STEAL_SHARE = 0.05
DRIFT_FACTOR = 1.5
SPREAD = 0.5
"""A measurement counts as disturbed if others use more than `OTHERS_SHARE` of its processors, if
the machine below takes more than `STEAL_SHARE`, if the last repeats differ from the first by
`DRIFT_FACTOR`, or if repeats spread by more than `SPREAD` (chosen: quiet disks and NVMe drives
show 0.02 to 0.2).
"""
WIDER = 2.0
"""Factor by which the intervals of a disturbed measurement are wider at either end (chosen)."""


@dataclass(frozen=True)
class _Clock:
    """Processor seconds since the machine started; `own` since this process did."""

    wall: float
    busy: float
    steal: float
    own: float


class Watch:
    """Watches the processors during a `with` block.

    Attributes:
        reasons: What was seen, in words; empty if nothing disturbed.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self.reasons: tuple[str, ...] = ()
        self._stat = proc / "stat"
        self._processors = os.sched_getaffinity(0)
        self._start: _Clock | None = None

    def __enter__(self) -> Watch:
        self._start = self._now()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end = self._now()
        if self._start is not None and end is not None:
            self.reasons = tuple(_used_by_others(self._start, end, len(self._processors)))

    def _now(self) -> _Clock | None:
        """Return the clocks of the processors that this process may use; None without /proc."""
        try:
            lines = self._stat.read_text().splitlines()
        except OSError:
            return None
        tick = os.sysconf("SC_CLK_TCK")
        names = {f"cpu{number}" for number in self._processors}
        rows = [line.split() for line in lines]
        parts = [[int(part) / tick for part in row[1:9]] for row in rows if row[0] in names]
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        # user, nice, system, idle, iowait, irq, softirq, steal: proc(5)
        busy = sum(sum(one[:3]) for one in parts)
        return _Clock(time.monotonic(), busy, sum(one[7] for one in parts), own)


def _used_by_others(start: _Clock, end: _Clock, processors: int) -> Iterable[str]:
    whole = (end.wall - start.wall) * processors
    if whole <= 0:
        return
    others = (end.busy - start.busy - (end.own - start.own)) / whole
    if others > OTHERS_SHARE:
        yield f"other programs used {100 * others:.0f} % of the processors"
    steal = (end.steal - start.steal) / whole
    if steal > STEAL_SHARE:
        yield f"the host gave {100 * steal:.0f} % of the processors to other machines"


def unsteady(repeats: Iterable[Sequence[float]], usual_cv: float | None = None) -> tuple[str, ...]:
    """Return what repeats of the same measurements show of a disturbance, in words.

    Args:
        repeats: For each kind of measurement its values, in the order of time.
        usual_cv: Coefficient of variation that this storage showed before, if that is known.
    """
    known = [values for values in repeats if len(values) >= 2 and min(values) > 0]
    if not known:
        return ()
    found = []
    drift = median(values[-1] / values[0] for values in known)
    if max(drift, 1 / drift) > DRIFT_FACTOR:
        found.append(
            f"the last repeats were {max(drift, 1 / drift):.1f} times as "
            f"{'fast' if drift > 1 else 'slow'} as the first"
        )
    spread = median((max(values) - min(values)) / median(values) for values in known)
    if spread > max(SPREAD, 4 * (usual_cv or 0.0)):
        found.append(f"repeats differ by {100 * spread:.0f} %")
    return tuple(found)
