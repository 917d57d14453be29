# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts bandwidths from a description, through the stacks and laws of simulations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from stripewise.core import Value
from stripewise.storage.machines import Storage
from stripewise.storage.simulation import Rates, chosen_transport, layout_of, phase_times
from stripewise.storage.stacks import STACKS, Layout, Phase, Setup, Workload


@dataclass(frozen=True)
class ModelCase:
    """Case that the model predicts: a workload, a software stack and settings.

    Attributes:
        workload: Workload of all ranks.
        stack: Name of the software stack.
        settings: Values by full tunable name.
        transport: Environment that chooses a variant of the storage.
    """

    workload: Workload
    stack: str
    settings: tuple[tuple[str, Value], ...]
    transport: tuple[tuple[str, str], ...] = ()


class Ready(NamedTuple):
    """Requests of a case, which do not depend on the speed of the storage.

    Attributes:
        phases: Phases of the stack.
        layout: Layout of the files.
        bytes: Bytes that the program requests to move.
        transport: Environment that chooses a variant of the storage.
    """

    phases: tuple[Phase, ...]
    layout: Layout
    bytes: int
    transport: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, storage: Storage, case: ModelCase) -> Ready:
        """Make the requests of a case on a storage."""
        system = _system(storage, case.transport)
        layout = layout_of(_with_enough_nodes(system, case), dict(case.settings))
        return cls(_phases(case, layout), layout, case.workload.bytes, case.transport)

    def seconds(self, rates: Rates) -> float:
        """Return their duration in seconds."""
        return sum(one.seconds for one in phase_times(self.phases, rates, self.layout))


def bandwidths(storage: Storage, ready: Sequence[Ready]) -> list[float]:
    """Return the bandwidths of several cases, prepared on a similar storage, in bytes per second.

    Args:
        storage: Storage with the same targets and default striping as that of the preparation.
        ready: Prepared cases.
    """
    rates = {
        one: Rates.of(_system(storage, one))
        for one in dict.fromkeys(case.transport for case in ready)
    }
    return [one.bytes / one.seconds(rates[one.transport]) for one in ready]


def seconds(storage: Storage, case: ModelCase) -> float:
    """Return the duration of a case on a storage in seconds."""
    return Ready.of(storage, case).seconds(Rates.of(_system(storage, case.transport)))


def bandwidth(storage: Storage, case: ModelCase) -> float:
    """Return the bandwidth of a case on a storage in bytes per second."""
    return case.workload.bytes / seconds(storage, case)


def _system(storage: Storage, transport: tuple[tuple[str, str], ...]) -> Storage:
    return storage.over(chosen_transport(storage, dict(transport)))


def _with_enough_nodes(storage: Storage, case: ModelCase) -> Storage:
    """Return a burst buffer that grants the job as many nodes as its files have stripes."""
    wanted = dict(case.settings).get("mpiio.striping_factor", 0)
    granularity = storage.value("layout.granularity")
    if not granularity or not isinstance(wanted, int) or wanted <= 1:
        return storage
    return _with_stripes(storage, wanted)


def _with_stripes(storage: Storage, stripes: int) -> Storage:
    figure = replace(storage.figures["layout.stripe_count"], value=float(stripes))
    return storage.with_figures({"layout.stripe_count": figure})


@lru_cache(maxsize=100_000)
def _phases(case: ModelCase, layout: Layout) -> tuple[Phase, ...]:
    work = case.workload
    return STACKS[case.stack].phases(work, Setup(layout, dict(case.settings), work.nodes))
