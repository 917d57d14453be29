# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs started in an environment that a file describes, without a shell.

The format is that of native/task/task.h.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from stripewise.errors import RuntimeMissingError, StorageError, UsageError
from stripewise.runtime._locate import Runtime

MOST_BYTES = 1 << 20
"""SW_TASK_BYTES of native/task/task.h."""
MOST_VALUE_BYTES = 128 * 1024 - 1
"""Of a variable with its name. Source: documented, execve(2): MAX_ARG_STRLEN, 32 pages."""
_NONE: Mapping[str, str] = {}


def task_program(runtime: Runtime) -> Path:
    """Return the program `stripewise-task`: `stripewise-task FILE [--] PROGRAM ARG...`.

    It changes its environment as the file says and becomes the program. A file that is missing,
    damaged, not the user's (or root's), or writable by others, does not keep the program from
    running: one line on standard error says so, by rank 0 where there are ranks.

    Raises:
        RuntimeMissingError: The runtime was built before there was one.
    """
    if not runtime.task.is_file():
        raise RuntimeMissingError(f"{runtime.task} is not built; run: stripewise runtime build")
    return runtime.task


def write_task_file(
    path: Path,
    variables: Mapping[str, str | None],
    *,
    expanded: Mapping[str, str] = _NONE,
    preload: Path | None = None,
) -> None:
    """Write the file for `stripewise-task`; its owner alone can read it (mode 0600).

    What has that name is replaced at once: a task that begins meanwhile finds one or the other.

    Args:
        path: Of the file.
        variables: Name to value, taken as it is; None: the variable is unset.
        expanded: Name to a text in which %{VAR} stands for the value that VAR has in the
            environment of the task itself, or for nothing if it has none.
        preload: Library to come first in LD_PRELOAD, or in the place of one with the same base
            name, where that is.

    Raises:
        UsageError: A name or value cannot be passed.
        StorageError: The file cannot be written.
    """
    records = [_variable(name, value) for name, value in variables.items()]
    records += [b"@" + _variable(name, _expandable(text)) for name, text in expanded.items()]
    if preload is not None:
        records.append(b"+LD_PRELOAD=" + _plain(preload))
    data = b"".join(record + b"\0" for record in [*records, b""])
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"the variables of a task have {len(data)} bytes, and {MOST_BYTES} is the most: "
            "name a file instead of passing its content"
        )
    _replace(path, data)


def _variable(name: str, value: str | None) -> bytes:
    if not name or name[0] in "@+" or "=" in name or "\0" in name + (value or ""):
        raise UsageError(f"{name!r} cannot be passed as a variable: use another name or value")
    record = os.fsencode(name if value is None else f"{name}={value}")
    if len(record) > MOST_VALUE_BYTES:
        raise UsageError(f"the variable {name} has {len(record)} bytes: the system takes 128 KiB")
    return record


def _expandable(text: str) -> str:
    rest = text
    while (begin := rest.find("%{")) >= 0:
        end = rest.find("}", begin)
        if end < 0:
            raise UsageError(f"{text!r}: a %{{ has no }}; end the name of the variable with one")
        rest = rest[end + 1 :]
    return text


def _plain(library: Path) -> bytes:
    text = str(library)
    if not library.is_absolute() or any(character in text for character in ": \t\n\0"):
        raise UsageError(
            f"cannot preload {library}: LD_PRELOAD needs an absolute path without blanks and "
            "colons; set STRIPEWISE_RUNTIME_DIR to one and run `stripewise runtime build`"
        )
    return os.fsencode(text)


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, then rename: nobody sees half of it."""
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:  # mkstemp: mode 0600
            stream.write(data)
        os.replace(name, path)
    except OSError as error:
        if name:
            with suppress(OSError):
                os.unlink(name)
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
