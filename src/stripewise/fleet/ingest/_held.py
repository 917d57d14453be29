# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of an input held open: what is read is what was found, wherever its path leads by then.

Whoever takes in may read the files of all users.  A user who puts a link where a file or a
directory was must not have somebody else's run read as their own.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from stripewise.fleet.ingest._walk import Input, stamp_of_open
from stripewise.inputs import open_input
from stripewise.owned import temporary_directory


class ChangedError(Exception):
    """An input is no longer what was found."""


@contextmanager
def held(one: Input) -> Iterator[Path]:
    """Open the files of an input; give a path that leads to them, and to nothing else.

    Raises:
        ChangedError: They are not the files that were found.
        OSError: One cannot be opened.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(open_input(path)) for _, path in one.files]
        if stamp_of_open(files) != one.stamp:
            raise ChangedError("it changed before it was read")
        directory = stack.enter_context(TemporaryDirectory(dir=_directory(os.getpid())))
        place = Path(directory) / one.path.name
        for (name, _), file in zip(one.files, files, strict=True):
            link = place / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f"/proc/{os.getpid()}/fd/{file.fileno()}")
        yield place


@cache
def _directory(process: int) -> Path:
    """Return a directory of a process: one for each input would take as long as reading it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_directory("inputs"))
