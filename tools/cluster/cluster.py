# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Starts a Slurm cluster with burst buffers on this host, for experiments and tests.

cluster.py start | stop | status | env   [--directory DIR]

Munge, Slurm's daemons, MariaDB, the DataWarp plugin and all jobs are real.  The nodes are virtual,
and Stripewise emulates parallel file system and burst buffer on local directories.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _config import (
    SETTINGS,
    Settings,
    new_password,
    reserved_ports,
    write_configuration,
    write_task_prolog,
)
from _processes import processes_with
from _storage import make_scratch_clocks, write_descriptions
from _user import User

DEFAULT = Path(os.environ.get("STRIPEWISE_CLUSTER", "~/.cache/stripewise/cluster")).expanduser()
FOLDERS = ("state", "spool", "tmp", "bb", "clocks", "scratch", "database", "home",
           "bin")  # fmt: skip
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
FOR_ACCOUNTING = ("slurmdbd", "mariadbd", "mariadb-install-db", "mariadb")
PATIENCE_SECONDS = 60.0
_PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "STRIPEWISE_RUNTIME_DIR", "XDG_CACHE_HOME")


class ClusterError(Exception):
    """Raised if the cluster does not start, with a daemon's message."""


@dataclass
class Cluster:
    """A cluster in a directory.

    Attributes:
        directory: Directory of the cluster, which `stop` removes.
        user: User to whom it belongs.
        options: Options of `Settings`: nodes, cpus, slowdown, bb_nodes, granularity_bytes,
            accounting, sampled_seconds.
    """

    directory: Path
    user: User = field(default_factory=User.find)
    options: dict[str, int | bool] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Settings of the running cluster."""
        return Settings.load(self.directory)

    @property
    def environment(self) -> dict[str, str]:
        """Complete environment for commands that use the cluster."""
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        path = kept.get("PATH", "")
        return kept | {
            "PATH": f"{path}:/usr/sbin:/sbin" if "/usr/sbin" not in path.split(":") else path,
            "HOME": str(self.directory / "home"),
            "USER": self.user.name,
            "LOGNAME": self.user.name,
            "SLURM_CONF": str(self.directory / "slurm.conf"),
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_orte_tmpdir_base": str(self.directory / "tmp"),
            "TMPDIR": str(self.directory / "tmp"),
        }

    @property
    def scratch(self) -> Path:
        """Directory of the emulated parallel file system."""
        return self.directory / "scratch"

    # -- commands ----------------------------------------------------------------------------

    def run(
        self, *words: str, timeout: float = 240, cwd: Path | None = None, check: bool = False,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command as the user, with the cluster's environment."""
        return subprocess.run(
            self.user.command(*words),
            env=self.environment | (environment or {}),
            cwd=cwd or self.scratch,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=check,
        )

    def in_queue(self, *filters: str) -> bool:
        """Return whether squeue lists a job; True also if the controller does not answer."""
        done = self.run("squeue", "--noheader", *filters)
        if done.returncode:
            return "Invalid job id" not in done.stderr
        return bool(done.stdout.strip())

    # -- start -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start all daemons; when this returns, jobs and burst buffers are available.

        Raises:
            ClusterError: Something is missing, or a daemon failed; the message says what.
        """
        accounting = bool(self.options.get("accounting", True))
        wanted = (*NEEDED, *(FOR_ACCOUNTING if accounting else ()))
        missing = [w for w in wanted if not shutil.which(w, path=self.environment["PATH"])]
        if missing:
            raise ClusterError(f"{', '.join(missing)} missing; remedy: make cluster installs them")
        if (self.directory / SETTINGS).exists():
            raise ClusterError(f"{self.directory} holds a cluster; stop it first")
        self._make_folders()
        nodes = int(self.options.get("nodes", 4))
        with reserved_ports(3 + nodes) as ports:
            settings = self._new_settings(ports)
            settings.save()
            self._own(self.directory / SETTINGS)
            try:
                self._start(settings)
            except BaseException:
                self.stop()
                raise

    def _make_folders(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o755)
        for name in FOLDERS:
            folder = self.directory / name
            folder.mkdir(mode=0o755)
            self._own(folder)
        self._own(self.directory)

    def _own(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self.user.uid, self.user.gid)

    def _new_settings(self, ports: tuple[int, ...]) -> Settings:
        from stripewise.run.runtime import find_runtime

        return Settings(
            directory=str(self.directory),
            python=sys.executable,
            library=str(find_runtime().core),
            user=self.user.name,
            ports=ports,
            password=new_password(),
            **{name: value for name, value in self.options.items() if value is not None},  # type: ignore[arg-type]
        )

    def _start(self, settings: Settings) -> None:
        words = (sys.executable, __file__, "_prepare", "--directory", str(self.directory))
        done = self.run(*words)
        if done.returncode:
            raise ClusterError(f"cannot write the configuration: {done.stderr.strip()}")
        self._munge()
        if settings.accounting:
            self._database(settings)
            self.start_daemon("slurmdbd")
            self._wait("slurmdbd", lambda: self.run("sacctmgr", "-n", "list", "cluster"))
            self.run("sacctmgr", "-i", "add", "cluster", "stripewise")
            self.run("sacctmgr", "-i", "add", "account", "k01")
            self.run("sacctmgr", "-i", "add", "user", self.user.name, "account=k01")
        for name in settings.node_names:
            for folder in ("spool", "tmp"):
                (self.directory / folder / name).mkdir()
                self._own(self.directory / folder / name)
        self.start_daemon("slurmctld")
        for name in settings.node_names:
            self.start_daemon(name)
        self._wait("slurmctld", lambda: self.run("scontrol", "ping"), "UP")
        self._wait("slurmd", lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D"),
                   str(settings.nodes))  # fmt: skip
        self._wait("the burst buffer", lambda: self.run("scontrol", "show", "burst"), "wlm_pool")

    def _munge(self) -> None:
        key = self.directory / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._own(key)
        self.start_daemon("munged")

    def _database(self, settings: Settings) -> None:
        data, socket = self.directory / "database", self.directory / "mariadb.socket"
        made = self.run(
            "mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
            "--auth-root-authentication-method=normal", "--skip-name-resolve",
        )  # fmt: skip
        if made.returncode:
            raise ClusterError(f"mariadb-install-db: {made.stderr.strip()[-500:]}")
        self.start_daemon("mariadbd")
        client = ("mariadb", "--no-defaults", f"--socket={socket}", "-u", "root")
        self._wait("mariadbd", lambda: self.run(*client, "-e", "select 1"))
        statements = (
            f"create user 'slurm'@'127.0.0.1' identified by '{settings.password}';"
            "grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';"
        )
        self.run(*client, "-e", statements, check=True)

    def daemon(self, name: str) -> list[str]:
        """Return the command of a daemon; a node's name stands for its slurmd."""
        path, settings = self.directory, self.settings
        if name == "munged":
            files = ("key-file=munge.key", "socket=munge.socket", "pid-file=munged.pid",
                     "log-file=munged.log", "seed-file=munged.seed")  # fmt: skip
            pairs = (one.partition("=") for one in files)
            return [
                "munged",
                "--force",
                *(f"--{option}={path / file}" for option, _, file in pairs),
            ]
        if name == "mariadbd":
            return [
                "mariadbd", "--no-defaults", f"--datadir={path / 'database'}",
                f"--socket={path / 'mariadb.socket'}", f"--pid-file={path / 'mariadbd.pid'}",
                "--bind-address=127.0.0.1", f"--port={settings.ports[2]}",
                f"--log-error={path / 'mariadbd.log'}", "--innodb-buffer-pool-size=32M",
                "--innodb-lock-wait-timeout=900", "--skip-name-resolve",
                f"--user={self.user.name}",
            ]  # fmt: skip
        if name in ("slurmctld", "slurmdbd"):
            return [name]
        return ["slurmd", "-N", name]

    def start_daemon(self, name: str) -> None:
        """Start one daemon.

        Raises:
            ClusterError: The daemon does not start.
        """
        words = self.daemon(name)
        with open(self.directory / "daemons.log", "ab") as log:
            begun = subprocess.Popen(
                self.user.command(*words), env=self.environment, cwd=self.directory, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        if name != "mariadbd" and begun.wait(timeout=PATIENCE_SECONDS):
            said = (self.directory / "daemons.log").read_text(errors="replace")
            raise ClusterError(f"{' '.join(words)} fails: {said[-500:]}")

    def _wait(self, what: str, ask: object, answer: str = "") -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            said = ask()  # type: ignore[operator]
            if not said.returncode and answer in said.stdout:
                return
            time.sleep(0.2)
        raise ClusterError(f"{what} does not come up: {said.stderr or said.stdout}; see "
                           f"{self.directory}/*.log")  # fmt: skip

    def open_to(self, names: Sequence[str], account: str = "k01") -> None:
        """Let other users of this host run jobs; the cluster's daemons must be those of root.

        This is for real users and real accounting: only paths to which jobs of all users write are
        opened.
        """
        for name in names:
            self.run("sacctmgr", "-i", "add", "user", name, f"account={account}", check=True)
        places = (self.directory / "tmp", *(self.directory / "tmp").iterdir(), self.scratch)
        for place in places:
            place.chmod(0o1777)
        (self.directory / "clocks" / "scratch").chmod(0o666)
        library = self.directory / "libstripewise.so"
        shutil.copyfile(self.settings.library, library)
        write_task_prolog(self.settings, str(library))

    # -- trouble -----------------------------------------------------------------------------

    def pid(self, name: str) -> int:
        """Return the process of a daemon; 0 if it does not run."""
        file = f"slurmd-{name}.pid" if name.startswith("n") else f"{name}.pid"
        try:
            number = int((self.directory / file).read_text())
            os.kill(number, 0)
        except (OSError, ValueError):
            return 0
        return number

    def kill(self, name: str) -> None:
        """Kill a daemon with SIGKILL; a node's name stands for its slurmd."""
        if number := self.pid(name):
            os.kill(number, signal.SIGKILL)
            while Path(f"/proc/{number}").exists() and self.pid(name):
                time.sleep(0.02)

    def restart(self, name: str) -> None:
        """Kill a daemon and start it again."""
        self.kill(name)
        self.start_daemon(name)

    def drain(self, nodes: int) -> None:
        """Take burst-buffer nodes out of service."""
        path = self.directory / "drained-nodes"
        path.write_text(str(nodes))
        self._own(path)

    # -- stop --------------------------------------------------------------------------------

    def stop(self) -> None:
        """End everything and remove the directory; no error if nothing is there."""
        if (self.directory / SETTINGS).exists():
            for name in ("slurmctld", *self.settings.node_names, "slurmdbd", "mariadbd", "munged"):
                if number := self.pid(name):
                    os.kill(number, signal.SIGTERM if name != "mariadbd" else signal.SIGKILL)
        deadline = time.monotonic() + 5
        while (left := self.processes()) and time.monotonic() < deadline + 20:
            if time.monotonic() > deadline:  # each time: one that ends may have begun another
                for number in left:
                    with suppress(OSError):
                        os.kill(number, signal.SIGKILL)
            time.sleep(0.1)
        if (self.directory / SETTINGS).exists():
            shutil.rmtree(self.directory, ignore_errors=True)

    def processes(self) -> list[int]:
        """Return the processes of the cluster, recognised by SLURM_CONF in their environment."""
        return processes_with(f"SLURM_CONF={self.directory / 'slurm.conf'}")


def main(words: Sequence[str]) -> int:
    """Start, stop or show a cluster."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["start", "stop", "status", "env", "_prepare"])
    parser.add_argument("--directory", type=Path, default=DEFAULT)
    parser.add_argument("--as", dest="user", default="", help="as root: account to use")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--slowdown", type=int, default=16)
    parser.add_argument("--bb-nodes", type=int, default=8)
    parser.add_argument("--no-accounting", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    directory = given.directory.absolute()
    if given.action == "_prepare":
        settings = Settings.load(directory)
        write_descriptions(settings)
        write_configuration(settings)
        make_scratch_clocks(settings)
        return 0
    names = ("nodes", "cpus", "slowdown", "bb_nodes")
    options = {name: getattr(given, name) for name in names}
    cluster = Cluster(
        directory, User.find(given.user), options | {"accounting": not given.no_accounting}
    )
    try:
        return _act(cluster, given)
    except ClusterError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def _act(cluster: Cluster, given: argparse.Namespace) -> int:
    if given.action == "start":
        cluster.start()
        print(f"the cluster runs in {cluster.directory}, as {cluster.user.name}; use it with")
        print(f"  export SLURM_CONF={cluster.directory}/slurm.conf; cd {cluster.scratch}")
    elif given.action == "stop":
        cluster.stop()
    elif not (cluster.directory / SETTINGS).exists():
        raise ClusterError(f"there is no cluster in {cluster.directory}")
    elif given.action == "status":
        print(cluster.run("sinfo").stdout + cluster.run("scontrol", "show", "burst").stdout)
    elif given.json:
        print(json.dumps(cluster.environment, indent=1))
    else:
        print("\n".join(f"{name}={text}" for name, text in cluster.environment.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
