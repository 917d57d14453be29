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
    """Print one line, in which foreign text cannot control the terminal or start a new line.

    On a terminal, lines that are too long continue below their last column, unless `wrap` is
    false, with which a command can be copied as a whole.
    """
    line = printable(text)
    if wrap and (sys.stderr if err else sys.stdout).isatty():
        line = fitted(line, shutil.get_terminal_size().columns)
    click.echo(line, err=err)


def answer(as_json: bool, data: Callable[[], Any], lines: Callable[[], Iterable[str]]) -> None:
    """Print the result of a command, as one JSON document or as lines."""
    if as_json:
        print_json(data())
        return
    for line in lines():
        echo(line)


def fitted(line: str, width: int) -> str:
    """Break a line at spaces to fit a width, and continue it below its last column."""
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
    """A display of progress that can be closed."""

    def close(self) -> None:
        """Remove the display; it is safe to call this twice."""


@contextmanager
def interruptible(progress: Closing, again: str) -> Iterator[None]:
    """Close a progress display at the end; after Ctrl-C report how to continue, and exit.

    Args:
        progress: Display of the progress.
        again: Command that continues.
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
    """Write a file that the user requested, and report this."""
    from stripewise.core import write_file

    write_file(path, text)
    note(f"wrote {path}")


def note_all(warnings: Iterable[str], errors: Iterable[str]) -> None:
    """Write the warnings and errors of a run to standard error."""
    for text in warnings:
        note(text, kind="warning")
    for text in errors:
        note(text, kind="error")


def exit_code_of(error: BaseException, words: Sequence[str]) -> int:
    """Report an error in one line, and return its exit code.

    Args:
        error: Error that ended the command.
        words: Command line, of which `--debug` and `--json` are considered.
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
    """Return the message of an error (which may be empty) and its exit code."""
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
    """Prevent the interpreter from reporting the broken pipe again at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
