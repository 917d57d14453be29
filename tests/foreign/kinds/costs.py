# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs and traces of other programs, diagnosed with different costs of the storage.

An input is a `log` of PyDarshan's package, or a `command` that is traced in an empty directory;
`before` makes its inputs. The answer is `least_facts`, the number of facts that are there at
least, with whatever costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from foreign.corpus import Case, Kind, Outcome, Verdict
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.readers import read_evidence
from support.cost_checks import differences

_LONGEST_SECONDS = 120


class TheKind(Kind):
    """Runs of which the same is said on every storage."""

    title = "runs on different storages"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Find or make the evidence, and compare what is said with different costs."""
        path = _log(case) if "log" in case.input else _trace(case, directory)
        if path is None:
            return Outcome(Verdict.SKIPPED, f"{case.input['log']} is not here")
        evidence = read_evidence(path)
        wrong = differences(evidence)
        number = len(diagnose(evidence).facts)
        if number < case.answer["least_facts"]:
            wrong.append(f"{number} facts")
        return Outcome.of(wrong)


def _log(case: Case) -> Path | None:
    found = find_spec("darshan")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / case.input["log"]
    return path if path.exists() else None


def _trace(case: Case, directory: Path) -> Path:
    environment = {**os.environ, "HOME": str(directory)}
    tool = str(Path(sys.executable).with_name("stripewise"))
    run = [tool, "run", "--trace", str(directory / "trace"), "--"]
    before = ["/bin/sh", "-c", case.input.get("before", "true")]
    for words in (before, [*run, "/bin/sh", "-c", case.input["command"]]):
        subprocess.run(
            words,
            cwd=directory,
            env=environment,
            check=True,
            timeout=_LONGEST_SECONDS,
            capture_output=True,
        )
    return directory / "trace"
