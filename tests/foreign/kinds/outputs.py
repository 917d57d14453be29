# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of benchmark programs of others, read by `bench import`.

A case's input has the figures from which the output is rendered; its answer has the same figures:

* `tests`: for each test, in any order, the `rates` by operation (bytes or operations a
  second, mean over the repeats), and what else is known: `nodes`, `ranks`, `repeats`, `amount`;
  an operation that is not named must not be reported;
* `says`: a pattern that a note or message must match;
* `refused`: a pattern of the reason, where nothing can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from click.testing import CliRunner

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.rendered import io500, ior, ior_forms, mdtest, others
from stripewise.cli import main

_CLOSE = 0.002
"""Relative difference that the digits of an output may leave."""
_RENDERED: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "mdtest": ("mdtest.out", mdtest.mdtest_text),
    "ior": ("ior.out", ior.ior_text),
    "ior-json": ("ior.json", ior_forms.ior_json),
    "ior-csv": ("ior.csv", ior_forms.ior_csv),
    "io500-summary": ("result_summary.txt", io500.io500_summary),
    "io500-result": ("result.txt", io500.io500_result),
    "h5bench-csv": ("h5bench.csv", others.h5bench_csv),
    "h5bench": ("stdout", others.h5bench_text),
    "benchio": ("benchio.out", others.benchio_text),
    "elbencho": ("elbencho.out", others.elbencho_text),
    "fio": ("fio.out", others.fio_text),
}


class TheKind(Kind):
    """Outputs of benchmarks."""

    title = "outputs of benchmarks"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Render the output, import it, and compare the campaign with the figures."""
        path = _made(case.input, directory)
        target = directory / "imported.json"
        words = ["bench", "import", str(path), "-o", str(target), *case.input.get("words", ())]
        result = CliRunner().invoke(main, words, prog_name="stripewise")
        if result.exception and not isinstance(result.exception, SystemExit):
            return Outcome(Verdict.WRONG, f"traceback: {result.exception!r}")
        if pattern := case.answer.get("refused"):
            return _refusal(result.exit_code, result.output.replace(str(path), "FILE"), pattern)
        if result.exit_code:
            return Outcome(Verdict.WRONG, f"refused: {result.output.strip()[:300]}")
        found = list(_objections(case.answer, json.loads(target.read_text())))
        if (says := case.answer.get("says")) and not re.search(says, result.output):
            found.append(f"does not say {says!r}")
        return Outcome.of(found)


def _made(given: Mapping[str, Any], directory: Path) -> Path:
    """Write the output, as its variations say."""
    if given["program"] == "io500-directory":
        return io500.io500_directory(given, directory / "2021.11.05-10.00.00")
    parts = given.get("parts") or [given]
    texts = [_RENDERED[part["program"]][1](part) for part in parts]
    text = given.get("before", "") + "\n".join(texts)
    if given.get("cut"):
        text = text[: text.index(given["cut"])]
    if given.get("prefix"):
        text = "".join(given["prefix"] + line for line in text.splitlines(keepends=True))
    path: Path = directory / given.get("file", _RENDERED[parts[0]["program"]][0])
    path.write_bytes(text.replace("\n", given.get("newline", "\n")).encode())
    return path


def _refusal(exit_code: int, output: str, pattern: str) -> Outcome:
    if not exit_code:
        return Outcome(Verdict.WRONG, "read, though nothing in it can be")
    if re.search(pattern, output):
        return Outcome(Verdict.REFUSED)
    return Outcome(Verdict.WRONG, f"another reason: {output.strip()[:300]}")


def _objections(answer: Mapping[str, Any], campaign: Mapping[str, Any]) -> Iterator[str]:
    cases = campaign["cases"]
    if len(cases) != len(answer["tests"]):
        yield f"{len(cases)} tests, not {len(answer['tests'])}"
        return
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in campaign["runs"]:
        runs.setdefault(run["key"], []).append(run)
    for right in answer["tests"]:
        tried = [
            (list(_differences(case, runs[case["key"]], right)), place)
            for place, case in enumerate(cases)
        ]
        wrong, place = min(tried, key=lambda one: len(one[0]))
        cases = cases[:place] + cases[place + 1 :]
        yield from wrong


def _differences(
    case: Mapping[str, Any], runs: list[dict[str, Any]], right: Mapping[str, Any]
) -> Iterator[str]:
    said: dict[str, list[float]] = {}
    amounts: dict[str, float] = {}
    for run in runs:
        for one in run.get("samples", ()):
            said.setdefault(one["operation"], []).append(one["amount"] / one["seconds"])
            amounts[one["operation"]] = one["amount"]
    yield from (f"{name}: not read" for name in right["rates"] if name not in said)
    yield from (f"{name}: said, and not in the output" for name in said
                if name not in right["rates"])  # fmt: skip
    for name, rate in right["rates"].items():
        if name in said and abs(fmean(said[name]) / rate - 1) > _CLOSE:
            yield f"{name}: {fmean(said[name]):.6g}, not {rate:.6g}"
    for name, amount in right.get("amount", {}).items():
        if name in amounts and abs(amounts[name] / amount - 1) > _CLOSE:
            yield f"{name}: {amounts[name]:.6g} B or operations, not {amount:.6g}"
    if "nodes" in right and case.get("nodes", 1) != right["nodes"]:
        yield f"{case.get('nodes', 1)} nodes, not {right['nodes']}"
    ranks = case.get("nodes", 1) * case.get("ranks_per_node", 1)
    if "ranks" in right and ranks < right["ranks"]:
        yield f"{ranks} ranks, not {right['ranks']}"
    if "repeats" in right and max(map(len, said.values()), default=0) != right["repeats"]:
        yield f"{max(map(len, said.values()), default=0)} repeats, not {right['repeats']}"
