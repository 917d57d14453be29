# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes one run of a case through a launcher, and records the circumstances."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import stripewise
from stripewise.bench._case import Case, CaseRun
from stripewise.bench.campaign import interference_circumstances
from stripewise.bench.runners import Printed, Runner, find_runner
from stripewise.bench.running._places import Places
from stripewise.bench.running._plan import CampaignOptions, OpenRun, PlannedRun
from stripewise.core import OwnedDirectory, RunStatus
from stripewise.core.errors import StorageError, StripewiseError, UsageError
from stripewise.present import size_text
from stripewise.run.launch import Handle, Launcher, Outcome, Resources, RunRequest
from stripewise.run.runtime import Runtime, find_launcher, mpiexec_words
from stripewise.settings.tunables import build_configuration
from stripewise.storage.machines import find_mount, find_storage

BESIDE = "beside"
_ROOM = 1.02
"""Ratio of the free space needed to a case's bytes: libraries write a little more."""
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC|EDQUOT")
_NODE_DOWN = re.compile(r"NODE_FAIL|[Nn]ode failure|is down|not responding")


class Maker:
    """Makes the runs of a campaign, one at a time.

    Attributes:
        launcher: Launcher that starts them.
        versions: Versions of the programs and libraries that were run, by name.
        notes: Remarks on the figures.
    """

    def __init__(
        self,
        options: CampaignOptions,
        owned: OwnedDirectory,
        places: Places,
        launcher: Launcher,
        runtime: Runtime | None,
    ) -> None:
        """Store what is needed for runs.

        Args:
            options: Options of the campaign.
            owned: Directory of the campaign.
            places: Directories of the campaign on the storage.
            launcher: Launcher that starts runs; its library is set for each run.
            runtime: Library to preload if settings are applied or a storage is emulated.
        """
        self.launcher = launcher
        self.versions: dict[str, str] = {}
        self.notes: dict[str, None] = {}
        self._options, self._owned, self._places, self._runtime = options, owned, places, runtime
        self._around: dict[str, Any] = {}

    def no_room(self, planned: PlannedRun) -> str:
        """Return why there is no space for a case; empty if there is, as far as is known."""
        workload = find_runner(planned.case.runner).workload(planned.case)
        needed = (workload.bytes if workload is not None else 0) * _ROOM
        free = self._places.free_bytes()
        if needed <= free:
            return ""
        return (
            f"it writes {size_text(round(needed))}, and {size_text(free)} are free in "
            f"{self._places.path}"
        )

    def submit(self, planned: PlannedRun, run_id: str, number: int, seconds: float) -> Handle:
        """Start a run.

        Args:
            planned: Run to start.
            run_id: UUID text.
            number: Number of the run in the campaign.
            seconds: Time limit of the run.

        Raises:
            StripewiseError: The run cannot be started.
        """
        case = planned.case
        record = self._owned.inside("runs", f"{number:06d}").make()
        directory = self._places.make(case.directory, number)
        parts = list(self._parts(case, directory, record))
        nodes = self._options.suite.nodes_of(case)
        storage = self._options.storage_of(case)
        if storage is not None:
            seed, first = storage.options.seed + number, number % storage.targets
            storage = replace(storage, options=replace(storage.options, seed=seed, first=first))
        needs = storage is not None or bool(case.settings)
        self._preload(self._runtime if needs else None)
        family = self._runner(case).chosen_family() or "mpich"
        self._around = {**circumstances(), "stack": mpiio_stack(self._options, family)}
        return self.launcher.submit(
            RunRequest(
                run_id=run_id,
                command=start_words(self._options, family, nodes, parts, record),
                directory=directory,
                record_directory=record,
                configuration=build_configuration(dict(case.settings)),
                settings=dict(case.settings),
                timeout_seconds=seconds,
                sync=False,
                resources=Resources(nodes, sum(ranks for ranks, _ in parts)),
                storage=storage,
            )
        )

    def _preload(self, runtime: Runtime | None) -> None:
        if hasattr(self.launcher, "runtime"):
            self.launcher.runtime = runtime

    def _parts(self, case: Case, directory: Path, record: Path) -> Iterator[Part]:
        yield case.ranks, self._runner(case).command(case, directory, record)
        other = self._options.suite.beside(case)
        if other is not None:
            (record / BESIDE).mkdir(mode=0o700, exist_ok=True)
            place = directory / BESIDE
            place.mkdir(mode=0o700, exist_ok=True)
            if other.directory != case.directory:
                self._places.stripe(place, self._options.suite.directories[other.directory])
            yield other.ranks, self._runner(other).command(other, place, record / BESIDE)

    def _runner(self, case: Case) -> Runner:
        runner = find_runner(case.runner)
        runner.family = family_of(self._options, case)
        return runner

    def find_again(self, run: OpenRun) -> Handle | None:
        """Return the handle of a run of which only the plan is known; None if it never began."""
        record = self._owned.inside("runs", f"{run.number:06d}").path
        return self.launcher.find_again(run.run_id, record)

    # -- results ---------------------------------------------------------------------------------

    def ended(self, run: OpenRun, case: Case, handle: Handle) -> tuple[CaseRun, bool]:
        """Return the result of a finished run, and whether a failure is unrelated to the case."""
        outcome = self.launcher.collect(handle)
        record = self._owned.inside("runs", f"{run.number:06d}").path
        found = CaseRun(
            key=run.key,
            repeat=run.repeat,
            status=_status(outcome),
            message=_message(outcome),
            started_unix_seconds=outcome.started_unix_seconds,
            elapsed_seconds=outcome.elapsed_seconds,
            node_seconds=outcome.elapsed_seconds * self._options.suite.nodes_of(case),
            circumstances={**self._around, **_emulated(outcome)},
        )
        if outcome.status is RunStatus.OK:
            found = self._with_figures(found, case, record)
        if why := _why_not_the_storage(outcome, self._options, case):
            return replace(found, status="failed", samples=(), message=why), True
        found = replace(found, layout=self._places.layout(case.directory, run.number))
        outside = found.status == "failed" and outcome.cause.is_outside
        return found, outside

    def _with_figures(self, run: CaseRun, case: Case, record: Path) -> CaseRun:
        try:
            stdout = (record / "stdout").read_text(encoding="utf-8", errors="replace")
            printed = self._runner(case).printed(case, record, stdout)
            other = self._options.suite.beside(case)
            beside = (
                None
                if other is None
                else self._runner(other).printed(other, record / BESIDE, stdout)
            )
        except OSError as error:
            return replace(
                run, status="failed", message=f"its output is missing: {error.strerror}"
            )
        except StripewiseError as error:
            return replace(run, status="failed", message=str(error))
        self._learn(printed)
        around = dict(run.circumstances)
        if beside is not None:
            around |= interference_circumstances(printed, beside)
        written = sum(int(one.amount) for one in printed.samples if one.operation == "write")
        return replace(
            run, samples=printed.samples, hints=dict(printed.hints), written_bytes=written,
            circumstances=around,
        )  # fmt: skip

    def _learn(self, printed: Printed) -> None:
        self.versions |= printed.versions
        if self._options.storage is None:  # notes are about caches, which emulated storage lacks
            self.notes |= dict.fromkeys(printed.notes)

    def release(self, run: OpenRun, case: Case) -> None:
        """Remove the files of a run; its record is kept.

        Raises:
            StorageError: The files cannot be removed.
        """
        self._places.remove(case.directory, run.number)


def _status(outcome: Outcome) -> str:
    if outcome.status is RunStatus.OK:
        return "ok"
    if _NO_ROOM.search(outcome.output):
        return "no-space"
    return "timeout" if outcome.status is RunStatus.TIMEOUT else "failed"


def _message(outcome: Outcome) -> str:
    """Return one line on why a run failed, preferring the program's last message."""
    if outcome.status is RunStatus.OK:
        return ""
    lines = [line.strip() for line in outcome.output.splitlines() if line.strip()]
    message = next(
        (line for line in lines if _NO_ROOM.search(line) or _NODE_DOWN.search(line)), ""
    )
    message = message or next((line for line in lines if "stripewise" in line), "")
    words = [outcome.message, *([message] if message not in outcome.message else [])]
    return ": ".join(filter(None, words))[:400]


def _why_not_the_storage(outcome: Outcome, options: CampaignOptions, case: Case) -> str:
    """Return why figures of an emulated run are not those of the storage; empty if they are."""
    seen = outcome.emulated
    if seen is None:
        return ""
    return seen.problem or seen.why_it_hangs(options.suite.nodes_of(case) * case.ranks_per_node)


def _emulated(outcome: Outcome) -> dict[str, Any]:
    """Return what the emulated storage observed: its own time and the host's delay."""
    seen = outcome.emulated
    if seen is None:
        return {}
    limits = {name: round(share, 3) for name, share in seen.limits.items()}
    return {"late_share": round(seen.late_share, 4), "limits": limits}


def check_runners(cases: tuple[Case, ...], family: str, *, installed: bool) -> None:
    """Refuse cases that their programs cannot run, or whose programs are not available.

    Raises:
        UsageError: There is such a case; the message has the remedy.
    """
    missing: dict[str, str] = {}
    for case in cases:
        runner = find_runner(case.runner)
        runner.family = family
        if why := runner.why_not(case):
            raise UsageError(f"the case {case.key!r} is impossible: {why}")
        if installed and runner.name not in missing:
            missing[runner.name] = runner.missing()
    for name, why in missing.items():
        if why:
            raise UsageError(f"the runner {name} cannot be used here: {why}")


# The words that start the ranks of a case, alone or beside another one.

Part = tuple[int, list[str]]
"""Number of ranks, and program with arguments of each."""


def through_srun(options: CampaignOptions) -> bool:
    """Return whether srun starts the ranks: in jobs, and within an allocation."""
    return options.launcher == "slurm" or bool(
        options.storage is None and os.environ.get("SLURM_JOB_ID")
    )


def start_words(
    options: CampaignOptions, family: str, nodes: int, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    """Return the command of a run.

    Args:
        options: Options of the campaign.
        family: MPI of the programs, for mpiexec.
        nodes: Number of nodes of the job.
        parts: One program, or several simultaneous ones, each with its ranks.
        record: Directory of the run's record, for a file that srun reads.

    Raises:
        ProgramError: There is no mpiexec of the family.
        StorageError: The file cannot be written.
    """
    if through_srun(options):
        return _srun(options, nodes, parts, record)
    words: list[str] = []
    mpi = find_launcher(family)
    if path := options.mpiexec or _lustre_mpiexec_path(options, mpi.family):
        mpi = replace(mpi, mpiexec=Path(path))
    for ranks, program in parts:
        own = mpiexec_words(mpi, ranks, options.launcher_options)
        words += [":", *own[1:]] if words else own
        words += program
    return tuple(words)


def family_of(options: CampaignOptions, case: Case) -> str:
    """Return the MPI whose program runs a case; empty for the one that its runner finds.

    On emulated Lustre that is an MPICH whose ROMIO has the Lustre driver; for libraries that
    distributions build only for Open MPI, it is Open MPI.
    """
    if options.family or options.storage is None or not _has_lustre_driver(options):
        return options.family
    return "openmpi" if case.backend in _OPENMPI_ONLY else "mpich"


def mpiio_stack(options: CampaignOptions, family: str) -> str:
    """Return the software stack of MPI-IO that a program of a family has on the storage.

    Args:
        options: Options of the campaign.
        family: "mpich", "openmpi", "openmpi-5"; others are treated like MPICH.
    """
    if family.startswith("openmpi"):
        return "ompio"
    on_lustre = options.storage is None and find_mount(options.inside).kind == "lustre"
    return "romio-lustre" if on_lustre or _has_lustre_driver(options) else "romio"


_OPENMPI_ONLY = ("netcdf4", "pnetcdf", "adios2")
"""Libraries that Debian provides only for Open MPI, or that are built for it."""


def _has_lustre_driver(options: CampaignOptions) -> bool:
    if options.storage is None or find_storage(options.storage.machine).kind != "lustre":
        return False
    return lustre_mpiexec().is_file()


def _lustre_mpiexec_path(options: CampaignOptions, family: str) -> str:
    """Return the mpiexec of the MPICH with ROMIO's Lustre driver; empty if it is not used."""
    use = family == "mpich" and _has_lustre_driver(options)
    return str(lustre_mpiexec()) if use else ""


def lustre_mpiexec() -> Path:
    """Return the path at which `make lustre-mpi` installs the mpiexec of its MPICH."""
    usual = Path.home() / ".cache" / "stripewise"
    return Path(os.environ.get("STRIPEWISE_CACHE") or usual, "lustre-mpi", "bin", "mpiexec")


def _srun(
    options: CampaignOptions, nodes: int, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    """Return the words of srun: each program has its own nodes, one after another."""
    ranks = sum(number for number, _ in parts)
    words = ["srun", f"--nodes={nodes}", f"--ntasks={ranks}"]
    words += [f"--ntasks-per-node={-(-ranks // nodes)}", *options.launcher_options]
    if len(parts) == 1:
        return (*words, *parts[0][1])
    lines, first = [], 0
    for number, program in parts:
        lines.append(f"{first}-{first + number - 1} {' '.join(map(shlex.quote, program))}\n")
        first += number
    file = record / "multi-prog.conf"
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"cannot write {file}: {error.strerror}: free some space there"
        ) from error
    return (*words, "--distribution=block", "--multi-prog", str(file))


# Circumstances of a run, and the system of a campaign.

_SECONDS = 10.0


def circumstances(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the load of this host, and other users' jobs if Slurm shows them.

    Args:
        environment: Environment of this process; by default `os.environ`.
    """
    environment = os.environ if environment is None else environment
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 2)}
    if (jobs := _running_jobs()) is not None:
        found["other_jobs"] = max(jobs - ("SLURM_JOB_ID" in environment), 0)
    if nodes := environment.get("SLURM_JOB_NODELIST"):
        found["node_list"] = nodes
    return found


def _running_jobs() -> int | None:
    """Return how many jobs run on the cluster; None if Slurm does not say."""
    squeue = shutil.which("squeue")
    if squeue is None:
        return None
    words = [squeue, "--noheader", "--states=running", "--format=%A"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return len(done.stdout.split()) if done.returncode == 0 else None


def about_system(inside: Path) -> dict[str, Any]:
    """Return the system of a campaign: operating system, memory, versions, file system.

    Args:
        inside: Directory on the storage.
    """
    mount = find_mount(inside)
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": platform.node(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "file_system": str(mount),
        "file_system_kind": mount.kind,
        "stripewise": stripewise.__version__,
        "python": platform.python_version(),
        "versions": {},
    }
