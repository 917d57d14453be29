# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the slots of the plan concurrently, and stops cleanly on Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import FrameType
from typing import Generic, TypeVar
from uuid import uuid4

from stripewise.core import Configuration, Measurement, ProgramFacts, RunRole, RunStatus, Value
from stripewise.present import printable
from stripewise.run.launch import (
    Handle,
    Launcher,
    Resources,
    RunRequest,
    links_replaced_in_run,
    sweep,
)
from stripewise.settings.tunables import build_configuration
from stripewise.study.plan import (
    Budget,
    BudgetSpentError,
    Observer,
    OpenRun,
    RunSlot,
    Steps,
    StudyLedger,
)
from stripewise.study.runs._looking import comparable
from stripewise.study.runs._tools import Tools
from stripewise.study.workspace import RunLocation

# Ctrl-C, SIGTERM and a lost terminal, handled where a run can be cancelled cleanly.


class Interrupts:
    """Records a signal; the study raises it at its next checkpoint."""

    def __init__(self) -> None:
        self._signal: int | None = None

    def checkpoint(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""
        if self._signal is not None:
            raise KeyboardInterrupt(signal.Signals(self._signal).name)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Catch SIGINT, SIGTERM and SIGHUP in the context (only in the main thread).

        A SIGHUP that is ignored, for example with nohup, stays ignored.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        caught = [one for one in _SIGNALS if not (one == signal.SIGHUP and ignored)]
        before = {number: signal.signal(number, self._note) for number in caught}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._signal = number


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# Execution of the plan's slots: place, submission, waiting, evidence, record.

CAPTURE_OF_FIRST = "fold"
"""Recording mode of the first run: single calls, from which its access patterns follow."""
_CHECKPOINT_SECONDS = 0.2
_SAY_AFTER_SECONDS = 3.0
"""Waiting time below which a waiting job is not reported."""


@dataclass(frozen=True)
class Running:
    """Run that was submitted."""

    slot: RunSlot
    run_id: str
    handle: Handle


@dataclass
class Executor:
    """Gets the measurements of slots from the journal or by running them.

    Attributes:
        tools: Tools by the name of their case.
        keep: Whether files that runs created are kept.
        keep_removed: Whether files that runs remove are kept until they were compared.
        facts: Facts of all cases together, once known: all cases share one configuration.
        budget: Budget that no run may exceed; None if there is none.
    """

    ledger: StudyLedger
    tools: Mapping[str, Tools]
    observer: Observer
    interrupts: Interrupts
    keep: bool = False
    keep_removed: bool = False
    facts: ProgramFacts | None = None
    budget: Budget | None = None
    _begun: dict[str, float] = field(default_factory=dict)

    def begin(self, slot: RunSlot, place: int) -> Measurement | Running:
        """Return the slot's measurement if the journal contains it; otherwise begin its run.

        Raises:
            ProgramError: The command cannot be started.
            StorageError: There is not enough space.
            BudgetSpentError: The run is expected to exceed a limit.
            KeyboardInterrupt: A signal was received.
        """
        done = self.ledger.measurement(slot.name)
        if done is not None:
            return done
        open_run = self.ledger.open_run(slot.name)
        if open_run is not None and open_run.handle is not None:
            return Running(slot, open_run.run_id, open_run.handle)
        self.interrupts.checkpoint()
        if self.budget is not None:
            self.budget.check_run(slot.case)
        run_id = str(uuid4())
        self.ledger.plan(slot, run_id, place)
        tools = self.tools[slot.case]
        there = tools.workspace.prepare(run_id)
        handle = tools.launcher.submit(self._request(slot, run_id, there))
        self.ledger.submitted(run_id, handle)
        self.observer.run_started(slot)
        return Running(slot, run_id, handle)

    def wait(self, runs: Sequence[Running]) -> list[Running]:
        """Wait until at least one of the runs has ended; return those that have.

        Raises:
            BudgetSpentError: A run exceeded a limit and was ended.
            KeyboardInterrupt: A signal was received.
        """
        launcher = self.tools[runs[0].slot.case].launcher
        reported, begun = "", time.monotonic()
        while True:
            ended = [r for r in runs if self.tools[r.slot.case].launcher.poll(r.handle)]
            if ended:
                return ended
            waits = "; ".join(filter(None, (launcher.describe(run.handle) for run in runs)))
            if waits != reported and time.monotonic() - begun > _SAY_AFTER_SECONDS:
                self.observer.run_waits(waits)
                reported = waits
            self._check_budget(runs)
            self._pause(launcher, [run.handle for run in runs])

    def _check_budget(self, runs: Sequence[Running]) -> None:
        """End a run that exceeds a limit; it counts as never made.

        Raises:
            BudgetSpentError: There is such a run.
        """
        if self.budget is None or not self.budget.is_timed:
            return
        now = time.monotonic()
        for run in runs:
            begun = self._begun.setdefault(run.run_id, now)
            if self.tools[run.slot.case].launcher.describe(run.handle):  # it waits for its job
                begun = self._begun[run.run_id] = now
            try:
                self.budget.check_running(run.slot.role, now - begun)
            except BudgetSpentError as spent:
                self.abandon_all(str(spent))
                raise

    def end(self, run: Running) -> Measurement:
        """Return the result of a run that has ended.

        Raises:
            StorageError: There is not enough space; a run that failed for that does not count.
            BudgetSpentError: The run was ended because its budget was used up.
        """
        tools = self.tools[run.slot.case]
        outcome = tools.launcher.collect(run.handle)
        measurement = tools.look(run.run_id, tools.workspace.find(run.run_id), outcome)
        measurement = self._comparable(run.slot.case, measurement)
        if why := self._why_cut(run.slot.role, measurement):
            self.abandon_all(why)
            raise BudgetSpentError(why)
        self._warn_replaced(run.run_id)
        if measurement.status is RunStatus.FAILED:
            tools.workspace.check_after_failure(run.run_id)
        self.ledger.finished(run.run_id, measurement)
        if not run.slot.keep_output:
            self.release(measurement)
        self.observer.run_finished(run.slot, measurement)
        return measurement

    def _comparable(self, case: str, run: Measurement) -> Measurement:
        """Return a run in a form comparable with the first good one of its case."""
        good = (one.measurement for one in self.ledger.entries if one.case == case)
        return comparable(run, next((one for one in good if one.ok), None))

    def _why_cut(self, role: RunRole, run: Measurement) -> str:
        """Return which limit ended a run that reached its time limit; empty if it was its own."""
        if self.budget is None or run.status is not RunStatus.TIMEOUT:
            return ""
        try:
            self.budget.check_running(role, run.elapsed_seconds)
        except BudgetSpentError as spent:
            return str(spent)
        return ""

    def _warn_replaced(self, run_id: str) -> None:
        """Warn about files that a program replaced, so that they left the burst buffer."""
        record = self._tools_of(run_id).workspace.find(run_id).record_directory
        if names := links_replaced_in_run(record):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self.ledger.warn(
                f"the program replaces the links of {', '.join(map(printable, names[:3]))}{more}: "
                "these files were written to the parallel file system; use --hybrid redirect"
            )

    def configure(self, settings: Mapping[str, Value]) -> Configuration:
        """Return the configuration that applies settings in every case."""
        return build_configuration(settings, self.facts)

    def place(self, measurement: Measurement) -> RunLocation:
        """Return the place of a run."""
        return self._tools_of(measurement.run_id).workspace.find(measurement.run_id)

    def release(self, measurement: Measurement, *, evidence: bool = True) -> None:
        """Remove the files of a run when they are no longer needed."""
        if not self.keep:
            workspace = self._tools_of(measurement.run_id).workspace
            workspace.release(measurement.run_id, evidence=evidence)

    def recover(self) -> None:
        """Record runs that ended before a restart; cancel those that cannot outlive the tuner."""
        for run in self.ledger.open_runs:
            launcher = self.tools[run.case].launcher
            handle = run.handle or self._find_again(run)
            if handle is not None and launcher.poll(handle):
                self._record_ended(run, handle)
            elif handle is None or not launcher.outlives_tuner:
                self._abandon(run, "the tuner was stopped")
        kept = [entry.measurement.run_id for entry in self.ledger.entries]
        self.sweep([*kept, *(run.run_id for run in self.ledger.open_runs)])

    def sweep(self, kept: Sequence[str] = ()) -> None:
        """Remove the working directories of all other runs."""
        if not self.keep:
            for tools in self.tools.values():
                tools.workspace.sweep(kept)

    def _tools_of(self, run_id: str) -> Tools:
        return self.tools[self.ledger.case_of(run_id)]

    def _request(self, slot: RunSlot, run_id: str, place: RunLocation) -> RunRequest:
        facts = self.facts
        return RunRequest(
            run_id=run_id,
            command=place.command,
            directory=place.directory,
            record_directory=place.record_directory,
            configuration=self.configure(slot.settings),
            settings=slot.settings,
            timeout_seconds=self._limit(slot),
            resources=self._resources(slot),
            storage=self.tools[slot.case].storage,
            sync=slot.sync,
            writable=place.writable,
            keep_removed=self.keep_removed,
            capture=CAPTURE_OF_FIRST if slot.role is RunRole.WARM_UP else "",
            mpi_prints=facts is None or facts.uses_cray_mpich,
            in_reach=facts is None or facts.in_reach,
        )

    def _limit(self, slot: RunSlot) -> float | None:
        rest = self.budget.rest_seconds if self.budget is not None else None
        limits = [one for one in (slot.timeout_seconds, rest) if one is not None]
        return min(limits, default=None)

    def _resources(self, slot: RunSlot) -> Resources:
        facts = self.facts or ProgramFacts()
        ranks = slot.settings.get("job.ranks", facts.n_ranks)
        return Resources(facts.n_hosts or None, _count(ranks))

    def _pause(self, launcher: Launcher, handles: Sequence[Handle]) -> None:
        """Sleep until runs should be checked again, or until a signal arrives."""
        look_at = time.monotonic() + launcher.poll_seconds
        while (rest := look_at - time.monotonic()) > 0:
            self.interrupts.checkpoint()
            if launcher.pause(handles, min(rest, _CHECKPOINT_SECONDS)):
                return

    def _find_again(self, run: OpenRun) -> Handle | None:
        tools = self.tools[run.case]
        records = tools.workspace.find(run.run_id).record_directory
        handle = tools.launcher.find_again(run.run_id, records)
        if handle is not None:
            self.ledger.submitted(run.run_id, handle)
        return handle

    def _record_ended(self, run: OpenRun, handle: Handle) -> None:
        tools = self.tools[run.case]
        outcome = tools.launcher.collect(handle)
        if outcome.status is RunStatus.CANCELLED:
            self._abandon(run, "it was cancelled")
            return
        place = tools.workspace.find(run.run_id)
        measurement = self._comparable(run.case, tools.look(run.run_id, place, outcome))
        if why := self._why_cut(self.ledger.role_of(run.run_id), measurement):
            self._abandon(run, why)
            return
        self.ledger.finished(run.run_id, measurement, late=True)

    def abandon_all(self, reason: str) -> None:
        """Cancel every run that has not ended."""
        for run in self.ledger.open_runs:
            self._abandon(run, reason)

    def close(self) -> None:
        """Release what launchers keep between runs."""
        for tools in self.tools.values():
            tools.launcher.close()

    def _abandon(self, run: OpenRun, reason: str) -> None:
        tools = self.tools[run.case]
        if run.handle is not None:
            tools.launcher.cancel(run.handle)
        sweep(tools.workspace.find(run.run_id).record_directory)
        tools.workspace.release(run.run_id)
        self.ledger.dropped(run.run_id, reason)


def _count(value: Value) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


# Units of runs side by side: a loop that assigns each unit a lane and runs its slots in turn.
#
# A unit is a generator that yields the runs it needs and is sent their measurements.  The two runs
# of a pair are in one unit, so they run one after the other, however many units are in flight.
# With one unit at a time they are executed as if they were ordinary functions.

T = TypeVar("T")
MakeUnit = Callable[[int], Steps[T]]
"""Creates a unit for the lane that it is assigned."""


@dataclass
class _Unit(Generic[T]):
    """Unit that was begun; its `result` is available when it has ended."""

    lane: int
    steps: Steps[T]
    running: Running | None = None
    result: list[T] | None = None


class UnitsInFlight(Generic[T]):
    """Executes as many units at a time as a launcher allows."""

    def __init__(self, executor: Executor, max_in_flight: int) -> None:
        self._executor = executor
        self._lanes = range(max_in_flight)
        self._units: dict[int, _Unit[T]] = {}

    @property
    def busy(self) -> int:
        """Number of units that were begun and whose results were not taken."""
        return len(self._units)

    @property
    def free(self) -> int:
        """Number of further units that may begin."""
        return max(0, len(self._lanes) - self.busy)

    def start(self, key: int, make: MakeUnit[T]) -> None:
        """Begin a unit, up to its first run whose result is not yet known."""
        taken = {unit.lane for unit in self._units.values()}
        lane = next((n for n in self._lanes if n not in taken), len(taken))
        self._units[key] = _Unit(lane, make(lane))
        self._advance(self._units[key], None)

    def take(self, key: int | None = None) -> tuple[int, T]:
        """Wait for a unit, or for that with a given key, to end; return key and result."""
        while True:
            for found, unit in self._units.items():
                if unit.result is not None and key in (None, found):
                    del self._units[found]
                    return found, unit.result[0]
            self._wait()

    def each(self, units: Iterable[MakeUnit[T]]) -> Iterator[T]:
        """Execute units; yield their results in the order of the units.

        The next unit is requested when a lane is free.  If the caller stops early, units in
        flight end before this returns, and no further ones begin.
        """
        waiting, results = enumerate(units), dict[int, T]()
        try:
            for number in count():
                while number not in results:
                    while self.free and (following := next(waiting, None)):
                        self.start(*following)
                    if not self.busy:
                        return
                    key, results[key] = self.take()
                yield results.pop(number)
        except GeneratorExit:
            while self.busy:
                self.take()
            raise

    def _advance(self, unit: _Unit[T], given: Measurement | None) -> None:
        unit.running = None
        try:
            while unit.running is None:
                slot = next(unit.steps) if given is None else unit.steps.send(given)
                begun = self._executor.begin(slot, unit.lane)
                if isinstance(begun, Measurement):
                    given = begun
                else:
                    unit.running = begun
        except StopIteration as stop:
            unit.result = [stop.value]

    def _wait(self) -> None:
        """Wait until at least one run has ended, and continue its unit."""
        runs = [unit.running for unit in self._units.values() if unit.running]
        ended = self._executor.wait(runs)
        for unit in list(self._units.values()):
            if unit.running in ended and unit.running is not None:
                self._advance(unit, self._executor.end(unit.running))
