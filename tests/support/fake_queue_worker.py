# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job of the fake queue: pends, waits for a node, runs its command under the supervisor.

`python -I -S fake_queue_worker.py` with the job on standard input, as the supervisor gets it.
Unlike the supervisor it does not end when the tuner does.
"""

import fcntl
import importlib.util
import json
import os
import random
import sys
import time
from pathlib import Path


def load_supervisor(path):
    """Import the supervisor as a file of its own, as the local launcher starts it."""
    sys.path.append(os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("_supervise", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pend(supervisor, queue):
    """Wait for the start of the job; None if it was cancelled before."""
    chance = random.Random(f"{queue['seed']}:{supervisor.job['run_id']}")
    start = time.monotonic() + chance.uniform(0.0, queue["most_pending_seconds"])
    result = Path(supervisor.record, "result.json")
    while not supervisor.cancel_requested and not result.exists():
        if time.monotonic() >= start and (node := take_node(queue)) is not None:
            return node
        supervisor.step(0.005)
    return None


def take_node(queue):
    """Return a lock on a node; None if all have a job."""
    numbers = list(range(queue["nodes"]))
    random.shuffle(numbers)
    for number in numbers:
        node = os.open(f"{queue['directory']}/node-{number}", os.O_RDWR | os.O_CREAT, 0o600)
        os.set_inheritable(node, False)
        try:
            fcntl.flock(node, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(node)
        else:
            return node
    return None


def main():
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return  # the tuner died while it submitted
    job = json.loads(line)
    supervise = load_supervisor(job["queue"]["supervisor"])
    life, _open = os.pipe()  # which nobody closes: the job goes on without the tuner
    supervisor = supervise.Supervisor(job, life)
    supervisor.prepare()
    if pend(supervisor, job["queue"]) is None and Path(supervisor.record, "result.json").exists():
        return
    supervisor.store(supervisor.run())


if __name__ == "__main__":
    os.closerange(3, 256)
    main()
