# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise centre monitor` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAKES = ["-m", "support.monitor_cli"]
"""With collectors and sinks of tests."""
OWN = ["-c", "from stripewise.cli import main; main()"]
"""With those of the package."""


def _words(given: Sequence[object], how: Sequence[str]) -> list[str]:
    words = [str(word) for word in given]
    if words[:1] == ["check"]:
        return [sys.executable, *how, "doctor", "monitor", *words[1:]]
    return [sys.executable, *how, "centre", "monitor", *words]


def _environment(more: dict[str, object]) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    own = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
    return {**own, "PYTHONPATH": path, **{name: str(value) for name, value in more.items()}}


def run(
    *words: object, how: Sequence[str] = FAKES, before: Sequence[str] = (), **environment: object
) -> subprocess.CompletedProcess[str]:
    """Run `stripewise centre monitor WORDS` to its end."""
    return subprocess.run(
        [*before, *_words(words, how)], env=_environment(environment), cwd="/",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@contextmanager
def running(
    *words: object, log: Path, how: Sequence[str] = FAKES, **environment: object
) -> Iterator[subprocess.Popen[bytes]]:
    """Have an agent; what it says goes into a file."""
    with open(log, "wb") as said:
        process = subprocess.Popen(
            _words(words, how), env=_environment(environment), cwd="/", stderr=said, stdout=said
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


CHECKOUT = Path(__file__).resolve().parents[2]
IS_OPEN = all(place.stat().st_mode & 0o1 for place in (CHECKOUT, *CHECKOUT.parents))
"""Whether other users can run what is in this checkout: not in root's home, for example."""
