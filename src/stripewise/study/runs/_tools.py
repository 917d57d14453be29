# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what the procedure of a study needs from outside; tests put in their own."""

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
from stripewise.study.workspace import Place, Workspace


@dataclass(frozen=True)
class FirstLook:
    """What the first run showed.

    Attributes:
        facts: What the program does.
        problem: Why it cannot be tuned, with the remedy; empty if it can.
        no_plugin: The problem is that the plug-in for the program's MPI is not built.
        written_inputs: Inputs that it opened for writing (relative to the run).
        replaced_inputs: Those of them whose content did not matter: outputs of an earlier run.
        output_bytes: Size of the files that it made.
        warnings: For the user.
    """

    facts: ProgramFacts
    problem: str = ""
    no_plugin: bool = False
    written_inputs: tuple[str, ...] = ()
    replaced_inputs: tuple[str, ...] = ()
    output_bytes: int = 0
    warnings: tuple[str, ...] = ()


Look = Callable[[str, Place, Outcome], Measurement]
"""Turn an ended run into a measurement: run_id, place, outcome."""
LookFirst = Callable[[Place, Measurement], FirstLook]
"""Find out from an ended first run what the program does."""
Compare = Callable[[Sequence[str], str, bool, str], Verification]
"""Compare outputs, by run_id: two baselines, a candidate; whether layout may differ; and the
traced run, which tells what the program writes."""


@dataclass(frozen=True)
class Tools:
    """Everything from outside.

    Attributes:
        launcher: Runs commands.
        workspace: Makes their places.
        look / look_first: Read evidence.
        compare: Verifies outputs.
        models: Reads the trained models of this user and site; asked where one may be used.
        ground: Ground that models are asked for; None: what storage and facts say.
        unreadable: Why the content of a run's outputs, by run_id, cannot be compared here; empty if
            it can.
        find_space: Tunables for a program, by its facts.
        policy: What the site and the user allow.
        provenance: Versions, host, storage; text to text.
        memory: What earlier studies found; None: nothing is remembered, nor kept.
        places: Of a job script, where the files of its trials may lie; None: of other studies.
        storage: Storage that runs are to find below their directory; None: what is there.
        leave: Writes what a study of a job script leaves to submit; returns what is known of its
            jobs; None: of other studies.
        nodes: Compute nodes of one run.
        run_seconds: Time after which Slurm would end it, of a job script; None: never.
        known: Description that stands for what is there; None: there is none, or the storage is
            emulated.
    """

    launcher: Launcher
    workspace: Workspace
    look: Look
    look_first: LookFirst
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
