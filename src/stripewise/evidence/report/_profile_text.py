# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a diagnosis on a terminal: figures, findings, tables, phases and patterns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from stripewise.core import Figured
from stripewise.evidence.figures import (
    Diagnosis,
    Figures,
    FileRow,
    Finding,
    LayerRow,
    RequestRow,
    Severity,
    VarianceRow,
)
from stripewise.evidence.figures.heat_cells import LAYER_NAMES
from stripewise.evidence.patterns import Pattern, group_patterns
from stripewise.present import (
    Columns,
    TextTable,
    amount_words,
    fit_encoding,
    known,
    percent_text,
    plural,
    printable,
    rate_text,
    seconds_text,
    size_text,
)
from stripewise.present.blocks import saving_text

PIPED_WIDTH = 400
"""So wide that nothing is wrapped."""

_COLOURS = {Severity.HIGH: "bold red", Severity.WARN: "yellow", Severity.INFO: "cyan"}
_LABEL_WIDTH = 20


def print_profile(
    diagnosis: Diagnosis,
    stream: IO[str],
    patterns: Sequence[Pattern] = (),
    *,
    files: int = 10,
    findings_only: bool = False,
) -> None:
    """Print a diagnosis.

    Args:
        diagnosis: What is told.
        stream: Where to.
        patterns: Of the same evidence.
        files: Most rows of each table.
        findings_only: Only the summary and the findings.
    """
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    parts = [*_head(diagnosis, findings_only), *_findings(diagnosis)]
    if not findings_only:
        parts += _tables(diagnosis, files)
        parts += _phases(diagnosis)
        parts += _patterns(patterns, files)
    parts += [Text(f"note: {printable(text)}", style="dim") for text in diagnosis.notes]
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    encoding = getattr(stream, "encoding", None)
    for line in captured.get().splitlines():
        stream.write(fit_encoding(line.rstrip(), encoding) + "\n")


def _heading(title: str) -> Text:
    return Text("\n").append(title, style="bold underline")


def _head(diagnosis: Diagnosis, findings_only: bool) -> Iterator[RenderableType]:
    yield Text(printable(diagnosis.summary), style="bold")
    if findings_only:
        return
    command = f"   {printable(diagnosis.command)}" if diagnosis.command else ""
    yield Text(printable(diagnosis.source) + command, style="dim")
    yield Text("")
    for label, value in figure_lines(diagnosis.figures):
        yield Text(f"  {label:<{_LABEL_WIDTH}}{value}")


def figure_lines(figures: Figures) -> Iterator[tuple[str, str]]:
    """The figures with their names, as docs/reference/profile.md defines them."""

    def words(name: str, show: Callable[[float], str] = seconds_text) -> str:
        return amount_words(figures, name, show)

    yield "run time", words("run_seconds") + _ranks(figures)
    yield "files", _files(figures)
    yield "total READ", words("read_bytes", size_text)
    yield "total WRITE", words("write_bytes", size_text)
    system = figures.system_meta_operations
    beneath = (
        f" of the program ({system} at the system)" if system != figures.meta_operations else ""
    )
    yield "total META", words("meta_operations", lambda number: f"{number:.0f} op{beneath}")
    for name in ("read", "write", "meta"):
        cumulated = figures.amount(f"cumulated_{name}_seconds")
        slowest = f" over all ranks, {words(f'elapsed_{name}_seconds')} of the slowest"
        told = cumulated.words(seconds_text)
        yield f"{name.upper()}_TIME", told + slowest * (cumulated.value is not None)
    yield "I/O time", _io_time(figures)
    yield "estimated I/O rate", words("rate_bytes_per_second", rate_text)
    yield "META / I/O time", words("meta_share", lambda s: f"{percent_text(s)} (cumulated)")
    if figures.missing:
        yield "not known", printable(figures.why_missing)


def _ranks(figures: Figures) -> str:
    words = []
    if figures.n_ranks:
        words.append(plural(figures.n_ranks, "rank"))
    elif figures.n_processes:
        words.append(
            f"{figures.n_processes} process{'es' if figures.n_processes > 1 else ''} without MPI"
        )
    if figures.n_hosts:
        words.append(plural(figures.n_hosts, "host"))
    return f"   ({', '.join(words)})" if words else ""


def _files(figures: Figures) -> str:
    kinds = (
        (figures.n_read_only, "read only"),
        (figures.n_write_only, "write only"),
        (figures.n_read_write, "read and written"),
        (figures.n_no_data, "without data"),
    )
    told = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
    shared = f"; {figures.n_shared} shared" if figures.n_shared else ""
    number = figures.amount("n_files").words(lambda value: f"{value:.0f}")
    return number + (f": {told}{shared}" if told else "")


def _io_time(figures: Figures) -> str:
    amount = figures.amount("io_seconds")
    if not amount.is_exact and amount.value is not None:
        return f"at least {known(figures.io_low_seconds)}"
    text = amount.words(seconds_text)
    if math.isfinite(figures.io_share):
        text += f" ({percent_text(figures.io_share)} of the run time)"
    if figures.slowest_rank >= 0 and figures.n_ranks > 1:
        text += f", rank {figures.slowest_rank}"
    if not figures.io_exact and amount.value is not None:
        text += f"   at most this, at least {known(figures.io_low_seconds)}"
    return text


def _findings(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if not diagnosis.findings:
        timed = math.isfinite(diagnosis.figures.io_seconds)
        part = " in what is known of the run" if diagnosis.figures.why_missing else ""
        likely = f"no rule sees a likely saving{part}; `stripewise tune` tries settings"
        why = likely if timed else "without times no cost is known"
        yield Text(f"\nNo findings: {why}.")
        return
    yield _heading("Findings")
    for number, found in enumerate(diagnosis.findings, 1):
        yield from _finding(number, found)


def _finding(number: int, found: Finding) -> Iterator[RenderableType]:
    head = Text(f"{number}. ")
    head.append(str(found.severity), style=_COLOURS[found.severity])
    head.append(f"   {_gain(found)}   ")
    head.append(printable(found.title), style="bold")
    head.append(f"   [{found.code}]", style="dim")
    yield head
    yield Padding(Text(printable(found.text)), (0, 0, 0, 3))
    yield Padding(Text(f"To do: {printable(found.remedy)}"), (0, 0, 0, 3))
    for line in found.lines:
        yield Padding(Text(f"$ {printable(line)}", style="green", overflow="fold"), (0, 0, 0, 5))
    if found.tune:
        yield Padding(Text(f"$ {printable(found.tune)}", style="green"), (0, 0, 0, 5))


def _gain(found: Finding) -> str:
    """What a change saves, or that nothing is claimed."""
    if found.cost_seconds is None:
        return "no estimate"
    return saving_text(found.cost_seconds, found.least_seconds, found.most_seconds)


def _tables(diagnosis: Diagnosis, files: int) -> Iterator[RenderableType]:
    d, table_of = diagnosis, TextTable.of
    variance, requests = d.variance[:files], d.requests[:files]
    for title, table, total in (
        ("Interfaces, from the program down", table_of(LAYERS, d.layers), 0),
        ("Files", table_of(FILES, d.files[:files], left=2), len(d.files)),
        ("Variance in shared files", table_of(VARIANCE, variance), len(d.variance)),
        (
            "Requests before and after MPI-IO",
            table_of(REQUESTS, requests, keys=2, left=2),
            len(d.requests),
        ),
    ):
        if not table.rows:
            continue
        yield _heading(title)
        yield table
        if total > files:
            yield Text(f"and {total - files} more (--files {total} shows all)", style="dim")


def _phases(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.phases:
        yield _heading("Phases")
    for phase in diagnosis.phases:
        if phase.periodic:
            text = (
                f"{phase.direction}s every {known(phase.period_seconds)} "
                f"(confidence {percent_text(phase.confidence)}), {phase.n_phases} phases of "
                f"{known(phase.phase_seconds)} and {size_text(phase.phase_bytes)}"
            )
        else:
            text = f"{phase.direction}s in {plural(phase.n_phases, 'burst')}, not periodic"
        yield Text(f"  {text}; bins of {known(phase.resolution_seconds)}")


def _patterns(patterns: Sequence[Pattern], most: int) -> Iterator[RenderableType]:
    groups = group_patterns(patterns)
    if groups:
        yield _heading("Patterns")
    for group in groups[:most]:
        verb = "written" if group.pattern.writing else "read"
        number = f" ({len(group.members)} of them)" if len(group.members) > 1 else ""
        yield Text(f"  {printable(group.name)}{number} {verb} {group.pattern.notation}")
    if len(groups) > most:
        yield Text(
            f"  and {len(groups) - most} more (`stripewise profile --as pattern`)", style="dim"
        )


# Tables of a profile in text: the columns of each, a heading and what stands under it.

_PATH_WIDTH = 44


def _path(path: str) -> str:
    shown = printable(path)
    return shown if len(shown) <= _PATH_WIDTH else "…" + shown[1 - _PATH_WIDTH :]


def _bytes(value: float) -> str:
    return "-" if not value or math.isnan(value) else size_text(value)


def _amount(name: str, show: Callable[[float], str]) -> Callable[[Figured], str]:
    """Return what shows a figure of a row: "-" for zero, "?" where it is not known."""

    def cell(row: Figured) -> str:
        amount = row.amount(name)
        if amount.value is None:
            return "?"
        return f"{'>= ' if amount.why else ''}{show(amount.value)}" if amount.value else "-"

    return cell


def _count(value: int) -> str:
    return str(value) if value else "-"


def _share(value: float | None) -> str:
    if value is None:
        return "?"
    return "-" if math.isnan(value) else percent_text(value)


def _sizes(row: FileRow) -> str:
    sizes = (f"{size_text(size)} x{count}" for size, count in row.common_sizes[:2])
    return ", ".join(sizes) or "-"


def _stripes(row: FileRow) -> str:
    layout = row.layout
    if not layout.stripe_count and not layout.stripe_bytes:
        return "-"
    return f"{layout.stripe_count or '?'} x {size_text(layout.stripe_bytes)}"


FILES: Columns[FileRow] = (
    ("file", lambda row: _path(row.path)),
    ("interface", lambda row: row.interface),
    ("time", _amount("elapsed_seconds", seconds_text)),
    ("read", _amount("read_bytes", size_text)),
    ("written", _amount("write_bytes", size_text)),
    ("reads", lambda row: _count(row.read_calls)),
    ("writes", lambda row: _count(row.write_calls)),
    ("common sizes", _sizes),
    ("collective", lambda row: _share(row.collective)),
    ("sequential", lambda row: _share(row.sequential)),
    ("ranks", lambda row: f"{row.data_rank_count} of {row.rank_count}" if row.rank_count else "-"),
    ("opens", lambda row: str(row.opens)),
    ("stripes", _stripes),
)

LAYERS: Columns[LayerRow] = (
    ("interface", lambda row: LAYER_NAMES[row.layer]),
    ("files", lambda row: str(row.files)),
    ("reads", lambda row: _count(row.read_calls)),
    ("writes", lambda row: _count(row.write_calls)),
    ("collective", lambda row: _count(row.collective_calls)),
    ("metadata", lambda row: _count(row.meta_operations)),
    ("read", _amount("read_bytes", size_text)),
    ("written", _amount("write_bytes", size_text)),
    ("time over ranks", _amount("cumulated_seconds", seconds_text)),
    ("program's own time", _amount("own_seconds", seconds_text)),
    ("slowest rank", _amount("elapsed_seconds", seconds_text)),
)

VARIANCE: Columns[VarianceRow] = (
    ("file", lambda row: _path(row.path)),
    ("ranks", lambda row: str(row.processes)),
    ("fastest", lambda row: str(row.fastest_rank)),
    ("time", lambda row: seconds_text(row.fastest_seconds)),
    ("bytes", lambda row: _bytes(row.fastest_bytes)),
    ("slowest", lambda row: str(row.slowest_rank)),
    ("time", lambda row: seconds_text(row.slowest_seconds)),
    ("bytes", lambda row: _bytes(row.slowest_bytes)),
    ("deviation of time", lambda row: seconds_text(row.seconds_deviation)),
    ("deviation of bytes", lambda row: _bytes(row.bytes_deviation)),
)

REQUESTS: Columns[RequestRow] = (
    ("file", lambda row: _path(row.path)),
    ("", lambda row: "write" if row.writing else "read"),
    ("program", lambda row: _count(row.program_calls)),
    ("collective", lambda row: _count(row.collective_calls)),
    ("mean", lambda row: _bytes(row.program_mean_bytes)),
    ("ranks", lambda row: _count(row.program_ranks)),
    ("system", lambda row: _count(row.system_calls)),
    ("mean", lambda row: _bytes(row.system_mean_bytes)),
    ("ranks", lambda row: "?" if row.system_ranks is None else str(row.system_ranks)),
    ("read-modify", lambda row: "?" if row.modify_bytes is None else _bytes(row.modify_bytes)),
    ("gaps", lambda row: "?" if row.gaps is None else str(row.gaps)),
    ("aligned", lambda row: _share(row.aligned)),
    ("stripe-sized", lambda row: _share(row.unit_sized)),
)
