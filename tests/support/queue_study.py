# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study by the fake queue, to be killed: `queue_study.py DIRECTORY TRIALS`.

The runs are real and short; their I/O times follow from their settings alone, so that a study
gives the same answer however often it was killed.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from stripewise.core import Measurement
from stripewise.settings.tunables import Dimension, Space, get
from stripewise.study.plan import Observer, StudyOptions
from stripewise.study.procedure import NoFiles, run_study
from stripewise.study.workspace import RunLocation

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.fake_queue import FakeQueue
from support.study_fakes import KNOB, fake_tools, helped, look

SPACE = Space(
    (
        Dimension(get(KNOB), ("disable",)),
        Dimension(get("mpiio.ind_wr_buffer_size"), tuple(n << 16 for n in range(1, 81))),
    ),
    {},
)
SCRIPT = 'mkdir "$0/$STRIPEWISE_RUN_ID.begin.$$"; sleep 0.1; mkdir "$0/$STRIPEWISE_RUN_ID.end"'


class Places(NoFiles):
    """Empty directories."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self, run_id: str) -> RunLocation:
        place = self.find(run_id)
        place.directory.mkdir(parents=True)
        place.record_directory.mkdir(parents=True)
        return place

    def find(self, run_id: str) -> RunLocation:
        command = ("/bin/sh", "-c", SCRIPT, str(self._folder / "log"))
        return RunLocation(
            self._folder / "work" / run_id, self._folder / "runs" / run_id, command=command
        )

    def release(self, run_id: str, *, evidence: bool = True) -> None:
        """Leave everything."""


def by_settings(run_id: str, place: RunLocation, outcome: object) -> Measurement:
    """Return what a run gave, with the times that its settings have."""
    settings = json.loads((place.record_directory / "request.json").read_text())["settings"]
    seconds = helped(settings)
    run = look(run_id, place, outcome)
    return replace(run, io_seconds=seconds, elapsed_seconds=seconds + 1.0, write_bytes=1 << 26)


def run(folder: Path, trials: int) -> dict:
    """Begin the study, or go on with it; return its answer."""
    (folder / "log").mkdir(parents=True, exist_ok=True)
    tools = replace(
        fake_tools(FakeQueue(None, folder / "queue"), space=lambda facts: SPACE),
        workspace=Places(folder),
        look=by_settings,
    )
    journal = folder / "study" / "journal.jsonl"
    options = StudyOptions(
        ("prog",),
        folder / "study",
        origin=folder,
        trials=trials,
        patience=trials,
        strategy="random",
        seed=4,
        resume=journal.exists() and b'"kind":"study"' in journal.read_bytes(),
    )
    result = run_study(options, Observer(), lambda o, ledger: tools)
    speedup = result.speedup
    return {
        "winner": dict(result.winner.settings),
        "speedup": [speedup.median, speedup.low, speedup.high, speedup.n_pairs],
        "trials": [[dict(trial.settings), trial.io_ratio] for trial in result.trials],
    }


if __name__ == "__main__":
    answer = run(Path(sys.argv[1]), int(sys.argv[2]))
    Path(sys.argv[1], "answer.json").write_text(json.dumps(answer))
    os._exit(0)
