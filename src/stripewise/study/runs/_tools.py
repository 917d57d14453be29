# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the tools that the procedure of a study needs; tests replace them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stripewise.core import JobFigures, Measurement, ProgramFacts, StudyResult, Verification
from stripewise.learning.knowledge import Memory
from stripewise.learning.performance import Ground, Loaded
from stripewise.run.launch import Launcher, Outcome
from stripewise.settings import Policy
from stripewise.settings.tunables import Space
from stripewise.storage.emulation import EmulatedStorage
from stripewise.storage.machines import KnownStorage
from stripewise.study.job_scripts import JobPlaces
from stripewise.study.workspace import RunLocation, Workspace


@dataclass(frozen=True)
class FirstLook:
    """Observations from the first run.

    Attributes:
        facts: Facts about what the program does.
        problem: Why it cannot be tuned, with the remedy; empty if it can.
        no_plugin: Whether the problem is that the plug-in for the program's MPI is not built.
        written_inputs: Inputs that it opened for writing (relative to the run).
        replaced_inputs: Those of them whose content did not matter: outputs of an earlier run.
        output_bytes: Size of the files that it created.
        warnings: Warnings for the user.
    """

    facts: ProgramFacts
    problem: str = ""
    no_plugin: bool = False
    written_inputs: tuple[str, ...] = ()
    replaced_inputs: tuple[str, ...] = ()
    output_bytes: int = 0
    warnings: tuple[str, ...] = ()


Look = Callable[[str, RunLocation, Outcome], Measurement]
"""Converts a finished run to a measurement: run_id, place, outcome."""
LookFirst = Callable[[RunLocation, Measurement], FirstLook]
"""Determines from a finished first run what the program does."""
Compare = Callable[[Sequence[str], str, bool, str], Verification]
"""Compares outputs, given by run_id: two baselines, a candidate; whether the layout may differ;
and the traced run, which shows what the program writes.
"""


@dataclass(frozen=True)
class Tools:
    """Interfaces of a study to the outside.

    Attributes:
        launcher: Runs commands.
        workspace: Creates the places of runs.
        look / measure_first_run: Read evidence.
        compare: Verifies outputs.
        models: Reads the trained models of the user and the site, when one may be used.
        ground: Ground to which models must apply; None to derive it from storage and facts.
        unreadable: Returns why the content of outputs, given by run_id, cannot be compared here;
            empty if it can.
        find_space: Returns the tunables for a program, given its facts.
        policy: Policy of the site and the user.
        provenance: Versions, host, storage; text to text.
        memory: Results of earlier studies; None if nothing is remembered or stored.
        places: Places for the files of a job script's trials; None for other studies.
        storage: Storage to emulate below the runs' directory; None to use the real storage.
        leave: Writes the resulting script of a job script's study and returns figures of its
            jobs; None for other studies.
        nodes: Number of compute nodes of one run.
        run_seconds: Time after which Slurm would end a run of a job script; None for no limit.
        known: Description assigned to the real storage; None if there is none or the storage is
            emulated.
    """

    launcher: Launcher
    workspace: Workspace
    look: Look
    measure_first_run: LookFirst
    compare: Compare
    find_space: Callable[[ProgramFacts], Space]
    policy: Policy
    provenance: Mapping[str, str] = field(default_factory=dict)
    memory: Memory | None = None
    places: JobPlaces | None = None
    storage: EmulatedStorage | None = None
    known: KnownStorage | None = None
    models: Callable[[], Loaded] = Loaded
    ground: Ground | None = None
    unreadable: Callable[[str], str] = lambda run_id: ""
    nodes: int = 1
    run_seconds: float | None = None
    leave: Callable[[StudyResult], JobFigures | None] = lambda result: None
