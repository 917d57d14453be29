# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The options of a replay, and its directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import click

from stripewise.cli._common import note
from stripewise.errors import StripewiseError, UsageError
from stripewise.owned import OwnedDirectory


@dataclass(frozen=True)
class ReplayOptions:
    """What stands behind `--from`.

    Attributes:
        compute: "keep", "none" or a factor, of the time between calls.
        directory: Where the files go; None: a new one that is removed afterwards.
        ranks: As the user says; None: as in the trace.
        keep: The files stay.
    """

    compute: str = "keep"
    directory: Path | None = None
    ranks: int | None = None
    keep: bool = False


@click.command("--from", add_help_option=False)
@click.option("--compute", default="keep")
@click.option("--file", "directory", type=click.Path(path_type=Path))
@click.option("-np", "--np", "ranks", type=click.IntRange(min=1))
@click.option("--keep", is_flag=True)
def _options(**given: object) -> None:
    """Parse; it is never invoked."""


def replay_options(arguments: Sequence[str]) -> ReplayOptions:
    """Read the words that the command itself does not know.

    Raises:
        UsageError: One of them is no option of a replay.
    """
    try:
        given = _options.make_context("kernel --from", list(arguments)).params
    except click.UsageError as error:
        raise UsageError(
            f"{error.format_message()} (with --from: --compute, --file, --np and --keep)"
        ) from error
    from stripewise.replay import check_compute

    options = ReplayOptions(**given)
    check_compute(options.compute)
    return options


@contextmanager
def replay_directory(options: ReplayOptions) -> Iterator[Path]:
    """Give the directory of a replay; one that nobody named is removed afterwards."""
    if options.directory is not None:
        yield options.directory.absolute()
        return
    made = OwnedDirectory.take(Path.cwd() / f"stripewise-replay.{uuid4().hex[:8]}", "replay")
    try:
        yield made.path
    finally:
        if options.keep:
            note(f"the files of the replay are in {made.path}")
        else:
            with suppress(StripewiseError):
                made.discard()
