# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster with several users whose emulated storage is watched: the whole chain on one host."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lctl import write_lctl

from stripewise.evidence.containers import read_run
from stripewise.evidence.trace import Action, Evidence, RunProfile
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions, make_clocks
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
_COMMAND = "import sys; from stripewise.cli import main; sys.exit(main())"
MACHINE, RELEASE = "archer2-hdd@1/64", "2.16"
"""Twelve targets, in slow motion; the servers print what this release of Lustre prints."""
LAYOUT = "8 1048576 0"
"""Of the users' files: over the first eight targets."""
BULK = 4 << 20
_SAME = (Action.MKDIR, Action.RMDIR, Action.UNLINK, Action.RENAME, Action.LINK)
"""Calls that a metadata server counts by the same name."""


def command(*words: str) -> list[str]:
    """Return a command line of Stripewise in this environment."""
    return [sys.executable, "-c", _COMMAND, *words]


def until(found: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    """Return what a function returns once that is true.

    Raises:
        AssertionError: It does not become so in time.
    """
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, f"{what} does not come true"
        time.sleep(0.3)
    return answer


@dataclass
class Work:
    """What a job did, as the runtime library captured it.

    Attributes:
        moved: (direction, target) -> (requests, bytes), after the layout of each file.
        closes: Of files.
        names: Calls on names that succeeded.
        opened: Files.
    """

    moved: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    closes: int = 0
    names: Counter[Action] = field(default_factory=Counter)
    opened: set[str] = field(default_factory=set)

    @property
    def total(self) -> dict[str, int]:
        """Bytes by direction."""
        found = Counter({"read": 0, "write": 0})
        for (direction, _), (_, size) in self.moved.items():
            found[direction] += size
        return dict(found)

    def requests(self, direction: str) -> int:
        """Return how many requests of a direction the targets got."""
        return sum(number for (way, _), (number, _) in self.moved.items() if way == direction)

    def metadata(self, there: set[str]) -> dict[str, int]:
        """Return the operations that the metadata server has to have counted for the calls.

        An open of a file that is not there yet is an open and a mknod, as in Lustre; access is a
        getattr, and chmod a setattr.  Calls that fail are not counted.

        Args:
            there: Files that were there before.
        """
        of_calls = {
            "open": self.names[Action.OPEN], "close": self.closes,
            "mknod": len(self.opened - there),
            "getattr": self.names[Action.STAT] + self.names[Action.ACCESS],
            "setattr": self.names[Action.CHANGE],
            **{one.name.lower(): self.names[one] for one in _SAME},
        }  # fmt: skip
        return {name: number for name, number in of_calls.items() if number}


class WatchedCluster:
    """The cluster, and what runs on it.

    Attributes:
        cluster: Of tools/cluster, with daemons of root.
        directory: For files of the test.
        fs: Name of the file system.
        mapping: Of the emulated storage.
    """

    def __init__(self, cluster: Any, directory: Path, users: tuple[str, ...]) -> None:
        self.cluster, self.directory = cluster, directory
        self.mapping = cluster.directory / "clocks" / "scratch"
        self.mapping.unlink()
        storage = EmulatedStorage.find(EmulationOptions(MACHINE))
        make_clocks(storage, cluster.scratch, self.mapping)
        cluster.open_to(users)
        self.lctl = cluster.directory / "lctl"
        write_lctl(self.lctl, self.mapping, RELEASE)
        self.data = cluster.scratch / "data"
        self.data.mkdir()
        self.data.chmod(0o1777)
        os.setxattr(self.data, "user.stripewise.layout", LAYOUT.encode())
        self.program = cluster.directory / "io_of_user"
        source = ROOT / "tests" / "run/slurm" / "programs" / "io_of_user.c"
        subprocess.run(["gcc", "-O1", "-o", self.program, source], check=True)
        said = subprocess.run([self.lctl, "list_param", "obdfilter.*"], capture_output=True,
                              text=True, check=True)  # fmt: skip
        self.fs = said.stdout.split(".")[1].rpartition("-")[0]

    def submit(self, user: str, *steps: tuple[str, ...], tasks: int = 2) -> int:
        """Submit a job with a step for each command of the program; return its id."""
        home = self.cluster.directory / "home" / user
        home.mkdir(exist_ok=True)
        account = pwd.getpwnam(user)
        os.chown(home, account.pw_uid, account.pw_gid)
        lines = [f"srun -n {tasks} --mpi=none {self.program} {' '.join(step)}" for step in steps]
        text = "\n".join(["#!/bin/sh", "set -e", f"mkdir -m 700 {home}/$SLURM_JOB_ID",
                          f"export STRIPEWISE_DIRECTORY={home}/$SLURM_JOB_ID",
                          "export STRIPEWISE_CAPTURE=all STRIPEWISE_RUN_ID=$SLURM_JOB_ID",
                          *lines])  # fmt: skip
        words = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}",
                 "--clear-groups", "sbatch", "--parsable", f"--ntasks={tasks}",
                 f"--output={home}/%j.out")  # fmt: skip
        environment = self.cluster.environment | {"USER": user, "LOGNAME": user}
        done = subprocess.run(words, input=text, env=environment, cwd=self.data,
                              capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
        assert not done.returncode, done.stderr
        return int(done.stdout)

    def wait(self, user: str, job: int) -> None:
        """Wait for a job, and see that it succeeded."""
        until(lambda: not self.cluster.in_queue(f"--jobs={job}"), job)
        words = ("sacct", "-n", "-X", "-P", "-j", str(job), "--format=state")

        def ended() -> str:
            state = str(self.cluster.run(*words).stdout).strip()
            return "" if state in ("PENDING", "RUNNING") else state

        state = until(ended, f"a record of the end of job {job}")
        said = (self.cluster.directory / "home" / user / f"{job}.out").read_text()
        assert state == "COMPLETED", (state, said)

    def captured(self, user: str, job: int) -> Work:
        """Return what a job did, by its calls and the layouts of its files.

        Calls on names are counted by directory: some of the names were never opened.
        """
        where = self.cluster.directory / "home" / user / str(job)
        words = (
            "profile",
            "--as",
            "calls",
            str(where),
            "--layer",
            "posix",
            "--every-call",
            "--json",
        )
        done = subprocess.run(command(*words), capture_output=True, text=True, check=True)
        work = Work()
        for line in done.stdout.splitlines():
            call = json.loads(line)
            if call["file"].startswith(str(self.data)):
                self._add(work, call)
        self._add_names(work, self.evidence(user, job).profile)
        return work

    def evidence(self, user: str, job: int) -> Evidence:
        """Return all that the captures of a job tell."""
        return read_run((self.cluster.directory / "home" / user / str(job)).glob("*.sw"))

    def _add(self, work: Work, call: dict[str, Any]) -> None:
        if call["op"] not in ("read", "write"):
            work.closes += call["op"] == "close"
            work.opened |= {call["file"]} if call["op"] == "open" else set()
            return
        layout = os.getxattr(call["file"], "user.stripewise.layout").split()
        count, size, first = map(int, layout)
        at, end = call["offset"], call["offset"] + call["bytes"]
        while at < end:
            stripe = at // size
            upto = min((stripe + 1) * size, end)
            target = f"OST{(first + stripe % count) % 12:04x}"
            requests, moved = work.moved.get((call["op"], target), (0, 0))
            cut = -(-(upto - at) // BULK)
            work.moved[call["op"], target] = requests + cut, moved + upto - at
            at = upto

    def _add_names(self, work: Work, profile: RunProfile) -> None:
        for row in profile.names:
            if profile.directories[row["directory"]].startswith(str(self.data)):
                done = row["count"] - row["failed"]
                work.names.update({one: int(done[one]) for one in Action})


@contextmanager
def watching(watched: WatchedCluster, database: Path) -> Iterator[str]:
    """Run the agent over the storage's servers; yield the address of its metrics."""
    port = free_port()
    text = f"""
[agent]
server = "oss1"
interval_seconds = 1.0
user = "root"
[collectors.lustre-server]
lctl = "{watched.lctl}"
job_interval_seconds = 1.0
[collectors.host]
[collectors.disks]
[sinks.prometheus]
listen = "127.0.0.1:{port}"
[sinks.store]
database = "{database}"
cluster = "stripewise"
sample_interval_seconds = 5.0
job_interval_seconds = 5.0
"""
    config = watched.directory / "monitor.toml"
    config.write_text(text)
    config.chmod(0o644)
    with (watched.directory / "agent.log").open("wb") as log:
        agent = subprocess.Popen(command("centre", "monitor", "--config", str(config)), stderr=log)
    try:
        yield f"127.0.0.1:{port}"
        assert agent.poll() is None, (watched.directory / "agent.log").read_text()
    finally:
        agent.terminate()
        agent.wait(60)
