# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the procedure of a study in virtual time on a described storage."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from random import Random

from stripewise.core import (
    ProgramFacts,
    RunStatus,
    Striping,
    StudyResult,
    Value,
    Verification,
    VerificationStatus,
)
from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import interleaved, summaries
from stripewise.learning.performance import Loaded, ground_of, load_models
from stripewise.run.launch import Handle, Launcher, Outcome, RunRequest
from stripewise.settings import Policy
from stripewise.settings.tunables import find_space
from stripewise.storage.machines import Storage, granted_targets
from stripewise.storage.simulation import SimulatedProgram, noise_factor
from stripewise.storage.stacks import Workload
from stripewise.study.plan import StudyOptions
from stripewise.study.runs import FirstLook, Tools, look
from stripewise.study.strategies import ModelStrategy
from stripewise.study.workspace import RunLocation, Workspace


class NoFiles(Workspace):
    """Workspace without files, for runs that write nothing."""

    def __init__(self) -> None:
        """Create the single empty place."""

    def prepare(self, run_id: str) -> RunLocation:
        """Return the place."""
        return self.find(run_id)

    def find(self, run_id: str) -> RunLocation:
        """Return the place."""
        return RunLocation(Path("/nonexistent", run_id), Path("/nonexistent/runs", run_id))

    def release(self, run_id: str, *, evidence: bool = True) -> None:
        """Do nothing: there are no files to remove."""

    def check_after_failure(self, run_id: str) -> None:
        """Do nothing: there is always space."""

    def first_run_known(
        self, written_inputs: Collection[str], output_bytes: int, old_outputs: Collection[str] = ()
    ) -> None:
        """Do nothing: there are no inputs to copy."""

    def sweep(self, kept: Collection[str]) -> None:
        """Do nothing: there are no files to remove."""


def tune_simulated(
    program: SimulatedProgram,
    options: StudyOptions,
    cv: float | None = None,
) -> StudyResult:
    """Tune a workload on a described storage, in virtual time.

    Args:
        program: Program as returned by `simulated_workload`.
        options: Strategy, seed and limits of the study; its command is only shown.
        cv: Coefficient of variation of a run's bandwidth; None for that of the storage.

    Raises:
        UsageError: There is no such strategy or option.
    """
    from stripewise.study.procedure._loop import run_study

    facts = replace(program.facts, io_seconds=program.seconds({}) or 0.0)
    noise = program.storage.value("noise.cv") if cv is None else cv
    launcher = SimulatedLauncher(
        program.seconds,
        read_bytes=facts.read_bytes,
        write_bytes=facts.write_bytes,
        cv=noise,
        seed=options.seed,
    )
    tools = Tools(
        launcher=launcher,
        workspace=NoFiles(),
        look=look,
        measure_first_run=lambda place, measurement: FirstLook(facts),
        compare=_nothing_written,
        find_space=lambda found: find_space(
            found, only=sorted(program.tunables), ladders=options.ladders
        ),
        policy=Policy(),
        provenance={"storage": f"{program.storage.name}, simulated"},
        models=load_models if options.strategy == ModelStrategy.name else Loaded,
        ground=ground_of(facts, storage=program.storage, stack=program.stack),
    )
    with tempfile.TemporaryDirectory(dir=_fast_directory()) as folder:
        home = Path(folder)
        own = replace(options, origin=home, directory=home / "study", memory=False, unsynced=False)
        return run_study(own, None, lambda _options, _ledger: tools)


def simulated_workload(
    storage: Storage,
    workload: Workload,
    stack: str = "",
    transport: str = "",
    *,
    capacity_bytes: int = 0,
    private: bool = False,
) -> SimulatedProgram:
    """Return a workload on a storage as the program of a study.

    Args:
        storage: Storage that it runs on.
        workload: Workload of all ranks.
        stack: Software stack; empty for the usual one of the storage.
        transport: Name of the storage's transport variant; empty for the default.
        capacity_bytes: Burst-buffer capacity that the job requests; 0 for the default.
        private: Whether each node has its own part of the burst buffer.

    Raises:
        ConfigurationError: The storage has no such capacity or variant.
        UsageError: The workload uses no library with tunable settings.
    """
    if not workload.patterns:
        raise UsageError(
            "there are no settings to tune: all requests are the program's own; compare layouts "
            "of its files with --sweep striping_factor=1,4,-1"
        )
    name = stack or storage.stack
    implementation = "ompio" if name.startswith("ompio") else "romio"
    pattern = max(workload.patterns, key=lambda one: one.steps)
    moved = {True: 0, False: 0}
    for one in workload.patterns:
        moved[one.writing] += replace(workload, patterns=(one,), own=()).bytes
    collective = round(sum(moved.values()) * pattern.collective)
    facts = ProgramFacts(
        n_ranks=workload.ranks,
        n_hosts=workload.nodes,
        mpi_family="openmpi" if implementation == "ompio" else "mpich",
        mpi_version="CRAY MPICH" if name == "cray" else "",
        mpiio_implementation="" if name.startswith("posix") else implementation,
        collective_bytes=collective,
        independent_bytes=sum(moved.values()) - collective,
        mpiio_read_bytes=moved[False],
        noncontiguous=interleaved(pattern),
        read_bytes=moved[False],
        write_bytes=moved[True],
        shared_files=1,
        write_calls=workload.ranks,
        filesystem=storage.kind,
        mpiio_driver="LUSTRE" if name == "romio-lustre" else "",
        striping=Striping(
            granted_targets(storage, capacity_bytes),
            int(storage.value("layout.stripe_count")),
            int(storage.value("layout.stripe_size")),
        ),
        pattern=pattern.notation,
        interleaved=interleaved(pattern),
        patterns=summaries(workload.patterns),
    )
    return SimulatedProgram(
        facts, workload, storage, transport, name, capacity_bytes=capacity_bytes, private=private
    )


def _nothing_written(
    baselines: Sequence[str], candidate: str, layout: bool, traced: str
) -> Verification:
    del baselines, candidate, layout, traced
    return Verification(VerificationStatus.IDENTICAL, ("nothing is written",))


def _fast_directory() -> str | None:
    """Return a directory in memory if there is one: the journal is synced at each record."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


# Runs in virtual time, which is predicted by a model and varied by noise.


class SimulatedLauncher(Launcher):
    """Launcher that starts nothing: a run takes the time that a model predicts, times noise.

    The n-th run of the same settings always takes the same time, whatever runs in between.  The
    handle contains the outcome, so that a restarted tuner can collect it.
    """

    name = "simulated"

    def __init__(
        self,
        seconds: Callable[[Mapping[str, Value]], float | None],
        *,
        read_bytes: int = 0,
        write_bytes: int = 0,
        cv: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Store the arguments.

        Args:
            seconds: Returns the I/O time for settings; None if the run fails; infinite if it
                hangs.
            read_bytes: Bytes that every run reads.
            write_bytes: Bytes that every run writes.
            cv: Coefficient of variation of the bandwidth from run to run.
            seed: Seed of the noise.
        """
        self._seconds, self._cv, self._seed = seconds, cv, seed
        self._read_bytes, self._write_bytes = read_bytes, write_bytes
        self._draws: dict[str, int] = {}
        self._clock_seconds = 0.0

    def submit(self, request: RunRequest) -> Handle:
        """Compute the outcome; the run's virtual time begins when the previous one ended."""
        words = repr(sorted(request.settings.items()))
        draw = self._draws[words] = self._draws.get(words, -1) + 1
        share = noise_factor(Random(f"{self._seed}/{words}/{draw}"), self._cv)
        true, limit = self._seconds(request.settings), request.timeout_seconds
        status, seconds = RunStatus.OK, (true or 0.0) / share
        if true is None:
            status = RunStatus.FAILED
        elif not isfinite(seconds) or (limit is not None and seconds > limit):
            status, seconds = RunStatus.TIMEOUT, limit or 0.0
        data: dict[str, str | int | float] = {
            "status": str(status), "seconds": seconds, "started": self._clock_seconds,
        }  # fmt: skip
        self._clock_seconds += seconds
        return Handle(self.name, request.run_id, data)

    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended, which is always true."""
        del handle
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Return the computed outcome."""
        status, seconds = RunStatus(str(handle.data["status"])), float(handle.data["seconds"])
        messages = {
            RunStatus.FAILED: "these settings cannot be simulated",
            RunStatus.TIMEOUT: "stopped at its time limit",
        }
        return Outcome(
            status=status,
            exit_code={RunStatus.OK: 0, RunStatus.FAILED: 1}.get(status),
            elapsed_seconds=seconds,
            started_unix_seconds=float(handle.data["started"]),
            io_seconds=seconds,
            read_bytes=self._read_bytes,
            write_bytes=self._write_bytes,
            message=messages.get(status, ""),
        )

    def cancel(self, handle: Handle) -> None:
        """Do nothing: there is no process."""
