# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a campaign for other programs: CSV, Parquet, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from stripewise.bench import Case
from stripewise.bench._case import CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, CaseFigures, figures_of
from stripewise.bench.limits import Limits
from stripewise.bench.report._sentences import how_made
from stripewise.core import whole_file, write_file
from stripewise.core.extras import require
from stripewise.present import csv_cell, finite, printable

_BATCH = 50_000
_PHASES = ("open", "transfer", "sync", "close")
_PERCENTS = ("50", "90", "99", "100")
_OF_CASE = tuple(one.name for one in fields(Case) if one.name not in ("operation", "settings"))
_KINDS = get_type_hints(Case)

COLUMNS: dict[str, type] = {
    **{"campaign": str, "storage": str, "machine": str, "made": str, "key": str},
    **{"case_operation": str, "settings": str},
    **{name: _KINDS[name] for name in _OF_CASE},
    **{"repeat": int, "status": str, "message": str, "operation": str, "unit": str},
    **{"amount": float, "seconds": float, "rate": float, "outlier": bool, "worn_out": bool},
    **{"flags": str},
    **{f"{name}_seconds": float for name in _PHASES},
    **{f"p{name}_seconds": float for name in _PERCENTS},
    **{"started_unix_seconds": float, "elapsed_seconds": float, "node_seconds": float},
    **{"written_bytes": int, "stripe_count": int, "stripe_size_bytes": int, "targets": str},
    **{"phases": str, "hints": str, "circumstances": str},
}
"""Name to type of every column; a missing value is None, an empty cell in CSV."""


def campaign_rows(
    campaign: Campaign, figures: Sequence[CaseFigures] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each run and operation, or one without figures for a failed run.

    Rates are bytes per second ("bytes/s" in `unit`) or operations per second; texts with more than
    one value are JSON.
    """
    about = {"campaign": campaign.name, "storage": campaign.storage, "machine": campaign.machine,
             "made": how_made(campaign)}  # fmt: skip
    found = figures_of(campaign) if figures is None else figures
    doubts = {(one.case.key, one.operation): one for one in found}
    cases = {case.key: case for case in campaign.suite.cases}
    outliers = _outliers(campaign, found)
    for run in campaign.runs:
        shared = {
            **dict.fromkeys(COLUMNS),
            **about,
            **_case_columns(cases.get(run.key)),
            **_run_columns(run),
        }
        for sample in run.samples:
            one = doubts.get((run.key, sample.operation))
            flags = " ".join(dict.fromkeys(flag.name for flag in one.flags)) if one else ""
            outlier = (run.key, sample.operation, run.repeat) in outliers
            yield {**shared, **_sample_columns(sample), "outlier": outlier, "flags": flags}
        if not run.samples:
            yield shared


def _outliers(campaign: Campaign, figures: Iterable[CaseFigures]) -> set[tuple[str, str, int]]:
    """Return key, operation and repeat of each run that is an outlier."""
    found = set()
    for one in figures:
        if one.outliers:
            runs = [run for run in campaign.by_case.get(one.case.key, ())
                    for sample in run.samples if sample.operation == one.operation]  # fmt: skip
            found |= {(one.case.key, one.operation, runs[place].repeat)
                      for place in one.outliers if place < len(runs)}  # fmt: skip
    return found


def _case_columns(case: Case | None) -> dict[str, Any]:
    if case is None:
        return {}
    return {
        **{name: getattr(case, name) for name in _OF_CASE},
        "case_operation": case.operation, "settings": _json(dict(case.settings)),
    }  # fmt: skip


def _run_columns(run: CaseRun) -> dict[str, Any]:
    targets = run.layout.get("targets")
    return {
        "key": run.key, "repeat": run.repeat, "status": run.status, "message": run.message,
        "started_unix_seconds": run.started_unix_seconds, "elapsed_seconds": run.elapsed_seconds,
        "node_seconds": run.node_seconds, "written_bytes": run.written_bytes,
        "stripe_count": _whole(run.layout.get("stripe_count")),
        "stripe_size_bytes": _whole(run.layout.get("stripe_size_bytes")),
        "targets": " ".join(map(str, targets)) if isinstance(targets, list | tuple) else None,
        "hints": _json(run.hints), "circumstances": _json(run.circumstances),
    }  # fmt: skip


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _sample_columns(sample: RunFigure) -> dict[str, Any]:
    data = sample.operation in ("write", "read")
    return {
        "operation": sample.operation, "unit": "bytes/s" if data else "operations/s",
        "amount": float(sample.amount), "seconds": float(sample.seconds),
        "rate": float(sample.rate) if sample.seconds > 0 else None, "worn_out": sample.worn_out,
        **{f"{name}_seconds": sample.phases.get(name) for name in _PHASES},
        **{f"p{name}_seconds": sample.percentiles.get(name) for name in _PERCENTS},
        "phases": _json(sample.phases),
    }  # fmt: skip


def _json(data: Mapping[str, Any]) -> str | None:
    return json.dumps(finite(dict(data)), sort_keys=True, default=str) if data else None


# ---- files -----------------------------------------------------------------------------------


def write_campaign_csv(
    campaign: Campaign, path: Path, figures: Sequence[CaseFigures] | None = None
) -> None:
    """Write `campaign_rows` as CSV with a header; no cell can be mistaken for a formula.

    Raises:
        StorageError: The file cannot be written.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in campaign_rows(campaign, figures):
        writer.writerow(csv_cell(row[name]) for name in COLUMNS)
    write_file(path, out.getvalue())


def write_campaign_parquet(
    campaign: Campaign, path: Path, figures: Sequence[CaseFigures] | None = None
) -> None:
    """Write `campaign_rows` as Parquet, with the suite's text in the metadata.

    Raises:
        RuntimeMissingError: pyarrow is not installed.
        StorageError: The file cannot be written.
    """
    require("parquet", "Parquet output")
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    suite = {"suite": campaign.suite.name, "suite_text": campaign.suite.text, "version": 1}
    schema = pa.schema(
        [(name, kinds[kind]) for name, kind in COLUMNS.items()],
        metadata={"stripewise": json.dumps(suite)},
    )
    with whole_file(path, 0o644) as place, pq.ParquetWriter(place, schema) as writer:
        batch: list[dict[str, Any]] = []
        for row in campaign_rows(campaign, figures):
            batch.append({name: _cell(value) for name, value in row.items()})
            if len(batch) == _BATCH:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema))


def _cell(value: Any) -> Any:
    """Return a text without characters that UTF-8 cannot encode; other values unchanged."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def campaign_to_json(
    campaign: Campaign, figures: Sequence[CaseFigures], limits: Limits | None = None
) -> dict[str, Any]:
    """Return a summary: the campaign, the figures of every cell, its failed runs and limits."""
    return {
        "name": campaign.name, "suite": campaign.suite.name, "title": campaign.suite.title,
        "storage": campaign.storage, "machine": campaign.machine, "made": how_made(campaign),
        "started_unix_seconds": campaign.started_unix_seconds,
        "ended_because": campaign.ended_because,
        "cases": len(campaign.suite.cases), "runs": len(campaign.runs),
        "figures": [_figure(one) for one in figures],
        "failed": [
            {"key": run.key, "repeat": run.repeat, "status": run.status, "message": run.message}
            for run in campaign.runs if run.status != "ok"
        ],
        "limits": _limits(limits) if limits is not None else None,
    }  # fmt: skip


def _figure(one: CaseFigures) -> dict[str, Any]:
    return {
        "key": one.case.key, "case": one.case.as_json(), "operation": one.operation,
        "unit": "bytes/s" if one.of_data else "operations/s", "runs": len(one.rates),
        "rates": list(one.rates), "best": one.best, "median": one.median,
        "interval": [one.low, one.high], "outliers": list(one.outliers),
        "flags": [{"name": flag.name, "text": printable(flag.text)} for flag in one.flags],
    }  # fmt: skip


def _limits(limits: Limits) -> dict[str, Any]:
    return {
        "storage": limits.storage.name, "error": limits.error, "untold": dict(limits.undetermined),
        "limits": [
            {"figure": one.figure, "value": one.value, "interval": [one.low, one.high],
             "sentence": one.sentence, "evidence": list(one.evidence)}
            for one in limits.limits
        ],
        "laws": [
            {"name": one.name, "sentence": one.sentence, "holds": one.holds, "error": one.error}
            for one in limits.laws
        ],
    }  # fmt: skip
