# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records a surface: runs a command with every selected configuration, several times each."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import stripewise
from stripewise.core import MOST_ATTEMPTS, Measurement, OwnedDirectory, ProgramFacts, Value
from stripewise.core.errors import PolicyError, ProgramError, StripewiseError, StudyError
from stripewise.learning.knowledge import describe_machine
from stripewise.run.jobs import check_command
from stripewise.run.runtime import mpi_of_command
from stripewise.settings import Policy, load_policy
from stripewise.settings.tunables import get
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
from stripewise.storage.machines import description_digest, known_storage, local_storage
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import SingleRuns
from stripewise.study.runs import Interrupts
from stripewise.study.training._configurations import (
    plan_runs,
    planned_points,
    possible_points,
    recorded_tunables,
)
from stripewise.study.training._surface import Surface, SurfaceRole, SurfaceRun, SurfaceWriter
from stripewise.study.workspace import STUDY_SUFFIX

_CONTROL_EVERY = 20
_FAILURES_IN_A_ROW = 10
_FIGURES = (
    "elapsed_seconds", "io_seconds", "read_bytes", "write_bytes", "status",
    "started_unix_seconds", "message", "missing",
)  # fmt: skip
"""Figures of a run's measurement that are stored in a surface."""


@dataclass(frozen=True)
class RecordingOptions:
    """Options of a recording.

    Attributes:
        command: Arguments of the program, not a shell command line.
        output: File of the surface; an existing recording in it is continued.
        vary: Tunable name to the values to measure besides the default.
        origin: Directory in which the command is run by the user.
        work_directory: Parent of the runs' directory, which is removed at the end.
        repeats: Number of rounds, in each of which every configuration is run once.
        configurations: Number of configurations to measure, spread over the space; 0 for all.
        seed: Seed of the order.
        timeout_seconds: Time limit of a run; None to derive it from the first run.
        most_seconds: Time after which the recording stops, to be continued later; None for no
            limit.
        storage: Storage to emulate in every run; None to use the real storage.
        allow_outside: Files and directories outside of the copies that runs may change, relative
            to `origin`.
    """

    command: tuple[str, ...]
    output: Path
    vary: Mapping[str, tuple[Value, ...]]
    origin: Path
    work_directory: Path
    repeats: int = 5
    configurations: int = 0
    seed: int = 0
    timeout_seconds: float | None = None
    most_seconds: float | None = None
    storage: EmulationOptions | None = None
    allow_outside: tuple[Path, ...] = ()


class RecordingObserver:
    """Receives the events of a recording; every method does nothing here."""

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """The first run has ended; `done` of `total_runs` runs are recorded already."""

    def recorded(self, run: SurfaceRun) -> None:
        """A run was written to the file."""

    def noted(self, text: str) -> None:
        """A note for the user was issued."""


def record_surface(
    options: RecordingOptions, observer: RecordingObserver | None = None
) -> Surface:
    """Measure every configuration of a space, or continue to do so, and return the surface.

    Raises:
        UsageError: A tunable or a value does not exist; or the command would change files of the
            user that runs must not change, runs a job script on this host, or submits jobs.
        PolicyError: The policy forbids a tunable, or as many runs as planned.
        StudyError: The file is of another recording or machine, or is in use.
        ProgramError: The program fails unchanged, or cannot be observed.
        StorageError: There is not enough space.
        KeyboardInterrupt: A signal was received; the same call continues.
    """
    observer = observer or RecordingObserver()
    begun = time.monotonic()
    known = _known_surface(options)
    check_command(options.command, options.origin, "knowledge train")
    policy = load_policy()
    _check_allowed(policy, options.vary)
    interrupts = Interrupts()
    with _work_directory(options) as owned, interrupts.caught():
        runs = SingleRuns(
            owned, _study_options(options, owned.path), interrupts, _runs_left(policy, known)
        )
        for text in runs.outside.messages:
            observer.noted(text)
        measurement, seen = runs.first()
        warm = _with_measurement(SurfaceRun({}, 0.0, 0.0, role=SurfaceRole.WARM_UP), measurement)
        about = _provenance(options, seen.facts, owned.path, runs.timeout_seconds)
        if known is None:
            known = _begin(options, seen.facts, about)
        else:
            check_same(known, seen.facts, about, options.output)
        planned = _planned_runs(known, options.output)
        _check_caps(policy, known, len(planned), warm)
        _note_inert(known, observer)
        done = {run.sequence for run in known.runs}
        until = None if options.most_seconds is None else begun + options.most_seconds
        with SurfaceWriter(options.output, known) as writer:
            writer.append(warm)
            left = [run for run in planned if run.sequence not in done]
            observer.planned(known, len(planned), len(planned) - len(left))
            _carry_out(left, writer, runs, observer, until)
    return Surface.load(options.output)


def _planned_runs(surface: Surface, path: Path) -> list[SurfaceRun]:
    """Return all runs of a surface's plan, in their order.

    Raises:
        StudyError: The surface was begun by a version with other configurations.
    """
    plan, points = surface.plan, planned_points(surface)
    if len(points) != plan["configurations"]:
        raise StudyError(
            f"this Stripewise knows {len(points)} possible configurations, and {path} was started "
            f"with {plan['configurations']}; give another -o"
        )
    return plan_runs(points, plan["repeats"], plan["seed"], plan["control_every"])


def is_finished(path: Path) -> bool:
    """Return whether a file contains a surface with all the runs of its plan."""
    try:
        surface = Surface.load(path) if path.exists() and path.stat().st_size else None
    except StripewiseError:
        return False
    if surface is None or not surface.plan:
        return False
    wanted = surface.plan["configurations"] * surface.plan["repeats"]
    return sum(run.role is SurfaceRole.POINT for run in surface.runs) >= wanted


def _known_surface(options: RecordingOptions) -> Surface | None:
    """Return the surface in the output file; None if the recording has not begun.

    Raises:
        StudyError: The file contains another recording.
    """
    tunables = recorded_tunables(options.vary)
    if not options.output.exists() or not options.output.stat().st_size:
        return None
    surface = Surface.load(options.output)
    same = options.command == surface.command and tunables == dict(surface.tunables)
    if not surface.plan or not same:
        raise StudyError(
            f"{options.output} is a recording of another command (`{' '.join(surface.command)}`) "
            "or of other tunables; give another -o"
        )
    return surface


def _study_options(options: RecordingOptions, directory: Path) -> StudyOptions:
    return StudyOptions(
        options.command,
        directory,
        options.origin,
        allow_outside=options.allow_outside,
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
    """Refuse a recording that needs more than the policy allows for a study."""
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


def _note_inert(surface: Surface, observer: RecordingObserver) -> None:
    for name in surface.tunables:
        if why := get(name).why_not(surface.facts):
            observer.noted(f"{name} cannot act on this program ({why}); it is varied all the same")


def _begin(
    options: RecordingOptions, facts: ProgramFacts, provenance: Mapping[str, str]
) -> Surface:
    """Return the header of a new surface."""
    tunables = recorded_tunables(options.vary)
    points, impossible = possible_points(tunables, facts)
    number = min(options.configurations or len(points), len(points))
    plan = {
        "repeats": options.repeats,
        "seed": options.seed,
        "control_every": _CONTROL_EVERY,
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


def _carry_out(
    plan: list[SurfaceRun],
    writer: SurfaceWriter,
    runs: SingleRuns,
    observer: RecordingObserver,
    until: float | None = None,
) -> None:
    """Make the runs until a time; write failed ones after checking that the command still works.

    A failure that says nothing about the settings is not written, and the run is repeated later.

    Raises:
        ProgramError: The unchanged command fails as well.
    """
    held: list[SurfaceRun] = []
    try:
        for planned in plan:
            if until is not None and time.monotonic() >= until:
                break
            measurement = _attempt(planned, runs)
            if measurement.cause.is_outside:
                observer.noted(f"run {planned.sequence} is not recorded: {measurement.message}")
                continue
            held.append(_with_measurement(planned, measurement))
            if not measurement.ok and len(held) >= _FAILURES_IN_A_ROW:
                _check_still_works(len(held), measurement.message, runs, observer)
            elif not measurement.ok:
                continue
            _write(held, writer, observer)
    except KeyboardInterrupt:
        _write(held, writer, observer)
        raise
    _write(held, writer, observer)


def _attempt(planned: SurfaceRun, runs: SingleRuns) -> Measurement:
    """Run, and repeat after failures from outside; return the last attempt."""
    for _ in range(MOST_ATTEMPTS):
        measurement = runs.one(planned.settings)
        if not measurement.cause.is_outside:
            break
    return measurement


def _with_measurement(planned: SurfaceRun, measurement: Measurement) -> SurfaceRun:
    """Return a planned run with its measurement."""
    return replace(planned, **{name: getattr(measurement, name) for name in _FIGURES})


def _write(held: list[SurfaceRun], writer: SurfaceWriter, observer: RecordingObserver) -> None:
    """Write the runs that were held back, and clear their list."""
    while held:
        writer.append(held[0])
        observer.recorded(held.pop(0))


def _check_still_works(
    failures: int, message: str, runs: SingleRuns, observer: RecordingObserver
) -> None:
    """Run the unchanged command once without recording it.

    Raises:
        ProgramError: It fails as well, so the failures say nothing about the settings.
    """
    unchanged = runs.one({})
    if not unchanged.ok:
        raise ProgramError(
            f"{failures} runs in a row failed ({message}), and so does the command unchanged "
            f"({unchanged.message}); these runs are not recorded: check that the command still "
            "works, then run the same command again"
        )
    observer.noted(f"{failures} runs in a row failed; the command unchanged still works")


@contextmanager
def _work_directory(options: RecordingOptions) -> Iterator[OwnedDirectory]:
    """Provide the recording's own directory, which stays while a recording can be continued."""
    name = f"{options.output.name}{STUDY_SUFFIX}"
    owned = OwnedDirectory.take(options.work_directory / name, "recording")
    with owned.locked():
        try:
            yield owned
        except BaseException:
            if not options.output.exists():
                _discard(owned)
            raise
        _discard(owned)


def _discard(owned: OwnedDirectory) -> None:
    with suppress(StripewiseError):
        owned.discard()


# Conditions under which a surface is recorded, and whether they are still the same.

_COMPARED = {
    "mpi": "MPI",
    "mpiio": "MPI-IO",
    "hdf5": "HDF5",
    "cpu": "the processor",
    "filesystem": "the file system",
    "emulated": "the emulated storage",
    "emulated digest": "the description of the emulated storage",
}


def _provenance(
    options: RecordingOptions, facts: ProgramFacts, directory: Path, timeout_seconds: float | None
) -> dict[str, str]:
    """Return versions, machine and storage, without names of hosts or directories."""
    storage = EmulatedStorage.find(options.storage) if options.storage else None
    described = known_storage(directory)[0] if storage is None else None
    machine, mpi = describe_machine(directory), mpi_of_command(options.command)
    version = " ".join(facts.mpi_version.partition(", package")[0].split())
    found = {
        "stripewise": stripewise.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": machine.cpu or machine.architecture,
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{machine.memory_bytes >> 10} kB",
        "filesystem": facts.filesystem,
        "storage": local_storage(directory).mount.medium if storage is None else "emulated",
        "emulated": storage.identity if storage is not None else "",
        "emulated digest": storage.digest if storage is not None else "",
        "described": described.storage.name if described else "",
        "described digest": description_digest(described.storage) if described else "",
        "mpi": version or (mpi.label if mpi else ""),
        "mpiio": facts.mpiio_implementation,
        "hdf5": mpi.hdf5.version if facts.uses_hdf5 and mpi and mpi.hdf5 else "",
        "synced": "yes",
        "timeout_seconds": f"{timeout_seconds:g}",
    }
    return {name: text for name, text in found.items() if text}


def check_same(
    surface: Surface, facts: ProgramFacts, provenance: Mapping[str, str], path: object
) -> None:
    """Refuse to mix results of two machines or stacks in one file.

    Raises:
        StudyError: The first run of this session differs from the header.
    """
    differing = []
    if facts.n_ranks != surface.facts.n_ranks:
        differing.append(f"ranks: {surface.facts.n_ranks}, now {facts.n_ranks}")
    for name, title in _COMPARED.items():
        before, now = surface.provenance.get(name, ""), provenance.get(name, "")
        if surface.provenance and before != now:
            differing.append(f"{title}: {before or 'none'}, now {now or 'none'}")
    if differing:
        raise StudyError(
            f"{path} was started under other conditions ({'; '.join(differing)}); continue it "
            "there, or give another -o"
        )
