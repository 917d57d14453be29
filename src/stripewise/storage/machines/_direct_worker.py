# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the requests that the probe sends, line by line, and reports how long they took.

It runs as a file of its own, without the rest of Stripewise, so that it starts at once. Each
command is a line of JSON. The worker prepares, writes "ready", waits for a line, works, and
answers with a line of JSON; times are of the clock that all processes share.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any


def main() -> None:
    """Serve requests until standard input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        try:
            steps = _metadata(order) if order["do"] == "metadata" else _transfer(order)
            next(steps)
            _say("ready")
            sys.stdin.readline()
            _say(json.dumps(next(steps)))
        except OSError as error:
            _say(json.dumps({"error": error.strerror or str(error)}))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _transfer(order: dict[str, Any]) -> Iterator[Any]:
    """Write or read requests of one size until the time or the region is used up."""
    size, writing, direct = order["size"], order["do"] == "write", order["direct"]
    flags = os.O_RDWR | os.O_CREAT if writing else os.O_RDONLY
    file = os.open(order["file"], flags | (os.O_DIRECT if direct else 0), 0o600)
    try:
        block = mmap.mmap(-1, size)  # separate pages: aligned as required for direct requests
        block.write(os.urandom(min(size, 1 << 16)) * max(1, size >> 16))
        if not writing and not direct:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        yield None
        begin = time.monotonic()
        number, end = _requests(file, block, order, begin)
        if writing and not direct:
            os.fsync(file)
            end = time.monotonic()
        yield {"begin": begin, "end": end, "requests": number, "bytes": number * size}
    finally:
        os.close(file)


def _requests(
    file: int, block: mmap.mmap, order: dict[str, Any], begin: float
) -> tuple[int, float]:
    size, stride, limit = order["size"], order["stride"], begin + order["seconds"]
    move = os.pwritev if order["do"] == "write" else os.preadv
    now, number = begin, 0
    for offset in range(order["offset"], order["region"], stride):
        done = move(file, [block], offset)
        if done != size:
            if number and order["do"] == "read":
                break  # the end of what was written in time
            raise OSError(0, f"{done} of {size} bytes were moved")
        number += 1
        now = time.monotonic()
        if now >= limit:
            break
    return number, now


def _metadata(order: dict[str, Any]) -> Iterator[Any]:
    """Create, open, stat and remove some files, in turn until the time is used up."""
    names = [os.path.join(order["directory"], str(number)) for number in range(order["files"])]
    os.makedirs(order["directory"], exist_ok=True)
    actions: dict[str, Callable[[str], object]] = {
        "create": lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)),
        "open": lambda name: os.close(os.open(name, os.O_RDONLY)),
        "stat": os.stat,
        "remove": os.unlink,
    }
    yield None
    taken = dict.fromkeys(actions, 0.0)
    limit = time.monotonic() + order["seconds"]
    turns = 0
    while not turns or time.monotonic() < limit:
        for action, act in actions.items():
            begin = time.monotonic()
            for name in names:
                act(name)
            taken[action] += time.monotonic() - begin
        turns += 1
    yield {action: seconds / turns / len(names) for action, seconds in taken.items()}


if __name__ == "__main__":
    main()
