# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is to be changed in a job script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.jobs._moves import Move
from stripewise.model import JobSettings


@dataclass(frozen=True)
class Changes:
    """Changes of a job script.

    Attributes:
        wrap: Words put in front of the program of launch line `step`.
        around: Words put in front of the launcher of that line, to which the line is arguments.
        step: Number of the launch line; None: the only one.
        directives: New lines below the last #SBATCH or #DW line, as "#DW jobdw type=scratch".
        drop_burst_buffer: Take the #DW, #BB and #BB_LUA lines out.
        options: Option of sbatch to its value: replaced where it stands, or added; None takes it
            out, and "" is for options without a value.
        job: Ranks, ranks per node and threads go into the launch line, and into the #SBATCH
            options where these say them; its environment and its burst buffer are not used.
        within: Words of a program that starts the script, as its argument, in another directory;
            the script calls it first, unless it did.
        moved: Moves of the script that go to the directory that it is submitted from, or below, by
            its name; they go to the one that SLURM_SUBMIT_DIR names instead, or below.
        exports: Environment variable to value, set before the first command of the script.
        notes: Comments for people.
    """

    wrap: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    step: int | None = None
    directives: tuple[str, ...] = ()
    drop_burst_buffer: bool = False
    options: Mapping[str, str | None] = field(default_factory=dict)
    job: JobSettings = field(default_factory=JobSettings)
    within: tuple[str, ...] = ()
    moved: Mapping[Move, Path] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
