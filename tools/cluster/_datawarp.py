# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Storage behind Slurm's DataWarp plugin, with DataWarp's command line.

Slurmctld calls it as `dw --function NAME ...`.  A session is a directory with the clocks of an
emulated burst buffer; its number of nodes is the capacity divided by the pool's granularity.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _config import Settings
from _storage import POOL, make_session_clocks

_SIZE = re.compile(r"([0-9]+)([KMGTP]?)(i?)B?", re.IGNORECASE)
_STATE = "sessions.json"
DRAINED = "drained-nodes"
"""File in the cluster's directory with the number of burst-buffer nodes out of service."""


class Refused(Exception):
    """Raised for what DataWarp would refuse, with its message."""


def size_bytes(text: str) -> int:
    """Return the bytes of "10GiB" or "10GB"."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise Refused(f"capacity {text!r} is no size")
    base = 1024 if match[3] else 1000
    return int(match[1]) * base ** (" KMGTP".index(match[2].upper() or " "))


@dataclass
class Storage:
    """Sessions of the pool; each call of the command line is one process.

    Attributes:
        settings: Settings of the cluster.
        sessions: Token to the session's data.
    """

    settings: Settings
    sessions: dict[str, dict[str, Any]]

    @property
    def total(self) -> int:
        """Number of the pool's nodes in use or free."""
        try:
            drained = int((self.settings.path / DRAINED).read_text())
        except (OSError, ValueError):
            drained = 0
        return max(0, self.settings.bb_nodes - drained)

    @property
    def free(self) -> int:
        """Number of nodes without a session."""
        return max(0, self.total - sum(one["nodes"] for one in self.sessions.values()))

    def directory(self, token: str) -> Path:
        """Return the directory of a session's files."""
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", token) or token.startswith("."):
            raise Refused(f"token {token!r} cannot name a session")
        return self.settings.path / "bb" / token

    def clocks(self, token: str) -> Path:
        """Return the path of a session's clocks."""
        return self.settings.path / "clocks" / self.directory(token).name


@contextmanager
def opened(settings: Settings) -> Iterator[Storage]:
    """Read the sessions, exclusively for this process, and write them back."""
    with open(settings.path / "sessions.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = settings.path / _STATE
        known = json.loads(path.read_text()) if path.exists() else {}
        storage = Storage(settings, known)
        yield storage
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(storage.sessions))
        temporary.replace(path)


def pools(storage: Storage, options: argparse.Namespace) -> object:
    """Return the pool of burst-buffer nodes."""
    return {
        "pools": [
            {
                "id": POOL, "units": "bytes", "granularity": storage.settings.granularity_bytes,
                "quantity": storage.total, "free": storage.free,
            }
        ]
    }  # fmt: skip


def show_instances(storage: Storage, options: argparse.Namespace) -> object:
    """Return the instances of the sessions."""
    return {
        "instances": [
            {
                "capacity": {
                    "bytes": one["nodes"] * storage.settings.granularity_bytes,
                    "nodes": one["nodes"],
                },
                "id": number, "intact": True, "label": token,
                "links": {"configurations": [], "session": number},
                "public": one["persistent"],
                "state": {"actualized": True, "fuse_blown": False, "goal": "create",
                          "mixed": False, "transitioning": False},
            }
            for number, (token, one) in enumerate(storage.sessions.items(), 1)
        ]
    }  # fmt: skip


def show_sessions(storage: Storage, options: argparse.Namespace) -> object:
    """Return the sessions of jobs and the persistent ones."""
    return {
        "sessions": [
            {
                "created": one["created"], "creator": "SLURM", "expiration": 0, "expired": False,
                "id": number, "links": {"client_nodes": []}, "owner": one["owner"],
                "state": {"actualized": True, "fuse_blown": False, "goal": "create",
                          "mixed": False, "transitioning": False},
                "token": token,
            }
            for number, (token, one) in enumerate(storage.sessions.items(), 1)
        ]
    }  # fmt: skip


def show_configurations(storage: Storage, options: argparse.Namespace) -> object:
    """Return None: only sessions and instances are ever requested."""
    return {"configurations": []}


def job_process(storage: Storage, options: argparse.Namespace) -> object:
    """Read the directives of a submitted job script."""
    for words in directives(options.job):
        if words[0] not in ("jobdw", "stage_in", "stage_out", "persistentdw", "swap"):
            raise Refused(f"#DW {words[0]} is no directive")
    return None


def setup(storage: Storage, options: argparse.Namespace) -> object:
    """Create the session of a job."""
    mode = next((w for w in directives(options.job) if w[0] == "jobdw"), ["jobdw"])
    private = _values(mode).get("access_mode", "striped").startswith("private")
    _make(storage, options, private=private, persistent=False)
    return None


def create_persistent(storage: Storage, options: argparse.Namespace) -> object:
    """Create a session that outlives jobs; Slurm looks for the word in the answer."""
    _make(storage, options, private=options.access == "private", persistent=True)
    return "created"


def _make(
    storage: Storage, options: argparse.Namespace, *, private: bool, persistent: bool
) -> None:
    pool, _, size = options.capacity.partition(":")
    if pool != POOL:
        raise Refused(f"there is no pool {pool}")
    nodes = ceil(size_bytes(size) / storage.settings.granularity_bytes)  # 0: only persistent ones
    if options.token in storage.sessions:
        raise Refused(f"token {options.token} exists")
    if nodes > storage.free:
        raise Refused(f"insufficient free space in pool {pool}: {nodes} nodes wanted")
    directory = storage.directory(options.token)
    directory.mkdir(mode=0o700, parents=True)
    make_session_clocks(
        storage.settings, directory, storage.clocks(options.token), nodes or 1, private=private
    )
    storage.sessions[options.token] = {
        "nodes": nodes, "owner": int(options.user), "created": int(time.time()),
        "private": private, "persistent": persistent,
    }  # fmt: skip


def paths(storage: Storage, options: argparse.Namespace) -> object:
    """Write the paths of a job's sessions."""
    lines = []
    for words in directives(options.job):
        values = _values(words)
        if words[0] == "jobdw":
            kind = "PRIVATE" if values.get("access_mode", "").startswith("private") else "STRIPED"
            lines.append(f"DW_JOB_{kind}={storage.directory(options.token)}/")
        elif words[0] == "persistentdw":
            name = values.get("name", "")
            lines.append(f"DW_PERSISTENT_STRIPED_{name}={storage.directory(name)}/")
    Path(options.pathfile).write_text("".join(f"{line}\n" for line in lines))
    return None


def data_in(storage: Storage, options: argparse.Namespace) -> object:
    """Copy the files that the job needs."""
    _stage(storage, options, "stage_in")
    return None


def data_out(storage: Storage, options: argparse.Namespace) -> object:
    """Copy the files that the job created."""
    _stage(storage, options, "stage_out")
    return None


def _stage(storage: Storage, options: argparse.Namespace, directive: str) -> None:
    for words in directives(options.job):
        if words[0] != directive:
            continue
        values = _values(words)
        source = _expanded(storage, options, values.get("source", ""))
        target = _expanded(storage, options, values.get("destination", ""))
        if not source.exists():
            raise Refused(f"{directive}: source {source} does not exist")
        if values.get("type", "directory") == "directory":
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _expanded(storage: Storage, options: argparse.Namespace, text: str) -> Path:
    def directory(found: re.Match[str]) -> str:
        return str(storage.directory(found[1] or options.token))

    variable = r"\$\{?DW_(?:JOB_(?:STRIPED|PRIVATE)|PERSISTENT_STRIPED_(\w+))\}?"
    return Path(re.sub(variable, directory, text))


def directives(job: str | None) -> list[list[str]]:
    """Return the words of the #DW lines of a job script."""
    if not job:
        return []
    text = Path(job).read_bytes().decode("utf-8", "surrogateescape")
    lines = [line.strip() for line in text.splitlines() if line.startswith("#DW ")]
    return [words for line in lines if (words := shlex.split(line[4:]))]


def _values(words: list[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words[1:])


def real_size(storage: Storage, options: argparse.Namespace) -> object:
    """Return the capacity that a job was granted."""
    one = storage.sessions.get(options.token)
    granted = one["nodes"] * storage.settings.granularity_bytes if one else 0
    return {"units": "bytes", "bytes": granted}


def nothing(storage: Storage, options: argparse.Namespace) -> object:
    """Do nothing, because no mounts are needed on one host."""
    return None


def teardown(storage: Storage, options: argparse.Namespace) -> object:
    """Remove a session; no error if there is none."""
    shutil.rmtree(storage.directory(options.token), ignore_errors=True)
    storage.clocks(options.token).unlink(missing_ok=True)
    storage.sessions.pop(options.token, None)
    return None


_FUNCTIONS: dict[str, Callable[[Storage, argparse.Namespace], object]] = {
    each.__name__: each
    for each in (
        pools, show_instances, show_sessions, show_configurations, job_process, setup, paths,
        create_persistent, data_in, data_out, real_size, teardown,
    )
} | {"pre_run": nothing, "post_run": nothing}  # fmt: skip


def main(words: list[str]) -> int:
    """Execute a call; a refusal is printed to standard output, where Slurm reads it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for names in (
        ("--function",), ("--token", "-t"), ("--caller", "-c"), ("--user", "-u"), ("--groupid",),
        ("--capacity", "-C"), ("--job",), ("--pathfile",), ("--nodehostnamefile",),
        ("--access", "-a"), ("--type", "-T"), ("--jobexecutionnodefile",),
    ):  # fmt: skip
        parser.add_argument(*names, default=None)
    parser.add_argument("--hurry", action="store_true")
    options, _ = parser.parse_known_args(words[1:])
    settings = Settings.load(Path(words[0]))
    with open(settings.path / "dw.log", "a") as log:
        log.write(f"{time.time():.3f} {shlex.join(words[1:])}\n")
    try:
        with opened(settings) as storage:
            answer = _FUNCTIONS[options.function](storage, options)
    except (Refused, OSError, KeyError, shutil.Error) as problem:
        print(f"dwwlm: {problem}")
        return 1
    if answer is not None:
        print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(sys.argv[1:]))
