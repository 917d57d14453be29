# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records a surface: a stated subspace, measured exhaustively with the study's machinery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from stripewise.errors import PolicyError, ProgramError, StripewiseError, StudyError
from stripewise.launch import LocalLauncher
from stripewise.model import ProgramFacts
from stripewise.owned import OwnedDirectory
from stripewise.policy import Policy, load_policy
from stripewise.runtime import find_runtime
from stripewise.study import Interrupts, StudyOptions
from stripewise.surfaces._lines import SurfaceRole, SurfaceRun
from stripewise.surfaces._recording_plan import (
    PlannedRun,
    RecordingOptions,
    plan_runs,
    possible_points,
    recorded_tunables,
)
from stripewise.surfaces._recording_provenance import recording_provenance
from stripewise.surfaces._recording_resume import (
    TIMEOUT_KEY,
    check_same,
    ignored_options,
    known_surface,
    options_of,
)
from stripewise.surfaces._recording_runs import SingleRuns, as_surface_run
from stripewise.surfaces._surface import Surface
from stripewise.surfaces._writer import SurfaceWriter
from stripewise.tunables import get
from stripewise.workspace import STUDY_SUFFIX

_FAILURES_IN_A_ROW = 10


class RecordingObserver:
    """Told what happens; all of it does nothing here."""

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """The first run is done: so many runs are wanted, so many are recorded."""

    def recorded(self, run: SurfaceRun) -> None:
        """A run is in the file."""

    def noted(self, text: str) -> None:
        """There is something that the user should know."""


def record_surface(
    options: RecordingOptions, observer: RecordingObserver | None = None
) -> Surface:
    """Measure every configuration of a subspace, or go on doing so; return the surface.

    Raises:
        UsageError: A tunable or a value does not exist.
        PolicyError: The policy forbids a tunable, or so many runs.
        StudyError: The file exists, is of another recording or machine, or is in use.
        ProgramError: The program fails unchanged, or cannot be seen.
        StorageError: No room.
        KeyboardInterrupt: A signal came; `resume` goes on from here.
    """
    recorded_tunables(options.vary)  # before anything is run
    observer = observer or RecordingObserver()
    known = known_surface(options)
    if known is not None:
        for text in ignored_options(known, options):
            observer.noted(text)
        options = options_of(known, options)
    policy = load_policy()
    _check_allowed(policy, known.tunables if known is not None else options.vary)
    interrupts = Interrupts()
    with _work_directory(options) as owned, interrupts.caught():
        directory = owned.path
        runs = SingleRuns(
            owned,
            StudyOptions(options.command, directory, options.origin, inputs=options.inputs),
            LocalLauncher(find_runtime()),
            interrupts,
            options.sync,
            options.timeout_seconds,
            _runs_left(policy, known),
        )
        warm, seen = runs.first()
        about = recording_provenance(options.command, seen.facts, directory, options.sync)
        if known is None:
            known = _begin(
                options, seen.facts, {**about, TIMEOUT_KEY: f"{runs.timeout_seconds:g}"}
            )
        else:
            check_same(known, seen.facts, about, options.output)
        _check_caps(policy, known, warm)
        _record(options.output, known, warm, runs, observer)
    return Surface.load(options.output)


def _check_allowed(policy: Policy, names: Iterable[str]) -> None:
    """Refuse tunables that the policy forbids."""
    for name in names:
        if why := policy.why_not(get(name)):
            raise PolicyError(f"{name} may not be varied, {why}; take it out of --vary")


def _runs_left(policy: Policy, known: Surface | None) -> int | None:
    done = len(known.runs) if known is not None else 0
    return None if policy.max_runs is None else policy.max_runs - done


def _check_caps(policy: Policy, surface: Surface, warm: SurfaceRun) -> None:
    """Refuse a recording that takes more than the policy lets a study take."""
    configurations = surface.plan["configurations"]
    points, _ = possible_points(surface.tunables, surface.facts)
    how = surface.plan
    planned = plan_runs(points, how["repeats"], how["seed"], how["control_every"])
    warm_ups = 1 + sum(run.role is SurfaceRole.WARM_UP for run in surface.runs)
    runs = len(planned) + warm_ups
    for what, needed, cap in (
        ("configurations", configurations, policy.max_trials),
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
    return Surface(
        command=options.command,
        facts=facts,
        provenance=provenance,
        tunables=tunables,
        plan={
            "repeats": options.repeats,
            "seed": options.seed,
            "control_every": options.control_every,
            "configurations": len(points),
            "impossible": impossible,
        },
    )


def _record(
    output: Path, surface: Surface, warm: SurfaceRun, runs: SingleRuns, observer: RecordingObserver
) -> None:
    for name in surface.tunables:
        if why := get(name).why_not(surface.facts):
            observer.noted(f"{name} cannot act on this program ({why}); it is varied all the same")
    points, _ = possible_points(surface.tunables, surface.facts)
    if len(points) != surface.plan["configurations"]:
        raise StudyError(
            f"this Stripewise knows {len(points)} possible configurations, and {output} was begun "
            f"with {surface.plan['configurations']}; begin anew with another -o"
        )
    how = surface.plan
    plan = plan_runs(points, how["repeats"], how["seed"], how["control_every"])
    done = {run.sequence for run in surface.runs}
    with SurfaceWriter(output, surface) as writer:
        writer.append(replace(warm, role=SurfaceRole.WARM_UP))
        observer.planned(surface, len(plan), sum(run.sequence in done for run in plan))
        _carry_out([run for run in plan if run.sequence not in done], writer, runs, observer)


def _carry_out(
    plan: list[PlannedRun], writer: SurfaceWriter, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Make the runs; those that fail are written when the command is seen to work still.

    Raises:
        ProgramError: It does not; `resume` makes the failed runs again.
    """
    held: list[SurfaceRun] = []
    try:
        for planned in plan:
            measurement = runs.one(planned.settings)
            held.append(
                replace(
                    as_surface_run(planned.settings, measurement),
                    role=planned.role,
                    round=planned.round,
                    sequence=planned.sequence,
                )
            )
            if not measurement.ok and len(held) >= _FAILURES_IN_A_ROW:
                _check_still_works(len(held), measurement.message, runs, observer)
            elif not measurement.ok:
                continue
            _write(held, writer, observer)
    except KeyboardInterrupt:
        _write(held, writer, observer)
        raise
    _write(held, writer, observer)


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
