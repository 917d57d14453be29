# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Apply the printed lines of a finding to its program and measure pairs."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from stripewise.errors import ProgramError, UsageError
from stripewise.jobs import check_command
from stripewise.owned import OwnedDirectory
from stripewise.study._options import StudyOptions
from stripewise.study._single_runs import SingleRuns
from stripewise.workspace import STUDY_SUFFIX

PAIRS = 6
_APPLIED = ("export ", "printf ")


@dataclass(frozen=True)
class Tried:
    """What the lines of a finding gained.

    Attributes:
        before_seconds / after_seconds: Whole times of the pairs' runs, in their order.
    """

    before_seconds: tuple[float, ...]
    after_seconds: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """Seconds saved in each pair."""
        return tuple(b - a for b, a in zip(self.before_seconds, self.after_seconds, strict=True))

    @property
    def gain_seconds(self) -> float:
        """Median of the pairs."""
        return statistics.median(self.gains)

    def holds(self, claim_seconds: float) -> bool:
        """Whether at least half and at most twice the claim was gained."""
        return 0.5 * claim_seconds <= self.gain_seconds <= 2 * claim_seconds


def with_lines(command: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return a command that runs the lines in a shell and then the program.

    Raises:
        UsageError: The finding has no lines, or they are not for this shell.
    """
    if not lines:
        raise UsageError(
            "this finding cannot be tried: its remedy is a change of the program's source"
        )
    if not all(line.startswith(_APPLIED) for line in lines):
        raise UsageError(
            "this finding cannot be tried: its lines are for the job script, not for the program"
        )
    return ("sh", "-c", "\n".join([*lines, 'exec "$@"']), "sh", *command)


def try_lines(
    command: Sequence[str],
    lines: Sequence[str],
    pairs: int = PAIRS,
    allow_outside: Sequence[Path] = (),
) -> Tried:
    """Run a program with and without some lines, in pairs, each run in a sandbox of its own.

    No other files of the user's can be changed than those that are allowed.  One run of each comes
    first and does not count.

    Args:
        command: The program as it was traced.
        lines: Of the finding.
        pairs: How many.
        allow_outside: Files and directories of the user's that runs may change.

    Raises:
        UsageError: The lines cannot be applied; or the command would change other files of the
            user's, runs a job script on this host, or submits jobs.
        ProgramError: A run failed.
    """
    changed = with_lines(command, lines)
    check_command(command, Path.cwd(), "profile --try")
    home = OwnedDirectory.take(Path.cwd() / f"try.{uuid4().hex[:8]}{STUDY_SUFFIX}", "study")
    order = random.Random(0)
    try:
        options = StudyOptions(
            tuple(command), home.path, sync=False, allow_outside=tuple(allow_outside)
        )
        runs = {
            after: SingleRuns(home, replace(options, command=words))
            for after, words in ((False, options.command), (True, changed))
        }
        found: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(1 + pairs):
            for after in order.sample((False, True), 2):
                run = runs[after].one({})
                if run.exit_code:
                    raise ProgramError(
                        f"the program ended with code {run.exit_code} in a run of the trial; "
                        "start from the directory in which it was traced"
                    )
                found[after].append(run.elapsed_seconds)
    finally:
        home.discard()
    return Tried(tuple(found[False][1:]), tuple(found[True][1:]))
