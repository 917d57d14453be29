# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that write files in series, under a table that has settings for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from runtime_harness import Ran, run

from stripewise.core import SeriesRule
from stripewise.run.runtime import SeriesMapping, SeriesOutcome
from stripewise.settings.formats import series_text

RULES = (
    SeriesRule(True, True, True, mpiio={"cb_buffer_size": 65536}),
    SeriesRule(True, False, False, mpiio={"cb_buffer_size": 131072}),
)
HINT = "cb_buffer_size"


def run_series(
    stack: str,
    n_ranks: int,
    command: Sequence[str | Path],
    cwd: Path,
    rules: Sequence[SeriesRule] = RULES,
    before: Sequence[str | Path] = (),
    **extra: str,
) -> tuple[Ran, SeriesOutcome]:
    """Run a program whose ranks may agree; what came of it."""
    cwd.mkdir(exist_ok=True)
    with SeriesMapping.begin([str(command[0])]) as mapping:
        flat = "stripewise-flat 1\n" + series_text(rules)
        variables = mapping.variables | extra
        words = [*before, *command]
        done = run(stack, n_ranks, words, cwd, configuration=flat, extra=variables)
        return done, mapping.read()


def applied(done: Ran) -> dict[str, str]:
    """Name of each file that got the hint, and its value."""
    return {
        Path(done.profile.paths[file]).name: hints.applied[HINT]
        for file, hints in done.profile.hints.items()
        if HINT in hints.applied
    }


def digests(directory: Path, pattern: str = "*.dat") -> dict[str, str]:
    """Name of each output and a digest of its contents."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.glob(pattern))
    }
