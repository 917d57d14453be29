# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Searches with a replay and confirms with the program: `stripewise tune --replay`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from stripewise.core import StudyResult
from stripewise.core.errors import UsageError
from stripewise.run.runtime import (
    REPLAY_MARK,
    Replay,
    find_launcher,
    find_runtime,
    launcher_line,
    mpi_of_command,
    mpiexec_words,
    read_plan,
    replay_program,
)
from stripewise.study.plan import StudyOptions, check_commands

RunStudy = Callable[[StudyOptions], StudyResult]


def replay_options(options: StudyOptions, trace: Path) -> StudyOptions:
    """Return the options of the replay's study, after creating the files that it needs.

    The replay is started like the program if the launcher's arguments are understood, otherwise by
    mpiexec.  Its runs begin in a directory beside the program's study, which contains the plan and
    the files that are read.

    Raises:
        UsageError: There are cases, or numbers of ranks to try, or no command.
        StripewiseError: The trace cannot be read or replayed.
    """
    if options.cases or options.ranks or options.ranks_per_node:
        raise UsageError(
            "a trace is of one input and one number of ranks: --replay goes neither with --case "
            "nor with --ranks"
        )
    if not options.command:
        raise UsageError("give the program after --; it decides whether what is found helps")
    study = options.study_directory
    place = study.with_name(f"{study.name.removesuffix('.stripewise')}-replay.stripewise")
    plan = read_plan(trace)
    family, program = replay_program(find_runtime(), plan.mpi)
    mpi = mpi_of_command(options.command)
    same = mpi is None or mpi.family == family
    line = launcher_line(options.command, plan.n_ranks) if same else None
    launcher = line or mpiexec_words(find_launcher(family), plan.n_ranks)
    replayed = Replay(plan, place, program, launcher)
    if not (options.resume and (place / REPLAY_MARK / "plan").is_file()):
        replayed.prepare()
    return replace(
        options,
        command=tuple(replayed.command(directory=".")),
        directory=place / "study.stripewise",
        origin=place,
        inputs=(),
        per_file=False,
    )


def confirmation(options: StudyOptions, winner: StudyResult) -> StudyOptions | None:
    """Return the options of the study that confirms the winner; None if there is none.

    It tries only the settings that won on the replay; baseline, verification of the output and
    confirmation pairs are as in any study.
    """
    if not winner.improved or winner.winner is None:
        return None
    settings = winner.winner.settings
    return replace(
        options,
        strategy="exhaustive",
        strategy_options={"order": "most"},
        vary={name: (value,) for name, value in settings.items()},
        only=tuple(settings),
        exclude=(),
        trials=1,
        memory=False,
    )


def tune_replay(
    options: StudyOptions, trace: Path, run: RunStudy
) -> tuple[StudyResult, StudyResult | None]:
    """Tune the replay, then confirm the winner with the program.

    Returns:
        The result of the replay, and that of the program unless there was nothing to confirm.

    Raises:
        UsageError: The program would change files of the user that runs must not change.
    """
    if not options.resume:
        check_commands(options)  # before hours of replays
    found = run(replay_options(options, trace))
    deciding = confirmation(options, found)
    return found, run(deciding) if deciding is not None else None
