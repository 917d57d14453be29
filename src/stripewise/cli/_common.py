# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What all commands share: options, examples, JSON, errors to exit codes."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stripewise.errors import StripewiseError

if TYPE_CHECKING:
    from stripewise.runtime import MpiInstallation

EXIT_INTERRUPTED = 130
EXIT_UNEXPECTED = 70

_ODD_BYTE = re.compile("[\udc80-\udcff]")
_F = TypeVar("_F", bound=Callable[..., Any])


def json_option(function: _F) -> _F:
    """Add `--json`; the command gets it as `as_json`."""
    option = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on standard output."
    )
    return option(function)


def examples(*lines: str) -> str:
    r"""Text for `epilog=`: a section of examples, not re-wrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def print_json(data: Any, *, indent: int | None = 2) -> None:
    """Print one JSON document on standard output.

    File names that are not UTF-8 are escaped; NaN and infinities become null.
    """
    click.echo(json.dumps(finite(data), indent=indent, ensure_ascii=True, allow_nan=False))


def finite(data: Any) -> Any:
    """The same data with every number that JSON cannot hold as None."""
    if isinstance(data, float) and (data != data or data in (float("inf"), float("-inf"))):
        return None
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set | frozenset):
        return [finite(value) for value in data]
    if data is None or isinstance(data, bool | int | float | str):
        return data
    return str(data)


def note(text: str, *, kind: str = "") -> None:
    """Write one line to standard error: `stripewise: text`, or `stripewise: kind: text`."""
    click.echo(f"stripewise: {kind + ': ' if kind else ''}{printable(text)}", err=True)


def mpiexec_words(mpi: MpiInstallation, ranks: int, options: Sequence[str] = ()) -> list[str]:
    """Words that start so many ranks; Open MPI is told where there are more of them than cores."""
    words = [str(mpi.mpiexec), "-n", str(ranks)]
    if mpi.family == "openmpi" and ranks > len(os.sched_getaffinity(0)):
        words.append("--oversubscribe")
    return [*words, *options]


def printable(text: str) -> str:
    r"""The text with what a terminal cannot show escaped; odd bytes of file names as \xNN."""
    shown = _ODD_BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)
    return shown.encode("utf-8", "backslashreplace").decode()


def exit_code_of(error: BaseException, words: Sequence[str]) -> int:
    """Say an error in one line and return the exit code for it.

    Args:
        error: What ended the command.
        words: The command line; `--debug` and `--json` in it are obeyed.
    """
    own = list(itertools.takewhile(lambda word: word != "--", words))
    if "--debug" in own or os.environ.get("STRIPEWISE_DEBUG") == "1":
        traceback.print_exception(error)
    message, code = _describe(error)
    if not message:
        return code
    if "--json" in own:
        print_json({"error": {"type": type(error).__name__, "message": message, "code": code}})
    note(message, kind="error")
    return code


def _describe(error: BaseException) -> tuple[str, int]:
    """Message ("" for none) and exit code of an error."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "interrupted", EXIT_INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return "", 141
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return "", error.exit_code
    if isinstance(error, click.ClickException):
        return _usage(error), error.exit_code
    if isinstance(error, StripewiseError):
        return str(error), error.exit_code
    what = " ".join(str(error).split())
    return (
        f"unexpected {type(error).__name__}: {what} (this is a fault of Stripewise; "
        "`stripewise --debug ...` shows where)",
        EXIT_UNEXPECTED,
    )


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is not None:
        message += f" (see `{context.command_path} --help`)"
    return message


def _silence_stdout() -> None:
    """Keep the interpreter from complaining about the pipe once more at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
