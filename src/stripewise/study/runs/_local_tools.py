# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates the tools of a study on this machine."""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

import stripewise
from stripewise.core import (
    JobFigures,
    JobSettings,
    OwnedDirectory,
    ProgramFacts,
    Striping,
    StudyResult,
    Verification,
)
from stripewise.core.errors import UsageError
from stripewise.learning.knowledge import (
    Memory,
    describe_machine,
    emulated_machine,
    own_store,
    site_stores,
)
from stripewise.learning.performance import load_models, own_models, site_models
from stripewise.run.launch import HINTS_VARIABLE, Launcher, create_launcher
from stripewise.run.runtime import Runtime, command_with_resources, find_runtime, mpi_of_command
from stripewise.settings import Policy, load_policy
from stripewise.settings.tunables import Layer, Space, Tunable, find_space, get
from stripewise.storage.emulation import EmulatedStorage
from stripewise.storage.machines import (
    KnownStorage,
    find_mount,
    find_storage,
    known_storage,
    local_storage,
    measured_words,
)
from stripewise.study.job_scripts import (
    PreparedJob,
    described_job,
    job_launcher,
    leave_script,
    places_of,
)
from stripewise.study.plan import CLASSES, NO_MACHINE, StudyLedger, StudyOptions, checked_command
from stripewise.study.runs._job_evidence import JobEvidence, darshan_directory
from stripewise.study.runs._looking import look, measure_first_run, what_was_written
from stripewise.study.runs._tools import Compare, Tools
from stripewise.study.strategies import FILES, find_strategy
from stripewise.study.verify import BaselineOutputs, unreadable
from stripewise.study.workspace import InputSnapshot, Workspace


def make_tools(options: StudyOptions, ledger: StudyLedger) -> Tools:
    """Return the tools of a local study: launcher, workspace and the rest.

    Raises:
        RuntimeMissingError: The runtime library is not built.
        UsageError: A given tunable does not exist.
    """
    for name in (*options.only, *options.exclude):
        get(name)
    texts = resource_warnings(options)
    if options.job is None:
        texts = [*texts, *checked_command(options).messages]
    for text in texts:
        ledger.warn(text)
    runtime = find_runtime()
    launcher, prepared = _launcher(options, runtime, ledger)
    storage = _storage(options, launcher)
    known = None if storage or prepared else described_storage(options, ledger)
    policy = load_policy()
    workspace = open_workspace(options)
    evidence = JobEvidence(workspace, darshan_directory()) if prepared else None
    memory = None
    if options.memory:
        machine = describe_machine(options.study_directory)
        machine = machine if storage is None else emulated_machine(machine, storage)
        memory = Memory(own_store(), site_stores(policy.knowledge), machine)
    if warning := other_file_system(options):
        ledger.warn(warning)
    return Tools(
        launcher=launcher,
        workspace=workspace,
        look=partial(look, job=evidence),
        measure_first_run=partial(
            measure_first_run,
            workspace,
            storage=storage,
            striping=striping(options, known),
            nodes=prepared.hosts if prepared else 1,
            burst_buffer_nodes=prepared.own_nodes if prepared else 0,
            job_cpus=prepared.cpus if prepared and options.job and options.job.resources else 0,
            job=evidence,
        ),
        compare=_comparison(workspace),
        unreadable=lambda run_id: unreadable(workspace.outputs(run_id)),
        find_space=partial(
            search_space,
            options,
            policy,
            own_hints=prepared is not None and prepared.jobs.says(HINTS_VARIABLE),
        ),
        policy=policy,
        provenance=_provenance(options, policy, storage)
        | (described_job(prepared) if prepared else {}),
        nodes=prepared.jobs.nodes if prepared else 1,
        run_seconds=prepared.jobs.run_seconds if prepared else None,
        leave=_leave(options, prepared, runtime, workspace, launcher),
        memory=memory,
        places=places_of(prepared) if prepared else None,
        storage=storage,
        known=known,
        models=partial(load_models, (own_models(), *site_models(policy.models))),
    )


def _launcher(
    options: StudyOptions, runtime: Runtime, ledger: StudyLedger
) -> tuple[Launcher, PreparedJob | None]:
    """Return the launcher of the command, or of jobs made from a job script."""
    if options.job is None:
        return create_launcher(options.launcher, runtime), None
    return job_launcher(options, runtime, ledger)


def _leave(
    options: StudyOptions,
    prepared: PreparedJob | None,
    runtime: Runtime,
    workspace: Workspace,
    launcher: Launcher,
) -> Callable[[StudyResult], JobFigures | None]:
    """Return the function that writes the script of a job script's study."""
    if prepared is None or options.job is None:
        return lambda result: None
    return partial(leave_script, options, prepared, runtime, workspace.snapshot, launcher)


def described_storage(options: StudyOptions, ledger: StudyLedger) -> KnownStorage | None:
    """Return the description assigned to the study's file system; warn about errors in it."""
    if options.machine:
        return None
    known, problems = known_storage(options.study_directory)
    for text in problems if find_strategy(options.strategy).uses_models else ():
        ledger.warn(text)
    return known


def striping(options: StudyOptions, known: KnownStorage | None) -> Striping | None:
    """Return the striping of new files according to the given or known description."""
    if not find_mount(options.study_directory).is_parallel:
        return None
    if options.machine not in ("", NO_MACHINE):
        return find_storage(options.machine).striping
    return known.storage.striping if known else None


def _storage(options: StudyOptions, launcher: Launcher) -> EmulatedStorage | None:
    """Return the storage to emulate.

    Raises:
        UsageError: The launcher cannot emulate storage, or the description has changed.
    """
    if options.storage is None:
        return None
    if not launcher.emulates:
        raise UsageError(
            f"--on: the launcher {launcher.name} cannot emulate storage; leave --launcher out"
        )
    return EmulatedStorage.find(options.storage)


def open_workspace(options: StudyOptions) -> Workspace:
    """Take the snapshot of the inputs, or open that of a resumed study.

    With several cases, runs and records are in `<study>/cases/<case>`.  The cases share the
    snapshot; a case with its own inputs has its own one there.

    Raises:
        StripewiseError: The inputs cannot be copied, or the directory belongs to another study.
    """
    study = OwnedDirectory.find(options.study_directory)
    part = study.inside(*options.part.parts)
    home = study if options.sharing else part
    home.make()
    snapshot = InputSnapshot.load(home)
    if snapshot is None:
        words = [word for each in options.sharing or (options.command,) for word in each]
        snapshot = InputSnapshot.create(options.origin, home, inputs=options.inputs, command=words)
    emulated = options.storage is not None
    return Workspace(
        snapshot, part, options.command, emulated=emulated, allowed=options.allowed_outside
    )


def search_space(
    options: StudyOptions, policy: Policy, facts: ProgramFacts, *, own_hints: bool = False
) -> Space:
    """Return the tunables that may be tried with a program.

    Args:
        options: Options of the study.
        policy: Policy of the site and the user.
        facts: Facts of the program.
        own_hints: Whether the job script itself sets hints for Cray MPICH.
    """

    def why_not(tunable: Tunable) -> str:
        if tunable.name in options.exclude:
            return "excluded by --exclude"
        if not facts.in_reach and not acts_from_outside(tunable, facts, own_hints):
            return "it is set inside the program, which the library cannot reach"
        return policy.why_not(tunable)

    return find_space(
        facts,
        why_not,
        classes=CLASSES[options.allow],
        only=options.only,
        ladders=options.ladders,
    )


def acts_from_outside(tunable: Tunable, facts: ProgramFacts, own_hints: bool) -> bool:
    """Return whether a setting reaches a program without the library, by Slurm or a variable."""
    if tunable.layer is Layer.MPIIO:
        return facts.uses_cray_mpich and not own_hints
    return tunable.layer is Layer.JOB and tunable.name != FILES


def _comparison(workspace: Workspace) -> Compare:
    """Return a function that compares two baselines once, and candidates with them."""

    @lru_cache(maxsize=1)
    def reference(baselines: tuple[str, ...], traced: str) -> BaselineOutputs:
        first, second = map(workspace.outputs, baselines)
        return BaselineOutputs(first, second, lambda: what_was_written(workspace.find(traced)))

    def compare(
        baselines: Sequence[str], candidate: str, layout: bool, traced: str
    ) -> Verification:
        known = reference(tuple(baselines), traced)
        return known.verify(workspace.outputs(candidate), layout=layout)

    return compare


def _provenance(
    options: StudyOptions, policy: Policy, storage: EmulatedStorage | None
) -> dict[str, str]:
    local = local_storage(options.study_directory)
    known, _ = known_storage(options.study_directory)
    here = f"{known}, {local.mount}" if known else str(local.mount)
    described = {
        "stripewise": stripewise.__version__,
        "python": platform.python_version(),
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(len(os.sched_getaffinity(0))),
        "storage": f"{storage.identity}, emulated on {here}" if storage else here,
        "storage measured": measured_words(local),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "directory": str(options.origin),
    }
    if known is not None and storage is None:
        described["described"] = known.storage.name
    if storage is not None:
        described["emulated"] = storage.identity
        described["emulated as"] = storage.command_words
        described["emulated title"] = storage.storage.title
        described["emulated digest"] = storage.digest
    if policy.sources:
        described["policy"] = ", ".join(policy.sources)
    return {name: text for name, text in described.items() if text}


def other_file_system(options: StudyOptions) -> str:
    """Return a warning if runs are on another storage than the user's directory; or empty."""
    study = options.study_directory
    if os.stat(study).st_dev == os.stat(options.origin).st_dev:
        return ""
    return (
        f"the study's directory {study} lies on another file system than {options.origin}: "
        "that storage is measured; give --study-dir inside the one that your jobs write to"
    )


def resource_warnings(options: StudyOptions) -> list[str]:
    """Insert every resource value into the command; return warnings for the user.

    Raises:
        UsageError: The launcher or one of its options is not understood.
    """
    if not (options.ranks or options.ranks_per_node or options.threads):
        return []
    for job in _jobs(options):
        command_with_resources(options.command, job)
    warnings = [
        "ranks and threads are tried too: settings whose output differs from that of the command "
        "as it is are rejected"
    ]
    return warnings + ([] if options.job is not None else _oversubscribed(options))


def _jobs(options: StudyOptions) -> Iterator[JobSettings]:
    for ranks, per_node, threads in itertools.product(
        (None, *options.ranks), (None, *options.ranks_per_node), (None, *options.threads)
    ):
        yield JobSettings(ranks=ranks, ranks_per_node=per_node, threads=threads)


def _oversubscribed(options: StudyOptions) -> list[str]:
    """Return a warning for more ranks or threads than cores, judging by this host."""
    cores = len(os.sched_getaffinity(0))
    several_hosts = os.environ.get("SLURM_JOB_NUM_NODES", "1") not in ("", "1")
    ranks = max(options.ranks, default=1)
    threads = max(options.threads, default=1)
    if several_hosts or ranks * threads <= cores:
        return []
    what = f"{ranks} ranks" + (f" with {threads} threads each" if threads > 1 else "")
    mpi = mpi_of_command(options.command)
    if mpi is not None and mpi.family == "mpich" and ranks > cores:
        return [
            f"--ranks: {what} on {cores} cores: MPICH spins while it waits, so that such runs "
            "are slow whatever the settings; use at most as many ranks as cores"
        ]
    return [f"up to {what} on {cores} cores: they wait for one another, and timings mislead"]
