# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every planned run of a campaign once, on the storage or in a simulation of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import inf, isfinite
from random import Random
from statistics import median
from time import monotonic
from typing import Protocol
from uuid import uuid4

from stripewise.bench._case import Case, CaseRun, RunFigure
from stripewise.bench.campaign import DirectoryStriping
from stripewise.bench.runners import find_runner
from stripewise.bench.running._maker import Maker
from stripewise.bench.running._plan import (
    CampaignLedger,
    CampaignOptions,
    OpenRun,
    PlannedRun,
    left_of,
    plan_runs,
)
from stripewise.core import Value
from stripewise.core.errors import ProgramError, StripewiseError
from stripewise.present import duration_text, plural, size_text
from stripewise.run.launch import Handle
from stripewise.storage.fit import ModelCase
from stripewise.storage.machines import Storage
from stripewise.storage.simulation import metadata_rate, noise_factor, simulate

ALL_MADE = "all runs are made"
ATTEMPTS = 3
FAILURES = 3
"""Number of failed runs that end a campaign in which no run has succeeded."""
_LOOK_SECONDS = 0.5
_LEAST_SECONDS = 1.0
"""Least time limit with which a run is begun."""


class CampaignObserver:
    """Receives the events of a campaign; every method does nothing here."""

    def planned(self, total: int, done: int) -> None:
        """The plan is complete: `total` runs are planned, `done` of them are finished."""

    def started(self, run: PlannedRun) -> None:
        """A run begins."""

    def waits(self, text: str) -> None:
        """A run waits for something outside; empty if it runs."""

    def recorded(self, run: CaseRun) -> None:
        """A run has ended and is in the journal."""

    def noted(self, text: str) -> None:
        """A note for the user was issued."""


class Interrupts(Protocol):
    """Raises an exception if a signal was received."""

    def checkpoint(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""


class CampaignRuns:
    """Makes the remaining runs of a campaign, within its budgets."""

    def __init__(
        self,
        options: CampaignOptions,
        ledger: CampaignLedger,
        observer: CampaignObserver,
        interrupts: Interrupts,
        maker: Maker | None,
    ) -> None:
        """Store the arguments.

        Args:
            options: Options of the campaign.
            ledger: State of the campaign.
            observer: Receives the events.
            interrupts: Signals.
            maker: Makes runs; None if they are simulated.
        """
        self._options, self._ledger = options, ledger
        self._observer, self._interrupts, self._maker = observer, interrupts, maker
        self._cases = {case.key: case for case in options.suite.cases}
        self._failed: list[PlannedRun] = []
        self._before, self._begun = ledger.active_seconds, monotonic()

    def carry_out(self) -> str:
        """Make the runs; return why the campaign ends.

        Raises:
            StripewiseError: A run cannot be started, or recorded.
            KeyboardInterrupt: A signal was received; the run in flight is ended and repeated
                later.
        """
        plan = plan_runs(self._options.suite.cases, self._options.seed)
        self._recover()
        left = left_of(plan, self._ledger.done())
        self._observer.planned(len(plan), len(plan) - len(left))
        for planned in chain(left, self._failed):
            self._interrupts.checkpoint()
            if why := self._used_up(planned):
                return why
            if not self._one(planned):
                return self._time_is_up()
        return ALL_MADE

    # -- one run -----------------------------------------------------------------------------

    def _one(self, planned: PlannedRun) -> bool:
        """Make one run; return False if the campaign's time limit came first."""
        self._observer.started(planned)
        if self._maker is None:
            self._record_skipped(str(uuid4()), planned, self._simulated(planned))
            return True
        if why := self._maker.no_room(planned):
            run = CaseRun(planned.case.key, planned.repeat, "no-space", message=why)
            self._record_skipped(str(uuid4()), planned, run)
            return True
        for attempt in range(1, ATTEMPTS + 1):
            limit, is_budget = self._limit()
            run, outside = self._attempt(self._maker, planned, limit)
            if run.status == "timeout" and is_budget:
                self._drop(run, "the campaign's time was up")
                return False
            if outside and attempt < ATTEMPTS:
                self._observer.noted(f"{planned.case.key}: made again: {run.message}")
                self._drop(run, run.message)
                continue
            if run.status == "failed" and self._never_worked(planned, run):
                self._drop(run, run.message)
                return True
            self._finish(self._maker, run)
            return True
        raise AssertionError("the last attempt returns")

    def _never_worked(self, planned: PlannedRun, run: CaseRun) -> bool:
        """Return whether no run has succeeded yet; then a failed run is repeated later.

        Raises:
            ProgramError: Many cases have failed, so the reason is not a single case.
        """
        if any(one.status == "ok" for one in self._ledger.runs):
            return False
        self._failed.append(planned)
        if len(self._failed) >= min(FAILURES, len(self._cases)):
            raise ProgramError(
                f"the first {plural(len(self._failed), 'run')} failed, and none ended well "
                f"({run.message}): fix that, then continue with --resume"
            )
        return True

    def _attempt(self, maker: Maker, planned: PlannedRun, seconds: float) -> tuple[CaseRun, bool]:
        run_id = str(uuid4())
        number = self._ledger.plan(planned, run_id)
        open_run = self._ledger.open_runs[run_id]
        handle = maker.submit(planned, run_id, number, seconds)
        self._ledger.append("run-submitted", run_id=run_id, handle=_plain(handle))
        self._wait(maker, handle, open_run, planned.case)
        return maker.ended(open_run, planned.case, handle)

    def _wait(self, maker: Maker, handle: Handle, run: OpenRun, case: Case) -> None:
        """Wait until a run has ended; an interrupt ends the run and removes its files."""
        reported = ""
        try:
            while not maker.launcher.wait(handle, _LOOK_SECONDS):
                self._interrupts.checkpoint()
                waits = maker.launcher.describe(handle)
                if waits != reported:
                    self._observer.waits(waits)
                    reported = waits
        except KeyboardInterrupt:
            maker.launcher.cancel(handle)
            maker.release(run, case)
            self._ledger.append("run-dropped", run_id=run.run_id, why="interrupted")
            raise

    def _open_run(self, run: CaseRun) -> OpenRun:
        """Return the open run to which a result belongs; only one is made at a time."""
        return next(
            one for one in self._ledger.open_runs.values()
            if (one.key, one.repeat) == (run.key, run.repeat)
        )  # fmt: skip

    def _finish(self, maker: Maker, run: CaseRun) -> None:
        open_run = self._open_run(run)
        self._ledger.finish(open_run.run_id, run)
        maker.release(open_run, self._cases[run.key])
        self._observer.recorded(run)

    def _drop(self, run: CaseRun, why: str) -> None:
        open_run = self._open_run(run)
        self._ledger.append("run-dropped", run_id=open_run.run_id, why=why)
        if self._maker is not None:
            self._maker.release(open_run, self._cases[run.key])

    def _record_skipped(self, run_id: str, planned: PlannedRun, run: CaseRun) -> None:
        """Record a run that was not started."""
        self._ledger.plan(planned, run_id)
        self._ledger.finish(run_id, run)
        self._observer.recorded(run)

    def _simulated(self, planned: PlannedRun) -> CaseRun:
        options, case = self._options, planned.case
        emulated = options.storage_of(case)
        assert emulated is not None
        assert options.storage is not None
        return simulated_run(
            case, planned.repeat, options.suite.directories[case.directory], emulated.storage,
            seed=options.seed, noise=options.storage.noise, transport=options.storage.transport,
        )  # fmt: skip

    # -- after a kill ------------------------------------------------------------------------

    def _recover(self) -> None:
        """Record runs that have ended, wait for those that still run, and drop the others."""
        maker = self._maker
        for run in list(self._ledger.open_runs.values()):
            case = self._cases.get(run.key)
            if maker is None or case is None:
                self._ledger.append("run-dropped", run_id=run.run_id, why="it cannot be found")
                continue
            handle = run.handle or maker.find_again(run)
            if handle is None or not self._survives(maker, handle, run, case):
                maker.release(run, case)
                self._ledger.append(
                    "run-dropped", run_id=run.run_id, why="the campaign was stopped"
                )
                continue
            found, outside = maker.ended(run, case, handle)
            if outside or found.status == "timeout":
                self._drop(found, found.message)
            else:
                self._finish(maker, found)

    def _survives(self, maker: Maker, handle: Handle, run: OpenRun, case: Case) -> bool:
        """Return whether a run has ended by itself, or will do so; others are ended."""
        if maker.launcher.poll(handle):
            return True
        if maker.launcher.outlives_tuner:
            self._wait(maker, handle, run, case)
            return True
        maker.launcher.cancel(handle)
        return False

    # -- budgets -----------------------------------------------------------------------------

    @property
    def _active_seconds(self) -> float:
        return self._before + monotonic() - self._begun

    def _limit(self) -> tuple[float, bool]:
        """Return the time limit of a run, and whether the campaign's budget determines it."""
        budget = self._options.budget_seconds
        left = inf if budget is None else budget - self._active_seconds
        timeout = self._options.timeout_seconds
        return (max(left, _LEAST_SECONDS), True) if left < timeout else (timeout, False)

    def _used_up(self, planned: PlannedRun) -> str:
        """Return which budget another run would exceed; empty if none."""
        options, runs = self._options, self._ledger.runs
        expected = _expected(runs, planned.case.key)
        budget = options.budget_seconds
        if budget is not None and self._active_seconds + max(expected, _LEAST_SECONDS) > budget:
            return self._time_is_up()
        held = sum(run.node_seconds for run in runs)
        if options.budget_node_seconds is not None:
            if (
                held + expected * options.suite.nodes_of(planned.case)
                > options.budget_node_seconds
            ):
                hours = options.budget_node_seconds / 3600
                return f"the budget of {hours:g} node-hours is used up"
        if options.budget_bytes is not None:
            written = sum(run.written_bytes for run in runs)
            workload = find_runner(planned.case.runner).workload(planned.case)
            if written + (workload.bytes if workload else 0) > options.budget_bytes:
                size = size_text(round(options.budget_bytes))
                return f"the budget of {size} to write is used up"
        return ""

    def _time_is_up(self) -> str:
        budget = self._options.budget_seconds
        return f"the budget of {duration_text(budget or 0.0)} is used up"


def _expected(runs: list[CaseRun], key: str) -> float:
    """Return the expected seconds of a run, based on earlier ones; 0 if there are none."""
    alike = [run.elapsed_seconds for run in runs if run.key == key and run.status == "ok"]
    return median(alike) if alike else 0.0


def _plain(handle: Handle) -> dict[str, object]:
    return {"launcher": handle.launcher, "run_id": handle.run_id, "data": dict(handle.data)}


# Simulated runs, which are predicted by a model with the noise of the storage.

_OPERATIONS = (
    "create-directory", "stat-directory", "remove-directory",
    "create", "stat", "read-file", "remove",
)  # fmt: skip


def simulated_run(
    case: Case, repeat: int, place: DirectoryStriping, storage: Storage, *, seed: int, noise: bool,
    transport: str = "",
) -> CaseRun:  # fmt: skip
    """Return the simulated result of a run of a case.

    Args:
        case: Case to simulate.
        repeat: Number of the run, from 1; equal numbers give equal results.
        place: Striping of the files of its directory.
        storage: Storage that is simulated.
        seed: Seed of the noise.
        noise: Whether runs vary like those of the storage.
        transport: Variant of the storage's network.
    """
    random = Random(f"{seed}/{case.key}/{repeat}")
    share = noise_factor(random, storage.value("noise.cv")) if noise else 1.0
    try:
        samples = _samples(case, place, storage, transport, share)
    except StripewiseError as error:
        return CaseRun(case.key, repeat, "failed", message=str(error))
    if not all(isfinite(one.seconds) for one in samples):
        return CaseRun(case.key, repeat, "timeout", message="the job hangs with this transport")
    seconds = sum(one.seconds for one in samples)
    return CaseRun(
        case.key, repeat, "ok", samples, elapsed_seconds=seconds,
        node_seconds=seconds * case.nodes,
        written_bytes=sum(int(one.amount) for one in samples if one.operation == "write"),
        circumstances={"simulated": True},
    )  # fmt: skip


def _samples(
    case: Case, place: DirectoryStriping, storage: Storage, transport: str, share: float
) -> tuple[RunFigure, ...]:
    own = storage_of_place(storage, place)
    found = []
    for operation in ("write", "read") if case.operation == "write-read" else ("write",):
        model = model_case(case, place, storage.stack or "romio", operation)
        if model is None:
            return tuple(_metadata(case, place, storage, share))
        predicted = simulate(own, model.workload, model.stack, dict(model.settings), transport)
        found.append(RunFigure(operation, float(predicted.bytes), predicted.seconds / share))
    return tuple(found)


def _metadata(
    case: Case, place: DirectoryStriping, storage: Storage, share: float
) -> list[RunFigure]:
    """Return metadata operations: each rank waits for each, and one server executes all."""
    amount = float(case.files * case.ranks)
    stripes = place.stripe_count or None
    return [
        RunFigure(one, amount, amount / metadata_rate(storage, one, case.ranks, stripes) / share)
        for one in _OPERATIONS
    ]


# Conversion of a case for the model: workload, software stack and settings.


def storage_of_place(storage: Storage, place: DirectoryStriping) -> Storage:
    """Return the part of a storage that files of a directory can use.

    All files of a directory with a first target begin there, so that only as many targets are used
    as a file has stripes.
    """
    if place.target < 0 or place.stripe_count < 1:
        return storage
    figure = replace(storage.figures["servers.targets"], value=float(place.stripe_count))
    return storage.with_figures({"servers.targets": figure})


def model_case(
    case: Case, place: DirectoryStriping, own_stack: str, operation: str
) -> ModelCase | None:
    """Return the inputs of the model for a case; None if it moves no data.

    Args:
        case: Case to predict.
        place: Striping of the files of its directory.
        own_stack: Usual MPI-IO stack of the storage.
        operation: "write" or "read".

    Raises:
        UsageError: The runner does not support such a case.
    """
    runner = find_runner(case.runner)
    work = runner.workload(case)
    if work is None:
        return None
    stack = runner.stack(case, own_stack)
    settings: dict[str, Value] = {}
    if operation == "read":
        settings |= runner.read_settings(case, stack)
        work = replace(work, patterns=tuple(replace(one, writing=False) for one in work.patterns))
    if place.stripe_count:
        settings["mpiio.striping_factor"] = place.stripe_count
    if place.stripe_bytes:
        settings["mpiio.striping_unit"] = place.stripe_bytes
    settings |= dict(case.settings)
    return ModelCase(work, stack, tuple(settings.items()))
