# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what all commands share: lines, JSON, notes and exit codes."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click

from stripewise.core.errors import RuntimeMissingError, StripewiseError
from stripewise.core.extras import explain
from stripewise.present import finite, printable

EXIT_INTERRUPTED = 130
EXIT_UNEXPECTED = 70


def print_json(data: Any, *, indent: int | None = 2) -> None:
    """Print one JSON document on standard output.

    File names that are not UTF-8 are escaped; NaN and infinities become null.
    """
    click.echo(json.dumps(finite(data), indent=indent, ensure_ascii=True, allow_nan=False))


def echo(text: str = "", *, err: bool = False, wrap: bool = True) -> None:
    """Print one line; what came from elsewhere in it cannot act on the terminal or make another.

    On a terminal a line that is too long is continued below its last column; `wrap` False
    leaves that to the terminal, so that a command can be copied whole.
    """
    line = printable(text)
    if wrap and (sys.stderr if err else sys.stdout).isatty():
        line = fitted(line, shutil.get_terminal_size().columns)
    click.echo(line, err=err)


def answer(as_json: bool, data: Callable[[], Any], lines: Callable[[], Iterable[str]]) -> None:
    """Print what a command found: one JSON document, or else lines."""
    if as_json:
        print_json(data())
        return
    for line in lines():
        echo(line)


def fitted(line: str, width: int) -> str:
    """Break a line at spaces so that it fits; the rest stands below its last column."""
    if len(line) <= width:
        return line
    gaps = [gap.end() for gap in re.finditer(" {2,}", line) if gap.end() <= width * 2 // 3]
    indent = " " * (gaps[-1] if gaps else 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def note(text: str, *, kind: str = "") -> None:
    """Write one line to standard error: `stripewise: text`, or `stripewise: kind: text`."""
    click.echo(f"stripewise: {kind + ': ' if kind else ''}{printable(text)}", err=True)


class Closing(Protocol):
    """Something that shows progress until it is closed."""

    def close(self) -> None:
        """Take it away; safe to call twice."""


@contextmanager
def interruptible(progress: Closing, again: str) -> Iterator[None]:
    """Close what shows progress at the end; after Ctrl-C say how to continue, and exit.

    Args:
        progress: What shows it.
        again: The command that continues.
    """
    try:
        yield
    except KeyboardInterrupt:
        progress.close()
        note(f"interrupted; no finished run is lost; continue with: {again}")
        click.get_current_context().exit(EXIT_INTERRUPTED)
    finally:
        progress.close()


def write_noted(path: Path, text: str) -> None:
    """Write a file that the user asked for, and say so."""
    from stripewise.core import write_file

    write_file(path, text)
    note(f"wrote {path}")


def note_all(warnings: Iterable[str], errors: Iterable[str]) -> None:
    """Write what a run ended with to standard error."""
    for text in warnings:
        note(text, kind="warning")
    for text in errors:
        note(text, kind="error")


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
    """Return the message of an error ("" for none) and its exit code."""
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
        return " ".join(str(error).splitlines()), error.exit_code
    if isinstance(error, ImportError) and (absent := explain(error)):
        return absent, RuntimeMissingError.exit_code
    what = " ".join(str(error).split())
    return (
        f"unexpected {type(error).__name__}: {what} (this is a bug in Stripewise; "
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
