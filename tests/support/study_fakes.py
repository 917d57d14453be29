# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A machine for studies that exists in memory: programs by formula, noise by seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from stripewise.core import (
    Measurement,
    ProgramFacts,
    RunStatus,
    Value,
    Verification,
    VerificationStatus,
)
from stripewise.learning.knowledge import Memory
from stripewise.run.launch import Handle, Launcher, Outcome, RunRequest
from stripewise.settings import Policy
from stripewise.settings.tunables import Space, find_space
from stripewise.study.plan import StudyLedger, StudyOptions
from stripewise.study.procedure import NoFiles
from stripewise.study.runs import FirstLook, Tools
from stripewise.study.workspace import RunLocation
from support.strategy_suite import romio_facts

Settings = Mapping[str, Value]
Noise = Callable[[Random], float]
"""Draws the factor by which one run's I/O time differs from the true one."""


KNOB = "mpiio.romio_ds_write"
"""What helps the program of `helped`."""


def helped(settings: Settings) -> float:
    """I/O seconds of a program that disabled data sieving makes twice as fast."""
    return 2.0 if settings.get(KNOB) == "disable" else 4.0


def no_noise(random: Random) -> float:
    """Every run takes the same time."""
    del random
    return 1.0


def lognormal(cv: float) -> Noise:
    """Return log-normal noise."""
    return lambda random: random.lognormvariate(0.0, cv)


def heavy_tailed(cv: float) -> Noise:
    """Return log-normal noise in which one run of ten takes up to many times as long."""

    def draw(random: Random) -> float:
        factor = random.lognormvariate(0.0, cv)
        return factor * random.paretovariate(1.2) if random.random() < 0.1 else factor

    return draw


@dataclass
class FakeLauncher(Launcher):
    """Runs end at once; their times come from a formula.

    Attributes:
        io_seconds: True I/O time under given settings; inf: the run hangs until its timeout.
        noise: Factor of one run.
        seed: Of the noise.
        other_seconds: Time outside of I/O.
        drift: Relative growth of the I/O time from one run to the next.
        settings: Of every run that was submitted, in order.
    """

    io_seconds: Callable[[Settings], float]
    noise: Noise = no_noise
    seed: int = 0
    other_seconds: float = 1.0
    drift: float = 0.0
    name: str = "fake"
    settings: list[Settings] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    _outcomes: dict[str, Outcome] = field(default_factory=dict)

    def submit(self, request: RunRequest) -> Handle:
        """Work the run out."""
        number = len(self.settings)
        self.settings.append(dict(request.settings))
        true = self.io_seconds(request.settings)
        factor = self.noise(Random(f"{self.seed}:{number}")) * (1 + self.drift * number)
        elapsed = true * factor + self.other_seconds
        limit = request.timeout_seconds
        hangs = limit is not None and elapsed > limit
        self._outcomes[request.run_id] = Outcome(
            status=RunStatus.TIMEOUT if hangs else RunStatus.OK,
            exit_code=None if hangs else 0,
            elapsed_seconds=limit if limit is not None and hangs else elapsed,
            started_unix_seconds=float(number),
            io_seconds=0.0 if hangs else true * factor,
            write_bytes=1 << 26,
            message="stopped at its time limit" if hangs else "",
        )
        return Handle(self.name, request.run_id)

    def poll(self, handle: Handle) -> bool:
        """Whether it has ended: always."""
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome."""
        return self._outcomes[handle.run_id]

    def cancel(self, handle: Handle) -> None:
        """Note it."""
        self.cancelled.append(handle.run_id)


def look(run_id: str, place: RunLocation, outcome: Outcome) -> Measurement:
    """Take the figures of the outcome."""
    del place
    return Measurement(
        run_id=run_id,
        status=outcome.status,
        exit_code=outcome.exit_code,
        elapsed_seconds=outcome.elapsed_seconds,
        io_seconds=outcome.io_seconds or 0.0,
        read_bytes=outcome.read_bytes or 0,
        write_bytes=outcome.write_bytes or 0,
        started_unix_seconds=outcome.started_unix_seconds,
        message=outcome.message,
        cause=outcome.cause,
    )


def identical(baselines: Sequence[str], candidate: str, layout: bool, traced: str) -> Verification:
    """Find every output identical."""
    del baselines, candidate, layout
    return Verification(VerificationStatus.IDENTICAL, ("out.dat",))


def tools_by_case(
    launchers: Mapping[str, Launcher], **given: Mapping[str, Any]
) -> Callable[[StudyOptions, StudyLedger], Tools]:
    """Return what makes the tools of a study of several cases.

    Args:
        launchers: Last word of a case's command to what runs it.
        given: Arguments of `fake_tools`, each by the same word; None or missing: its default.
    """

    def make(options: StudyOptions, ledger: StudyLedger) -> Tools:
        del ledger
        word = options.command[-1]
        own = {name: by_word[word] for name, by_word in given.items() if word in by_word}
        return fake_tools(launchers[word], **own)

    return make


def fake_tools(
    launcher: Launcher,
    *,
    facts: ProgramFacts | None = None,
    space: Callable[[ProgramFacts], Space] = find_space,
    policy: Policy | None = None,
    compare: Callable[[Sequence[str], str, bool, str], Verification] = identical,
    memory: Memory | None = None,
    unreadable: str = "",
    look: Callable[[str, RunLocation, Outcome], Measurement] = look,
) -> Tools:
    """Return tools around a launcher that needs no processes and no files."""
    known = facts or romio_facts()
    return Tools(
        launcher=launcher,
        workspace=NoFiles(),
        look=look,
        measure_first_run=lambda place, measurement: FirstLook(known),
        compare=compare,
        find_space=space,
        policy=policy or Policy(),
        provenance={"host": "fake"},
        memory=memory,
        unreadable=lambda run_id: unreadable,
    )
