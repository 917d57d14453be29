# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The terminal of `stripewise tune run.sh` is lost, as by a broken ssh, while a run goes on."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from stripewise.study.plan import parse_journal
from support.job_cluster import SCRIPT, JobCluster
from support.slurm_jobs import until

pytestmark = pytest.mark.extended

MAIN = "from stripewise.cli import main; main()"
WORDS = ("run.sh", "--strategy", "random", "--trials", "2", "--bb-nodes", "2")


class Tuner:
    """The command in a session of its own on a terminal of its own."""

    def __init__(self, cluster: JobCluster, *, nohup: bool = False) -> None:
        self.journal = cluster.work / "run.stripewise" / "journal.jsonl"
        self._terminal, inside = os.openpty()
        self._over = False
        self.said = b""

        def begin() -> None:
            os.login_tty(inside)
            signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)

        outside = ("--allow-outside", str(cluster.work.parent))
        words = [sys.executable, "-c", MAIN, "tune", *WORDS, *outside]
        self.process = subprocess.Popen(words, cwd=cluster.work, preexec_fn=begin)
        os.close(inside)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        """Take what is said, so that the terminal does not fill."""
        while not self._over:
            if select.select([self._terminal], [], [], 0.05)[0]:
                with suppress(OSError):
                    self.said += os.read(self._terminal, 4096)

    def hang_up(self) -> None:
        """Lose the terminal: the kernel sends SIGHUP to what is in its foreground."""
        if not self._over:
            self._over = True
            self._reader.join()
            os.close(self._terminal)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The journal."""
        found = self.journal.read_bytes() if self.journal.exists() else b""
        return parse_journal(found, self.journal)[0] if found else []

    @property
    def finished(self) -> dict[str, Any]:
        """The runs that have ended."""
        return {r["run_id"]: r["measurement"] for r in self.records if r["kind"] == "run-finished"}


class Terminals:
    """A cluster whose runs show that they go on, and tuners on it."""

    def __init__(self, cluster: JobCluster) -> None:
        self.cluster = cluster
        self.hold, self.held = (cluster.work.parent / name for name in ("hold", "held"))
        waits = f"while [ -e {self.hold} ]; do touch {self.held}; sleep 0.05; done"
        cluster.write(SCRIPT.replace("srun", f"{waits}\nsrun"))
        self.tuners: list[Tuner] = []

    def tuner(self, **how: bool) -> Tuner:
        self.tuners.append(Tuner(self.cluster, **how))
        return self.tuners[-1]

    def wait_for_a_run(self, tuner: Tuner, after: int) -> None:
        """Wait until so many runs have ended and another one goes on, until `hold` is gone."""

        def there() -> bool:
            assert tuner.process.poll() is None, tuner.said
            return len(tuner.finished) >= after

        until(there, 60)
        self.held.unlink(missing_ok=True)
        self.hold.touch()
        until(self.held.exists, 60)


@pytest.fixture
def terminals(cluster: JobCluster) -> Iterator[Terminals]:
    made = Terminals(cluster)
    yield made
    for tuner in made.tuners:
        tuner.process.kill()
        tuner.process.wait()
        tuner.hang_up()


def test_the_queue_is_left_empty_and_the_study_goes_on(terminals: Terminals) -> None:
    cluster, tuner = terminals.cluster, terminals.tuner()
    terminals.wait_for_a_run(tuner, 2)
    before = tuner.finished
    tuner.hang_up()
    tuner.process.wait(60)
    until(lambda: {job["state"] for job in cluster.fake.jobs} <= {"COMPLETED", "CANCELLED"}, 60)
    until(lambda: cluster.fake.processes() == [], 60)
    assert tuner.finished == before
    dropped = tuner.records[-1]
    assert (dropped["kind"], dropped["reason"]) == ("run-dropped", "SIGHUP")
    terminals.hold.unlink()
    said = cluster.tune("--resume", "--study-dir", "run.stripewise")
    assert said.code == 0, said
    assert before.items() <= tuner.finished.items()


def test_under_nohup_it_goes_on(terminals: Terminals) -> None:
    tuner = terminals.tuner(nohup=True)
    terminals.wait_for_a_run(tuner, 1)
    tuner.process.send_signal(signal.SIGHUP)
    terminals.hold.unlink()
    terminals.wait_for_a_run(tuner, 3)
    tuner.process.send_signal(signal.SIGINT)
    assert tuner.process.wait(60) == 130
