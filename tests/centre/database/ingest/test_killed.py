# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An ingest that is killed again and again ends with the same tables as one that is not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from stripewise.centre.database._engine import create_engine, url_text
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from stripewise.centre.database.tables import Ledger
from support import fleet_inputs as inputs

KILLS = 20
MARK = "STRIPEWISE_OF_THIS_TEST"


def begin(url: str, root: Path, *words: str) -> subprocess.Popen[bytes]:
    program = "from stripewise.cli import main; main()"
    command = [sys.executable, "-c", program, "centre", "ingest", str(root), "--db", url]
    command += ["--settle", "0", "--jobs", "2", *words]
    environment = {**os.environ, MARK: url}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    )


def left(url: str) -> list[str]:
    """Return the processes of an ingest that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={url}".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text())
    return found


def done(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(Ledger)).scalar_one())


def kill_when_it_has_begun(process: subprocess.Popen[bytes], engine: Engine, wait: float) -> None:
    """Kill an ingest so long after its first rows are there that it is at work."""
    before, end = done(engine), time.monotonic() + 60
    while done(engine) == before and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(wait)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_killed_at_twenty_moments(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    inputs.tree(root)
    clean = create_engine(str(tmp_path / "clean.sqlite"))
    initialise(clean)
    ingest(clean, IngestOptions((root,), jobs=2, settle_seconds=0.0))
    draw = random.Random(11)
    counts = [0]
    for _ in range(KILLS):
        process = begin(url_text(engine), root, "--rate", "2")
        kill_when_it_has_begun(process, engine, draw.uniform(0.0, 0.6))
        counts.append(done(engine))
    assert counts == sorted(counts)
    end = time.monotonic() + 60
    while left(url_text(engine)) and time.monotonic() < end:
        time.sleep(0.2)
    assert left(url_text(engine)) == []
    assert counts[1] < done(clean)
    process = begin(url_text(engine), root)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert inputs.dump(engine) == inputs.dump(clean)


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_between_transactions(tmp_path: Path, number: signal.Signals) -> None:
    root = tmp_path / "tree"
    for place in range(150):  # half a minute, however busy the host is
        inputs.write_report(root, place)
    engine = create_engine(str(tmp_path / "fleet.sqlite"))
    initialise(engine)
    process = begin(url_text(engine), root, "--rate", "5")
    while not done(engine):
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted; what was stored is kept" in said
    assert b"Traceback" not in said
    assert 0 < done(engine) < 150
    with engine.connect() as connection:
        assert set(connection.scalars(select(Ledger.outcome))) == {"stored"}
