# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records a surface: a stated subspace, measured exhaustively with the study's machinery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.core import MOST_ATTEMPTS, Measurement, OwnedDirectory, ProgramFacts
from stripewise.core.errors import PolicyError, ProgramError, StripewiseError, StudyError
from stripewise.run.jobs import check_command
from stripewise.settings import Policy, load_policy
from stripewise.settings.tunables import get
from stripewise.study.plan import Outside, StudyOptions, outside_of_command
from stripewise.study.procedure import SingleRuns
from stripewise.study.runs import Interrupts
from stripewise.study.surfaces._recording_plan import (
    RecordingOptions,
    check_same,
    count_points,
    count_runs,
    ignored_options,
    known_surface,
    options_of,
    plan_runs,
    planned_points,
    possible_points,
    provenance_of,
    recorded_tunables,
)
from stripewise.study.surfaces._surface import Surface, SurfaceRole, SurfaceRun, SurfaceWriter
from stripewise.study.workspace import STUDY_SUFFIX

_FAILURES_IN_A_ROW = 10
_FIGURES = (
    "elapsed_seconds", "io_seconds", "read_bytes", "write_bytes", "status",
    "started_unix_seconds", "message", "missing",
)  # fmt: skip
"""What a surface keeps of a run's measurement."""


class RecordingObserver:
    """Told what happens; all of it does nothing here."""

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """The first run is done: so many runs are wanted, so many are recorded."""

    def recorded(self, run: SurfaceRun) -> None:
        """A run is in the file."""

    def noted(self, text: str) -> None:
        """There is something that the user should know."""

    def enough(self) -> bool:
        """Whether to end here; what is left is for `resume`."""
        return False


def record_surface(
    options: RecordingOptions, observer: RecordingObserver | None = None
) -> Surface:
    """Measure every configuration of a subspace, or go on doing so; return the surface.

    Raises:
        UsageError: A tunable or a value does not exist; or the command would change files of the
            user's which no run may change, runs a job script on this host, or submits jobs.
        PolicyError: The policy forbids a tunable, or so many runs.
        StudyError: The file exists, is of another recording or machine, or is in use.
        ProgramError: The program fails unchanged, or cannot be seen.
        StorageError: No room.
        KeyboardInterrupt: A signal came; `resume` goes on from here.
    """
    observer = observer or RecordingObserver()
    options, known, policy = _checked(options, observer)
    interrupts = Interrupts()
    with _work_directory(options) as owned, interrupts.caught():
        directory = owned.path
        runs = SingleRuns(
            owned, _study_options(options, directory), interrupts, _runs_left(policy, known)
        )
        for text in runs.outside.told:
            observer.noted(text)
        measurement, seen = runs.first()
        warm = _made(SurfaceRun({}, 0.0, 0.0, role=SurfaceRole.WARM_UP), measurement)
        about = provenance_of(options, seen.facts, directory, runs.timeout_seconds)
        if known is None:
            known = _begin(options, seen.facts, about)
        else:
            check_same(known, seen.facts, about, options.output)
        _record(options.output, policy, known, warm, runs, observer)
    return Surface.load(options.output)


def plan_recording(
    options: RecordingOptions, observer: RecordingObserver | None = None
) -> RecordingAhead:
    """Say what a recording would run; nothing is run.

    Raises:
        UsageError: A tunable or a value does not exist, or the command cannot be recorded.
        PolicyError: The policy forbids a tunable.
        StudyError: The file exists, or is of another recording.
    """
    options, known, _ = _checked(options, observer or RecordingObserver())
    if known is not None:
        how, points = known.plan, known.plan["configurations"]
        repeats, every = how["repeats"], how["control_every"]
    else:
        points = count_points(recorded_tunables(options.vary))
        points = min(options.configurations or points, points)
        repeats, every = options.repeats, options.control_every
    done = {run.sequence for run in known.runs} - {0} if known is not None else ()
    return RecordingAhead(
        command=options.command,
        most_configurations=points,
        repeats=repeats,
        most_runs=count_runs(points, repeats, every),
        done=len(done),
        outside=outside_of_command(_study_options(options), options.command),
    )


@dataclass(frozen=True)
class RecordingAhead:
    """What a recording would run.

    Attributes:
        command: Of each run.
        most_configurations: Those that cannot act are left out once a run was seen.
        repeats: Runs of each.
        most_runs: In all, without the warm-up.
        done: Of them, in the file already.
        outside: What the command does outside of the runs' copies.
    """

    command: tuple[str, ...]
    most_configurations: int
    repeats: int
    most_runs: int
    done: int
    outside: Outside


def _checked(
    options: RecordingOptions, observer: RecordingObserver
) -> tuple[RecordingOptions, Surface | None, Policy]:
    """Return the options that hold, the recording to go on with, and the policy."""
    recorded_tunables(options.vary)
    known = known_surface(options)
    if known is not None:
        for text in ignored_options(known, options):
            observer.noted(text)
        options = options_of(known, options)
    if options.command:
        check_command(options.command, options.origin, "bench surface record")
    policy = load_policy()
    _check_allowed(policy, known.tunables if known is not None else options.vary)
    return options, known, policy


def _study_options(options: RecordingOptions, directory: Path | None = None) -> StudyOptions:
    return StudyOptions(
        options.command,
        directory,
        options.origin,
        inputs=options.inputs,
        allow_outside=options.allow_outside,
        sync=options.sync,
        timeout_seconds=options.timeout_seconds,
        storage=options.storage,
    )


def _check_allowed(policy: Policy, names: Iterable[str]) -> None:
    """Refuse tunables that the policy forbids."""
    for name in names:
        if why := policy.why_not(get(name)):
            raise PolicyError(f"{name} may not be varied, {why}; take it out of --vary")


def _runs_left(policy: Policy, known: Surface | None) -> int | None:
    done = len(known.runs) if known is not None else 0
    return None if policy.max_runs is None else policy.max_runs - done


def _check_caps(policy: Policy, surface: Surface, n_planned: int, warm: SurfaceRun) -> None:
    """Refuse a recording that takes more than the policy lets a study take."""
    warm_ups = 1 + sum(run.role is SurfaceRole.WARM_UP for run in surface.runs)
    runs = n_planned + warm_ups
    written = warm.amount("write_bytes")
    if policy.max_bytes is not None and not written.is_exact:
        raise PolicyError(
            f"the policy allows {policy.max_bytes} bytes written, and how much a run writes is "
            f"not known ({written.why}); ask for a policy without max_bytes"
        )
    for what, needed, cap in (
        ("configurations", surface.plan["configurations"], policy.max_trials),
        ("runs", runs, policy.max_runs),
        ("bytes written", runs * warm.write_bytes, policy.max_bytes),
    ):
        if cap is not None and needed > cap:
            raise PolicyError(
                f"this recording takes {needed} {what}, and the policy allows {cap}; vary fewer "
                "values, give fewer --repeats, or ask for a higher cap"
            )


def _begin(
    options: RecordingOptions, facts: ProgramFacts, provenance: Mapping[str, str]
) -> Surface:
    """Make the header of a new surface."""
    tunables = recorded_tunables(options.vary)
    points, impossible = possible_points(tunables, facts)
    number = min(options.configurations or len(points), len(points))
    plan = {
        "repeats": options.repeats,
        "seed": options.seed,
        "control_every": options.control_every,
        "configurations": number,
        "impossible": impossible,
    }
    return Surface(
        command=options.command,
        facts=facts,
        provenance=provenance,
        tunables=tunables,
        plan=plan if number == len(points) else {**plan, "spread": number},
    )


def _record(
    output: Path,
    policy: Policy,
    surface: Surface,
    warm: SurfaceRun,
    runs: SingleRuns,
    observer: RecordingObserver,
) -> None:
    how = surface.plan
    points = planned_points(surface)
    plan = plan_runs(points, how["repeats"], how["seed"], how["control_every"])
    _check_caps(policy, surface, len(plan), warm)
    for name in surface.tunables:
        if why := get(name).why_not(surface.facts):
            observer.noted(f"{name} cannot act on this program ({why}); it is varied all the same")
    if len(points) != surface.plan["configurations"]:
        raise StudyError(
            f"this Stripewise knows {len(points)} possible configurations, and {output} was begun "
            f"with {surface.plan['configurations']}; begin anew with another -o"
        )
    done = {run.sequence for run in surface.runs}
    with SurfaceWriter(output, surface) as writer:
        writer.append(warm)
        observer.planned(surface, len(plan), sum(run.sequence in done for run in plan))
        _carry_out([run for run in plan if run.sequence not in done], writer, runs, observer)


def _carry_out(
    plan: list[SurfaceRun], writer: SurfaceWriter, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Make the runs; those that fail are written when the command is seen to work still.

    A failure that says nothing about the settings is not written, and made again by `resume`.

    Raises:
        ProgramError: It does not; `resume` makes the failed runs again.
    """
    held: list[SurfaceRun] = []
    try:
        for planned in plan:
            if observer.enough():
                break
            measurement = _settled(planned, runs)
            if measurement.cause.is_outside:
                observer.noted(f"run {planned.sequence} is not recorded: {measurement.message}")
                continue
            held.append(_made(planned, measurement))
            if not measurement.ok and len(held) >= _FAILURES_IN_A_ROW:
                _check_still_works(len(held), measurement.message, runs, observer)
            elif not measurement.ok:
                continue
            _write(held, writer, observer)
    except KeyboardInterrupt:
        _write(held, writer, observer)
        raise
    _write(held, writer, observer)


def _settled(planned: SurfaceRun, runs: SingleRuns) -> Measurement:
    """Run, and run again after failures from outside; return the last attempt."""
    for _ in range(MOST_ATTEMPTS):
        measurement = runs.one(planned.settings)
        if not measurement.cause.is_outside:
            break
    return measurement


def _made(planned: SurfaceRun, measurement: Measurement) -> SurfaceRun:
    """Return a planned run with what it gave."""
    return replace(planned, **{name: getattr(measurement, name) for name in _FIGURES})


def _write(held: list[SurfaceRun], writer: SurfaceWriter, observer: RecordingObserver) -> None:
    """Write the runs that were held back; none is held any longer."""
    while held:
        writer.append(held[0])
        observer.recorded(held.pop(0))


def _check_still_works(
    failures: int, message: str, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Run the command unchanged, a run that is not recorded.

    Raises:
        ProgramError: It fails as well, so that the failures say nothing about the settings.
    """
    unchanged = runs.one({})
    if not unchanged.ok:
        raise ProgramError(
            f"{failures} runs in a row failed ({message}), and so does the command unchanged "
            f"({unchanged.message}); these runs are not recorded: see that the command still "
            "works, then go on with --resume"
        )
    observer.noted(f"{failures} runs in a row failed; the command unchanged still works")


@contextmanager
def _work_directory(options: RecordingOptions) -> Iterator[OwnedDirectory]:
    """Give the recording's own directory; it stays while there is a recording to go on with.

    A directory that the user names only takes it: what else is in there is left alone.
    """
    parent = options.origin / (options.work_directory or options.output.parent)
    is_new = not parent.exists()
    owned = OwnedDirectory.take(parent / f"{options.output.name}{STUDY_SUFFIX}", "recording")
    with owned.locked():
        try:
            yield owned
        except BaseException:
            if not options.output.exists():
                _remove(owned, parent if is_new else None)
            raise
        _remove(owned, parent if is_new else None)


def _remove(owned: OwnedDirectory, parent: Path | None) -> None:
    with suppress(StripewiseError):
        owned.discard()
    if parent is not None:
        with suppress(OSError):
            parent.rmdir()
