# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs are run: by whom, when, of which program, with which oddities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from synthetic_centre._people import User, users
from synthetic_centre._programs import Program
from synthetic_centre._weather import DAY, DAYS, Weather

CLUSTERS = ("demo-vela", "demo-lyra")
"""Both count their jobs from the same number."""
FIRST_JOB = 100_001
RANKS_A_NODE = 8
_OUTCOMES = {"COMPLETED": 0.87, "FAILED": 0.05, "TIMEOUT": 0.04, "CANCELLED": 0.03,
             "NODE_FAIL": 0.01}  # fmt: skip
_PROFILED = {True: 0.85, False: 0.67}
"""Share of the runs that are profiled: by Stripewise, by Darshan."""
_EARLY_SECONDS = 900.0
"""By which the clocks of some nodes are behind."""


@dataclass(frozen=True)
class Plan:
    """A job that is to be run.

    Attributes:
        number: Among all plans.
        user: None: the scheduler's record names none.
        submit / start: Seconds since 1970; start None: it never began.
        compute_seconds: Beside its I/O.
        is_profiled: Whether its program leaves a profile.
        shift_seconds: What is added to the times of the profile: clocks are apart.
        visible_id: As users see it: with the task of an array, or the component of a job.
        restarts: How often it was requeued.
        is_recorded: Whether the scheduler's record is there; of some only the profile tells.
    """

    number: int
    cluster: str
    raw_id: int
    user: User | None
    program: Program
    submit: int
    start: int | None
    ranks: int
    state: str
    compute_seconds: float
    load: float
    day: int
    is_profiled: bool
    shift_seconds: float = 0.0
    visible_id: str = ""
    restarts: int = 0
    is_recorded: bool = True

    @property
    def nodes(self) -> int:
        """Of the job."""
        return -(-self.ranks // RANKS_A_NODE)


class Planner:
    """Makes plans, one after the other in time."""

    def __init__(self, seed: int, weather: Weather) -> None:
        self._random = np.random.default_rng([seed, 2])
        self._weather = weather
        self._users = users()
        self._next = dict.fromkeys(CLUSTERS, FIRST_JOB)
        self._number = 0
        self._weights = self._random.gamma(1.2, 1.0, len(self._users)) + 0.2
        self._weights /= self._weights.sum()

    def plans(self, n_jobs: int) -> Iterator[Plan]:
        """Yield so many plans, spread over the year, in the order of submission."""
        groups = [list(self._submitted(submit)) for submit in self._moments(n_jobs)]
        surplus, left_out = sum(map(len, groups)) - n_jobs, set[int]()
        for place in self._random.permutation(len(groups)).tolist():
            if len(groups[place]) <= surplus:
                surplus -= len(groups[place])
                left_out.add(place)
        for place, group in enumerate(groups):
            if place not in left_out:
                yield from group

    def _moments(self, n_jobs: int) -> list[int]:
        """Return when jobs are submitted: more in working hours, none in maintenance."""
        weather, moments = self._weather, list[int]()
        span = weather.until - weather.start
        while len(moments) < n_jobs:
            at = weather.start + int(self._random.integers(span))
            busy = weather.business(at) / 1.25
            if self._random.random() < busy and not weather.is_down(at):
                moments.append(at)
        return sorted(moments)

    def _submitted(self, submit: int) -> Iterator[Plan]:
        """Yield the jobs of one submission."""
        user = self._users[int(self._random.choice(len(self._users), p=self._weights))]
        programs = user.programs
        weights = np.array([one.weight for one in programs])
        program = programs[int(self._random.choice(len(programs), p=weights / weights.sum()))]
        cluster = CLUSTERS[int(self._random.random() < 0.3)]
        first = self._next[cluster]
        ranks = int(self._random.choice(program.ranks))
        if program.array:
            for task in range(program.array):
                yield self._job(cluster, user, program, submit, ranks, f"{first}_{task}")
        elif self._random.random() < 0.01:
            for offset in range(2):
                visible_id = f"{first}+{offset}"
                yield self._job(cluster, user, program, submit, ranks, visible_id,
                                profiled=offset == 0)  # fmt: skip
        elif self._random.random() < 0.012:
            yield from self._requeued(cluster, user, program, submit, ranks)
        else:
            yield self._job(cluster, user, program, submit, ranks)

    def _requeued(
        self, cluster: str, user: User, program: Program, submit: int, ranks: int
    ) -> Iterator[Plan]:
        """Yield a run that a node's failure ended, and the same job again."""
        lost = self._job(cluster, user, program, submit, ranks, state="NODE_FAIL", profiled=False)
        yield lost
        self._next[cluster] = lost.raw_id
        again = (lost.start or submit) + int(lost.compute_seconds) + 120
        if again >= self._weather.until:
            return
        ended = self._job(cluster, user, program, again, ranks, state="COMPLETED")
        yield replace(ended, restarts=1)

    def _job(
        self, cluster: str, user: User, program: Program, submit: int, ranks: int,
        visible_id: str = "", *, state: str = "", profiled: bool = True,
    ) -> Plan:  # fmt: skip
        random = self._random
        state = state or str(random.choice(list(_OUTCOMES), p=list(_OUTCOMES.values())))
        start = submit + int(random.exponential(1800)) + 5
        while self._weather.is_down(start):
            start += 3600
        compute = program.compute_seconds * float(np.exp(random.normal(0.0, 0.25)))
        if state in ("FAILED", "NODE_FAIL"):
            compute *= float(random.uniform(0.1, 0.9))
        day = min(max((start - self._weather.start) // DAY, 0), DAYS - 1)
        behaviour = program.behaviour(day)
        never = state == "CANCELLED" and random.random() < 0.6
        seen = behaviour is not None and random.random() < _PROFILED[behaviour.is_traced]
        ends_well = state in ("COMPLETED", "FAILED")  # others never reach the end of MPI
        odd = random.random()
        number, raw_id = self._number, self._next[cluster]
        self._number += 1
        self._next[cluster] += 1
        profiled = seen and ends_well and profiled and not never
        return Plan(
            number, cluster, raw_id, None if odd < 0.002 else user, program, submit,
            None if never else start, ranks, state, compute, self._weather.load(start), day,
            is_profiled=profiled,
            shift_seconds=-_EARLY_SECONDS if odd > 0.99 else 0.0,
            visible_id=visible_id or str(raw_id),
            is_recorded=not (profiled and 0.002 <= odd < 0.006),
        )  # fmt: skip
