# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Years of logs by an array of real jobs: their shares together are what one ingest stores."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from support import fleet_inputs as inputs
from support import postgres

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(300)]

TASKS = 4
SHARE = "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
COMMAND = [sys.executable, "-c", "from stripewise.cli import main; main()"]


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that the user of the cluster may read."""
    with tempfile.TemporaryDirectory(prefix="sw-array-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def database(open_directory: Path) -> Iterator[Engine]:
    if why := postgres.missing():
        pytest.skip(why)
    with postgres.running(open_directory) as server, server.database() as name:
        server.directory.chmod(0o755)  # others than its owner connect, too
        engine = create_engine(server.url(name))
        initialise(engine)
        yield engine
        engine.dispose()


def ended(cluster: Any, job: str) -> list[str]:
    """Wait for all tasks of an array; return the states they ended in."""
    deadline = time.monotonic() + 200
    while cluster.in_queue(f"--jobs={job}"):
        assert time.monotonic() < deadline, cluster.run("squeue").stdout
        time.sleep(0.5)
    shown = cluster.run("scontrol", "--oneliner", "show", "job", job).stdout
    return [word for word in shown.split() if word.startswith("JobState=")]


@pytest.mark.extended
def test_shares_of_an_array_are_the_whole(
    cluster: Any, open_directory: Path, database: Engine
) -> None:
    tree = open_directory / "tree"
    inputs.tree(tree)
    url = database.url.render_as_string(hide_password=False)
    words = [*COMMAND, "centre", "ingest", str(tree), "--db", url, "--settle", "0", "--jobs", "1"]
    script = f'{shlex.join(words)} --part "{SHARE}"'
    # Given up by a node that dies, and taken up again: a share is taken in twice, stored once.
    arrays = [
        cluster.run("sbatch", "--parsable", f"--array=1-{TASKS}", "--wrap", script)
        for _ in range(2)
    ]
    for array in arrays:
        assert not array.returncode, array.stderr
        job = array.stdout.strip()
        states = ended(cluster, job)
        said = [path.read_text() for path in cluster.scratch.glob(f"slurm-{job}_*.out")]
        assert states == ["JobState=COMPLETED"] * TASKS, said
    clean = create_engine(str(open_directory / "clean.sqlite"))
    initialise(clean)
    ingest(clean, IngestOptions((tree,), jobs=2, settle_seconds=0.0))
    assert inputs.dump(database) == inputs.dump(clean)
