# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts the evidence of a finished run to a measurement and facts of the program."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.core import (
    FailureCause,
    Measurement,
    ObservedFile,
    ProgramFacts,
    RunStatus,
    Striping,
)
from stripewise.core.errors import ContainerError
from stripewise.evidence.containers import (
    Handshake,
    HandshakeState,
    handshake,
    read_containers,
    read_run,
)
from stripewise.evidence.facts import (
    file_classes,
    observed_files,
    program_facts,
    with_patterns,
    written_files,
)
from stripewise.evidence.trace import Evidence, RunProfile, relocated, relocated_profile
from stripewise.present import plural, printable
from stripewise.run.launch import Guarded, Outcome, read_guarded, worked_in
from stripewise.storage.emulation import EmulatedRun, EmulatedStorage
from stripewise.storage.machines import local_storage
from stripewise.study.runs._job_evidence import JobEvidence, largest
from stripewise.study.runs._tools import FirstLook
from stripewise.study.verify import Written, written_by
from stripewise.study.workspace import RunLocation, Workspace

REFUSED = "Stripewise refused to"
_REFUSED = re.compile("refused to (change|make) (.*): it (?:existed before|is outside)")
_RELATIVE = "give the program a relative path, or write {run_dir}/ before the name in the command"
OUT_OF_REACH = (HandshakeState.STATIC, HandshakeState.SETUID, HandshakeState.DROPPED)
"""States in which the library is not in the program: nothing can be observed or set."""
NOT_SEEN = "the run was not seen"
_OF_A_PROFILE = ("io_seconds", "read_bytes", "write_bytes")
_NOT_STARTED = re.compile(r"^stripewise-task: ([^;\n]+: [^:;\n]+)$", re.MULTILINE)
"""Message of `native/task` about a program that it cannot start."""
_MOST_READ = 1 << 20
_MOST_TOLD = 3
_NOT_STORAGE = ("/dev", "/proc", "/sys", "/run")


def look(
    run_id: str, place: RunLocation, outcome: Outcome, job: JobEvidence | None = None
) -> Measurement:
    """Return the measurement of one run; its profile is removed at once.

    Args:
        run_id: Identity of the run.
        place: Place of the run.
        outcome: Outcome of the run according to the launcher.
        job: Other evidence of a job's runs; None if there is none.
    """
    run, state = _captured(run_id, place, outcome)
    if run.cause in (FailureCause.PROGRAM, FailureCause.LAUNCH) and not run.ok:
        run = _with_refusal(run, read_guarded(place.record_directory))
    return run if job is None else job.added(run_id, place, run, state in OUT_OF_REACH)


def comparable(run: Measurement, first: Measurement | None) -> Measurement:
    """Return a run as not observed if more of its time is unknown than of the first run.

    Its known time is only a lower bound: compared with the complete times of others it would
    appear as a gain that was not measured.
    """
    why = run.missing.get("io_seconds", "")
    if not run.ok or first is None or not why or "io_seconds" in first.missing:
        return run
    return _unseen(run, f"its I/O time is not known: {why}")


def _with_refusal(run: Measurement, guarded: Guarded) -> Measurement:
    """Return a failed run with the changes that the guard refused, which may be the cause."""
    if run.message.startswith(REFUSED) or not (why := _refused_text(guarded)):
        return run
    return replace(run, message=f"{why} ({run.message})" if run.message else why)


def _refused_text(guarded: Guarded) -> str:
    """Return what the guard refused in a run, and what allows it; empty if nothing."""
    if not guarded.refused:
        return ""
    path, more = guarded.refused[0], len(guarded.refused) - 1
    what = f"change {printable(path)}, which existed before the run"
    if not guarded.changed:
        what = f"make {printable(path)}, outside of the run's directory"
    others = f" (and {plural(more, 'other path')})" if more else ""
    return (
        f"{REFUSED} {what}{others}; if runs may do so, give --allow-outside PATH, else {_RELATIVE}"
    )


def _captured(
    run_id: str, place: RunLocation, outcome: Outcome
) -> tuple[Measurement, HandshakeState | None]:
    """Return the library's measurement of a run, and its state; None if it was not loaded."""
    measured = Measurement(
        run_id=run_id,
        missing=dict.fromkeys(_OF_A_PROFILE, NOT_SEEN) if outcome.io_seconds is None else {},
        status=outcome.status,
        exit_code=outcome.exit_code,
        elapsed_seconds=outcome.elapsed_seconds,
        io_seconds=outcome.io_seconds or 0.0,
        read_bytes=outcome.read_bytes or 0,
        write_bytes=outcome.write_bytes or 0,
        started_unix_seconds=outcome.started_unix_seconds,
        message=outcome.message,
        cause=outcome.cause,
        stage_in_seconds=outcome.stage_in_seconds,
        stage_out_seconds=outcome.stage_out_seconds,
    )
    if outcome.emulated is not None:
        measured = _on_emulated(measured, outcome.emulated)
    if outcome.io_seconds is not None:
        return measured, None
    if not outcome.containers:
        why = "no process left a mark: LD_PRELOAD was dropped"
        return _unseen(measured, _not_started(place) or why), HandshakeState.DROPPED
    try:
        profile = read_containers(outcome.containers)
    except ContainerError as error:
        return _unseen(measured, str(error)), None
    if outcome.directory is not None:
        profile = relocated_profile(profile, outcome.directory, place.directory)
    measured = replace(
        measured,
        io_seconds=profile.io_seconds,
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        missing=profile.missing,
        files=observed_files(profile, place.directory),
    )
    seen = handshake(profile, place.command, place.directory)
    if seen.state is HandshakeState.RANKS_DIED:
        return _as_not_started(measured, seen.message), seen.state
    if not measured.ok:
        return replace(measured, message=refusal(profile) or measured.message), seen.state
    if outcome.emulated is not None:
        measured = _as_hung(measured, outcome.emulated.why_it_hangs(seen.expected_ranks))
    if not seen.ok:
        measured = _unseen(measured, _why_unseen(seen, place))
    return measured, seen.state


def _on_emulated(run: Measurement, seen: EmulatedRun) -> Measurement:
    """Return a run with its limiting resource; if it is the host, the run is not valid."""
    run = replace(run, limits=seen.limits_text, bypassed=seen.warnings)
    if not run.ok or not seen.problem:
        return run
    how = {"status": RunStatus.FAILED, "cause": FailureCause.HOST}
    return replace(run, **how, message=seen.problem)  # type: ignore[arg-type]


def _as_hung(run: Measurement, why: str) -> Measurement:
    """Return a run that would not have ended on the storage's machine as one that hung."""
    if not why:
        return run
    return replace(run, status=RunStatus.TIMEOUT, cause=FailureCause.HANG, message=why)


def _as_not_started(run: Measurement, message: str) -> Measurement:
    """Return a run in which ranks died before the program began as one that is not valid.

    The command may still have ended well, like a script whose last line is another command.
    """
    if run.ok:
        return replace(run, status=RunStatus.FAILED, cause=FailureCause.LAUNCH, message=message)
    if run.cause is FailureCause.PROGRAM:
        return replace(run, cause=FailureCause.LAUNCH, message=f"{message} ({run.message})")
    return run


def refusal(profile: RunProfile) -> str:
    """Return which file outside of its directory a run must not change; empty if none."""
    found = [match for text in profile.troubles if (match := _REFUSED.search(text))]
    old = [match[2] for match in found if match[1] == "change"]
    return _refused_text(Guarded(tuple(old), tuple(m[2] for m in found if m[1] == "make")))


def measure_first_run(
    workspace: Workspace,
    place: RunLocation,
    measurement: Measurement,
    storage: EmulatedStorage | None = None,
    striping: Striping | None = None,
    nodes: int = 1,
    burst_buffer_nodes: int = 0,
    job_cpus: int = 0,
    job: JobEvidence | None = None,
) -> FirstLook:
    """Return what the program does, or why it cannot be tuned.

    Args:
        workspace: Workspace of the study.
        place: Place of the run.
        measurement: Measurement of the run.
        storage: Storage that was emulated.
        nodes: Compute nodes of a job, if known.
        burst_buffer_nodes: Number of burst-buffer nodes of the unchanged job.
        job_cpus: Total number of processors of a job script's ranks; 0 if unknown.
        striping: Striping of new files, if the real storage is described.
        job: Other evidence of a job's runs; None if there is none.
    """
    evidence = _evidence(place)
    seen = handshake(evidence.profile, place.command, place.directory)
    in_reach = True
    if job is not None and seen.state in OUT_OF_REACH and (logs := job.logged(place, measurement)):
        in_reach, evidence = False, largest(logs)
        seen = Handshake(warnings=(_out_of_reach(_why_unseen(seen, place), job),))
    profile = evidence.profile
    changed = written_files(profile, place.directory)
    outside, temporary = _outside(measurement.files, place)
    problem = _why_unseen(seen, place) if not seen.ok else ""
    if seen.state is HandshakeState.RANKS_APART:
        problem = seen.warnings[-1]
    if not problem and outside:
        problem = (
            f"the program writes {printable(outside[0])}, outside of its working directory, where "
            f"runs would overwrite each other's files, which Stripewise refuses; {_RELATIVE}"
        )
    warnings = [*seen.warnings, *_guard_warnings(read_guarded(place.record_directory))]
    if temporary:
        names = ", ".join(printable(name) for name in temporary[:3])
        warnings.append(f"the program writes {names}: files there are neither new nor verified")
    inputs = workspace.snapshot.entries
    written = [str(path) for path in changed.written if str(path) in inputs]
    run_id = measurement.run_id
    facts = replace(
        program_facts(profile, measurement.elapsed_seconds),
        file_classes=file_classes(profile, place.directory),
        striping=striping,
        filesystem=local_storage(place.directory).mount.kind,
    )
    facts = replace(
        facts,
        n_hosts=max(facts.n_hosts, nodes),
        burst_buffer_nodes=burst_buffer_nodes,
        job_cpus=job_cpus,
        in_reach=in_reach,
    )
    facts = with_patterns(facts, evidence, place.directory)
    if job is not None and not facts.mpi_version:
        facts = _with_mpi(facts, profile, job.printed(run_id, place).mpi_version)
    facts = storage.seen_by(facts) if storage is not None else facts
    return FirstLook(
        facts=facts,
        problem=problem,
        no_plugin=seen.state in (HandshakeState.PLUGIN_MISSING, HandshakeState.PLUGIN_WRONG),
        written_inputs=tuple(sorted(written if in_reach else inputs)),
        replaced_inputs=tuple(
            sorted(
                name
                for name in map(str, changed.replaced)
                if name in inputs and inputs[name].kind == "file"
            )
        ),
        output_bytes=workspace.outputs(run_id).size_bytes,
        warnings=tuple(warnings),
    )


def _guard_warnings(guarded: Guarded) -> Iterator[str]:
    """Yield messages of the guard in a run that ended well."""
    if guarded.refused:
        yield (
            f"runs are prevented from changing {_some_names(guarded.refused)}, outside of their "
            "directory, but continue: whatever depends on such a change is missing in them; if "
            "they may change it, start over with --allow-outside PATH"
        )
    if guarded.escaped:
        programs = [f"{path} {why}" for path, why in guarded.escaped]
        yield (
            "nothing prevents these programs from changing your own files: "
            f"{_some_names(programs)}"
        )


def _some_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    return ", ".join(map(printable, names[:_MOST_TOLD])) + more


def _with_mpi(facts: ProgramFacts, profile: RunProfile, version: str) -> ProgramFacts:
    """Return facts with the MPI that printed its version, or only that an MPI was used."""
    family = "mpich" if version else "other" if profile.is_mpi else ""
    implementation = (
        "romio" if version and facts.collective_bytes + facts.independent_bytes else ""
    )
    return replace(
        facts,
        mpi_version=version,
        mpi_family=facts.mpi_family or family,
        mpiio_implementation=facts.mpiio_implementation or implementation,
    )


def _out_of_reach(why: str, job: JobEvidence) -> str:
    """Return what a study of a program without the library can show."""
    return (
        f"{why}; its I/O is read from Darshan's logs in {printable(str(job.darshan))}, without "
        "waiting for data to reach the storage, and only what can be set from outside is tried"
    )


def what_was_written(place: RunLocation) -> dict[str, Written]:
    """Return what the first run wrote to each of its files, if its trace is complete."""
    try:
        return written_by(_evidence(place), place.directory)
    except ContainerError:
        return {}


def _evidence(place: RunLocation) -> Evidence:
    """Return the recorded evidence of a run, with the present paths of its files."""
    evidence = read_run(_containers(place))
    elsewhere = worked_in(place.record_directory)
    return relocated(evidence, elsewhere, place.directory) if elsewhere else evidence


def _containers(place: RunLocation) -> list[Path]:
    return sorted((place.record_directory / "containers").glob("*.sw"))


def _why_unseen(seen: Handshake, place: RunLocation) -> str:
    """Return why the program was not observed; if it never started, it is not the library."""
    is_dropped = seen.state is HandshakeState.DROPPED
    return (_not_started(place) if is_dropped else "") or _as_given(seen.message, place)


def _not_started(place: RunLocation) -> str:
    """Return why a task of a job script did not start, from its run's output; empty if it did."""
    try:
        with (place.record_directory / "stderr").open("rb") as stream:
            output = stream.read(_MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _NOT_STARTED.search(output)
    return f"the program was not started: {printable(found[1])}" if found else ""


def _as_given(message: str, place: RunLocation) -> str:
    """Return a message with files named as in the user's command, not by the run's directory."""
    return message.replace(str(place.directory), ".")


def _outside(files: Sequence[ObservedFile], place: RunLocation) -> tuple[list[str], list[str]]:
    """Return absolute paths that were written, and those of temporary or allowed files.

    A file that the command names and the run leaves behind is not temporary: the next run, which
    must not change it, would fail.  Names that a program generates are new in every run.
    """
    temporaries = {Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())}
    outside: list[str] = []
    temporary: list[str] = []
    for file in files:
        path = Path(file.path)
        if not path.is_absolute() or not file.write_bytes:
            continue
        no_storage = (*_NOT_STORAGE, place.directory.parent)
        if any(path.is_relative_to(root) for root in no_storage):
            continue
        if any(path.is_relative_to(root) for root in place.writable):
            temporary.append(file.path)
            continue
        in_temporary = any(path.is_relative_to(root) for root in temporaries)
        named = any(file.path in word for word in place.command) and path.is_file()
        (temporary if in_temporary and not named else outside).append(file.path)
    return outside, temporary


def _unseen(run: Measurement, message: str) -> Measurement:
    """Return a run that ended well but was not observed; others failed for their own reason."""
    if not run.ok:
        return run
    return replace(run, status=RunStatus.UNSEEN, cause=FailureCause.PROGRAM, message=message)
