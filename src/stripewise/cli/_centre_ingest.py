# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Imports logs, studies, campaigns and Slurm's jobs into the statistics database."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import EXIT_INTERRUPTED, echo, note, print_json
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import json_option
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.centre.database.ingest import IngestOptions, SlurmIntake, Tally


db_option = option(
    "--db", "database", default="", metavar="URL|FILE", help="The database.  [env: STRIPEWISE_DB]"
)
_PART = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)
_MOST_LINES = 20


@command(
    epilog=examples(
        "stripewise centre ingest /var/log/darshan/2026 --cluster archer2",
        "stripewise centre ingest program.trace program.stripewise july.campaign",
        "stripewise centre ingest /var/log/darshan /var/spool/stripewise --watch 300",
        "stripewise centre ingest --slurm --slurm-since 2026-01-01",
        "stripewise centre ingest /logs --part $SLURM_ARRAY_TASK_ID/8",
        "stripewise centre ingest /logs --dry-run --json",
    ),
)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(path_type=Path))
@db_option
@option("--cluster", default="", metavar="NAME", help="Cluster that the inputs come from.")
@option("--jobs", type=click.IntRange(1, 1024), default=None, metavar="N",
              help="Number of processes that read  [default: cores]")  # fmt: skip
@option("--settle", type=click.FloatRange(min=0), default=None, metavar="SECONDS",
              help="Skip files that changed in the last SECONDS  [default: 60]")  # fmt: skip
@option("--rate", type=click.FloatRange(min=0), default=0.0, metavar="N",
              help="Read at most N inputs a second.")  # fmt: skip
@option("--part", default="1/1", metavar="I/N",
              help="Read only the I-th of N shares, for the tasks of a job array.")  # fmt: skip
@option("--watch", type=click.FloatRange(min=0.1), default=None, metavar="SECONDS",
              help="Look for new files every SECONDS, until interrupted.")  # fmt: skip
@option(
    "--slurm",
    is_flag=True,
    help="Also ask sacct for the jobs since the last time (the first time: of the last 30 days).",
)
@option(
    "--slurm-since",
    default="",
    metavar="DAY",
    help="Ask sacct for the jobs from this day on, as in 2026-01-31.",
)
@option("--dry-run", is_flag=True, help="Show what would be read, and read nothing.")
@json_option
def ingest(
    paths: tuple[Path, ...],
    database: str,
    jobs: int | None,
    settle: float | None,
    part: str,
    watch: float | None,
    slurm: bool,
    slurm_since: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Store logs, studies, campaigns and jobs in the database.

    Reads the files PATH and all files below directories: Darshan logs, traces of Stripewise and
    Recorder, output of MPICH_MPIIO_STATS, studies of `stripewise tune`, campaigns of `stripewise
    bench`, output of IOR, mdtest and others, and reports of `stripewise run`.  Files that did not
    change are not read again, equal contents are stored once, and files that still grow are left
    for the next time.  It can be interrupted at any moment and started again: nothing is lost or
    stored twice.

    A log counts only if its file belongs to the user whose run it describes, to root, or to
    whoever runs this command.  Inputs that cannot be read are refused with a reason (`stripewise
    centre status`), and looked at again when they change.
    """
    from stripewise.centre.database import create_engine
    from stripewise.centre.database.ingest import IngestOptions
    from stripewise.centre.database.ingest import ingest as take_in

    scheduler = Scheduler.of(slurm, slurm_since, given["cluster"])
    if not paths and scheduler is None:
        raise UsageError("nothing to read: name files or directories, or give --slurm")
    chosen: dict[str, Any] = {"jobs": jobs, "settle_seconds": settle}
    options = IngestOptions(
        roots=paths,
        part=_part_of(part),
        **{name: value for name, value in chosen.items() if value is not None},
        **given,
    )
    engine = create_engine(database)
    with _signals() as stop, _progress(as_json) as observe:
        if watch is not None:
            _watch(engine, options, watch, observe, stop, scheduler, as_json)
            return
        if scheduler is not None and not options.dry_run:
            scheduler.ask(engine, as_json)
        tally = take_in(engine, options, observe=observe, stop=stop)
    _say(tally, options, as_json)
    if tally.stopped:
        click.get_current_context().exit(EXIT_INTERRUPTED)


def _watch(
    engine: Any,
    options: IngestOptions,
    seconds: float,
    observe: Callable[[Tally], None],
    stop: Callable[[], bool],
    scheduler: Scheduler | None,
    as_json: bool,
) -> None:
    from stripewise.centre.database.ingest import watch

    def ahead() -> None:
        nonlocal scheduler
        if scheduler is not None and not options.dry_run:
            scheduler.ask(engine, as_json=True)
            scheduler = replace(scheduler, since=None)  # afterwards only new jobs

    def passed(tally: Tally) -> None:
        if as_json:
            print_json(tally.as_json(), indent=None)
        elif tally.stored or tally.refused:
            _say(tally, options, as_json=False)

    watch(
        engine, options, seconds, ahead=ahead, observe=observe, passed=passed,
        troubled=lambda text: note(text, kind="warning"), stop=stop,
    )  # fmt: skip


def _part_of(text: str) -> tuple[int, int]:
    match = _PART.fullmatch(text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total:
        raise UsageError(
            f"--part {text!r} is not a share: give I/N, such as 3/8, with I from 1 to N"
        )
    return number, total


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """Make a first Ctrl-C, SIGTERM or SIGHUP end the ingest in order, and a second one at once."""
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def take(number: int, _frame: Any) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, take) for number in numbers}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(as_json: bool) -> Iterator[Callable[[Tally], None]]:
    """Show the current counts on a terminal."""
    if as_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("looking") as shown:
        yield lambda tally: shown.update(_counts(tally))


def _counts(tally: Tally) -> str:
    new = sum(tally.stored.values())
    return (
        f"{tally.found} found, {tally.unchanged} unchanged, {new} stored, {tally.known} known, "
        f"{tally.refused} refused"
    )


def _say(tally: Tally, options: IngestOptions, as_json: bool) -> None:
    if as_json:
        print_json(tally.as_json())
        return
    for line in _lines(tally, options):
        echo(line)
    for name, reason in tally.reasons[:_MOST_LINES]:
        note(f"{name}: {reason}", kind="refused")
    if tally.refused > _MOST_LINES:
        note(f"{tally.refused - _MOST_LINES} more are refused: see `stripewise centre status`")


def _lines(tally: Tally, options: IngestOptions) -> Iterator[str]:
    from stripewise.present import duration_text, plural

    new = sum(tally.stored.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.stored.items()))
    verb = "would be read" if options.dry_run else "stored"
    yield (
        f"{plural(tally.found, 'input')} found in {duration_text(tally.seconds)}: {new} {verb}"
        + (f" ({kinds})" if kinds else "")
        + f", {tally.unchanged} unchanged, {tally.known} known, {tally.refused} refused"
    )
    for reason, count in sorted(tally.passed.counts.items()):
        first = tally.passed.names[reason][0]
        more = f" and {count - 1} more" if count > 1 else ""
        yield f"  skipped, {reason}: {first}{more}"
    for name, text in tally.problems[:_MOST_LINES]:
        yield f"  in part: {name}: {text}"
    if tally.stopped:
        yield "  interrupted; what was stored is kept: run the same command again to continue"


# ---- querying sacct for its jobs

_MOST_PROBLEMS = 10


@dataclass(frozen=True)
class Scheduler:
    """Queries of sacct for new jobs.

    Attributes:
        since: Start of the interval to query; None for the time of the last query.
        cluster: Name of the cluster; empty for that of sacct.
    """

    since: int | None
    cluster: str

    @classmethod
    def of(cls, slurm: bool, since: str, cluster: str) -> Scheduler | None:
        """Return the query of sacct that options request; None for no query.

        Raises:
            UsageError: The day is malformed, or given without --slurm.
        """
        if not slurm:
            if since:
                raise UsageError("--slurm-since requires --slurm: give both")
            return None
        from stripewise.centre.database.queries import JobFilter

        return cls(JobFilter.parse({"since": since}).since, cluster)

    def ask(self, engine: Any, as_json: bool) -> None:
        """Query sacct, store the jobs, and report their number."""
        from stripewise.centre.database.ingest import next_window, read_sacct, take_jobs
        from stripewise.run.slurm import Sacct

        name = f"sacct {self.cluster}".strip()
        span = next_window(engine, name, self.since)
        parts = read_sacct(Sacct(self.cluster), span)
        self._say(name, take_jobs(engine, name, span, parts), as_json)

    def _say(self, name: str, intake: SlurmIntake, as_json: bool) -> None:
        from stripewise.present import plural

        if not as_json:
            days = (intake.span.end - intake.span.start) / 86400
            echo(f"{name}: {plural(intake.jobs, 'record')} of the last {days:.1f} days stored")
        for text in intake.problems[:_MOST_PROBLEMS]:
            note(f"{name}: {text}", kind="warning")
