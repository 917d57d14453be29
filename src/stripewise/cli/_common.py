# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what all commands share: options, examples, JSON, exit codes and completion."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from stripewise.core.errors import RuntimeMissingError, StripewiseError
from stripewise.core.extras import explain
from stripewise.present import finite, printable

EXIT_INTERRUPTED = 130
EXIT_UNEXPECTED = 70

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output."
)
sync_option = click.option(
    "--sync", is_flag=True, help="Call fsync on written files when they are closed."
)
no_sync_option = click.option(
    "--no-sync", is_flag=True, help="Do not wait until the data is on the storage."
)
input_option = click.option(
    "--input",
    "inputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File or directory that the program reads, instead of this whole directory (repeatable).",
)
allow_outside_option = click.option(
    "--allow-outside",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Let runs change this file or directory of yours, which no copy holds (repeatable).",
)
file_option = partial(click.option, metavar="FILE", type=click.Path(path_type=Path))
directory_option = partial(click.option, metavar="DIR", type=click.Path(path_type=Path))
program_argument = click.argument(
    "program", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND..."
)
evidence_argument = click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, readable=False),
    metavar="PATH...",
)


def examples(*lines: str) -> str:
    r"""Text for `epilog=`: a section of examples, not re-wrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


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
        return " ".join(str(error).splitlines()), error.exit_code
    if isinstance(error, ImportError) and (absent := explain(error)):
        return absent, RuntimeMissingError.exit_code
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


# `stripewise completion`: the script that makes a shell complete commands.


def complete_knob(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a tunable: `layer.key`, or the key alone."""
    from stripewise.settings.tunables import all_tunables

    del ctx, param
    named = {knob.name: knob for knob in all_tunables()}
    if not any(name.startswith(incomplete) for name in named):
        named = {knob.key: knob for knob in all_tunables()}
    return [
        CompletionItem(name, help=knob.summary)
        for name, knob in named.items()
        if name.startswith(incomplete)
    ]


def complete_machine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a described storage."""
    from stripewise.storage.machines import preset_names

    del ctx, param
    return [CompletionItem(name) for name in preset_names() if name.startswith(incomplete)]


def complete_strategy(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a strategy."""
    from stripewise.study.strategies import strategy_names

    del ctx, param
    return [CompletionItem(name) for name in strategy_names() if name.startswith(incomplete)]


@click.command(
    epilog=examples(
        'eval "$(stripewise completion bash)"            # in ~/.bashrc',
        'eval "$(stripewise completion zsh)"             # in ~/.zshrc',
        "stripewise completion fish > ~/.config/fish/completions/stripewise.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of SHELL."""
    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    assert found is not None  # the choice of shells is click's
    complete = found(root, {}, "stripewise", "_STRIPEWISE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
