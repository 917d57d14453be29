# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Replays of a trace: the plan, its directory, the command that runs it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import OwnedDirectory
from stripewise.core.errors import ProgramError, UsageError
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.replay import Plan, build_plan, write_plan
from stripewise.run.runtime._environment import launch_environment
from stripewise.run.runtime._kernels import built_program
from stripewise.run.runtime._locate import Runtime

REPLAY_MARK = ".stripewise-replay"
"""Directory inside of a replay's directory: it holds the plan, and says whose files these are."""


def check_compute(text: str) -> None:
    """Refuse what is no way to treat the time between calls.

    Raises:
        UsageError: It is not keep, none or a number.
    """
    try:
        good = text in ("keep", "none") or 0 <= float(text) < float("inf")
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"--compute {text!r}: write keep, none or a factor such as 0.5")


def read_plan(trace: Path) -> Plan:
    """Return the plan of a trace; its notes say what it leaves out.

    Raises:
        UsageError: It holds no single calls, or too much that cannot be replayed.
        StripewiseError: It cannot be read.
    """
    evidence = read_evidence(trace)
    if evidence.trace is None or not evidence.trace.source.startswith("stripewise"):
        raise UsageError(
            f"{trace} holds no single calls ({evidence.profile.source}); a replay needs a trace "
            "of Stripewise: stripewise trace -- COMMAND"
        )
    return build_plan(evidence.trace, evidence.profile)


def replay_program(runtime: Runtime, family: str | None) -> tuple[str, Path]:
    """Return the family and the program that replays; the first one without a family.

    Raises:
        RuntimeMissingError: None is built, or none for this family.
    """
    return built_program(runtime, runtime.replays, "replay program", family)


@dataclass(frozen=True)
class Replay:
    """A plan in its directory.

    Attributes:
        plan: What is done.
        directory: Absolute; it holds the inputs, and REPLAY_MARK.
        program: That replays.
        launcher: Words that start as many ranks as the plan has.
        compute: "keep", "none" or a factor, of the time between calls.
    """

    plan: Plan
    directory: Path
    program: Path
    launcher: Sequence[str]
    compute: str = "keep"

    def command(self, *more: str, directory: str = "") -> list[str]:
        """Return the words that replay; `directory`: where, of its own if not given."""
        words = [*self.launcher, str(self.program)]
        words += ["--plan", str(self.directory / REPLAY_MARK / "plan")]
        where = directory or str(self.directory)
        return [*words, "--directory", where, "--compute", self.compute, *more]

    def prepare(self) -> None:
        """Write the plan and make the files that are read.

        Raises:
            StudyError: The directory holds other files, or is not the user's alone.
            StorageError: It cannot be written.
            ProgramError: An input cannot be made.
        """
        OwnedDirectory.take(self.directory, "replay").inside(REPLAY_MARK).make()
        write_plan(self.plan, self.directory / REPLAY_MARK / "plan")
        words = self.command("--prepare")
        done = subprocess.run(words, env=launch_environment(), capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr or done.stdout).splitlines()
            worded = (line.strip() for line in said if any(map(str.isalpha, line)))
            raise ProgramError(f"the replay cannot be prepared: {next(worded, 'no reason given')}")


def check_ranks(plan: Plan, ranks: int | None) -> None:
    """Refuse another number of ranks than the trace has.

    Raises:
        UsageError: With the number it has.
    """
    if ranks is not None and ranks != plan.n_ranks:
        raise UsageError(
            f"the trace is of {plan.n_ranks} ranks and cannot be replayed with {ranks}; leave "
            f"the number out, or give {plan.n_ranks}"
        )
