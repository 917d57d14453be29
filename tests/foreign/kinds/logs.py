# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs and traces of other tools, read by `profile`, and files of hints, read by `settings show`.

Darshan logs come from PyDarshan's package and, with STRIPEWISE_DARSHAN_LOGS, from a directory of
others; the answers to them are sums over PyDarshan's records.  A case's answer may have:

* `figures`: of the run: `n_ranks`, `run_seconds`, `read_bytes`, `write_bytes`, `n_files`;
* `layers`: for each layer `read_bytes`, `write_bytes`, `read_calls`, `write_calls`;
* `io_seconds`: as PyDarshan derives it, to a tenth;
* `facts`: codes of facts that an expert or Drishti names ("a|b": one of both is enough);
* `unknown`: figures of the run that are not in the log, and must not be shown as numbers;
* `code`: the exit code; `says`: a pattern of the text; `refused`: a pattern of the reason;
* `settings`: what a file of hints sets.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.rendered import traces
from stripewise.cli import main
from support.darshan_logs import copy_log, record_of, write_log

_CLOSE = 1e-3
_ROUGHLY = 0.1


class TheKind(Kind):
    """Logs and traces of other tools."""

    title = "logs of other tools"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Make or find the log, profile it, and compare what is said."""
        paths = _MADE[case.input["form"]](case.input, directory)
        if not paths:
            return Outcome(Verdict.SKIPPED, f"{case.input['log']} is not here")
        if "settings" in case.answer:
            return Outcome.of(list(_wrong_settings(case.answer, paths)))
        words = [str(path) for path in paths]
        spoken = _run("profile", *words)
        result = _run("profile", "--json", *words)
        said = spoken.output.replace(str(directory), "")
        for one in (spoken, result):
            if one.exception and not isinstance(one.exception, SystemExit):
                return Outcome(Verdict.WRONG, f"traceback: {one.exception!r}")
        if pattern := case.answer.get("refused"):
            return _refusal(spoken.exit_code, said, pattern)
        return Outcome.of(list(_objections(case.answer, spoken.exit_code, said, result)))


def _run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), prog_name="stripewise")


def _refusal(code: int, said: str, pattern: str) -> Outcome:
    if not code:
        return Outcome(Verdict.WRONG, "read, though it cannot be")
    if re.search(pattern, said):
        return Outcome(Verdict.REFUSED)
    return Outcome(Verdict.WRONG, f"another reason: {said.strip()[:300]}")


def _objections(answer: Mapping[str, Any], code: int, text: str, result: Result) -> Iterator[str]:
    if code != answer.get("code", 0):
        yield f"code {code}: {text.strip()[:200]}"
    if (says := answer.get("says")) and not re.search(says, text):
        yield f"does not say {says!r}"
    if (never := answer.get("never")) and (found := re.search(never, text)):
        yield f"says {found[0]!r}"
    document = json.loads(result.stdout) if result.stdout.startswith("{") else {}
    if "figures" not in document:
        if answer.get("code", 0) == 0:
            yield "no figures"
        return
    figures = document["figures"]
    yield from _different("the run", answer.get("figures", {}), figures)
    layers = {one["layer"]: one for one in document["layers"]}
    for name, right in answer.get("layers", {}).items():
        yield from _different(name, right, layers.get(name, {}))
    if right := answer.get("io_seconds"):
        seconds = figures["io_seconds"]
        if seconds is None or abs(seconds / right - 1) > _ROUGHLY:
            yield f"I/O time {seconds}, not {right:g}"
    codes = {fact["code"] for fact in document["facts"]}
    for names in answer.get("facts", ()):
        if not codes.intersection(names.split("|")):
            yield f"does not name {names}"
    for name in answer.get("unknown", ()):
        if figures[name] is not None and name not in figures["missing"]:
            yield f"{name} is said to be {figures[name]}, and is not known"


def _different(where: str, right: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    for name, value in right.items():
        found = said.get(name)
        if not isinstance(found, int | float) or abs(found - value) > _CLOSE * abs(value):
            yield f"{where}: {name} {found}, not {value}"


def _wrong_settings(answer: Mapping[str, Any], paths: list[Path]) -> Iterator[str]:
    shown = _run("settings", "show", *map(str, paths))
    if shown.exception and not isinstance(shown.exception, SystemExit):
        yield f"traceback: {shown.exception!r}"
    for name, value in answer["settings"].items():
        if not re.search(rf"mpiio\.{name} +{re.escape(str(value))}\b", shown.output):
            yield f"does not show {name} {value}"
    for name in answer.get("absent", ()):
        if re.search(rf"mpiio\.{name}\b", shown.stdout):
            yield f"shows {name}"
    text = shown.output.replace(str(paths[0].parent), "")
    if (says := answer.get("says")) and not re.search(says, text):
        yield f"does not say {says!r}"


# How each form is made.  None of them uses the product.


def _found(log: str) -> Path | None:
    """Return a log of PyDarshan's package, or of the directory of other logs."""
    where, _, name = log.partition(":")
    if where == "pydarshan":
        import darshan

        path = Path(darshan.__file__).parent / name
    else:
        path = Path(os.environ.get("STRIPEWISE_DARSHAN_LOGS", "/nonexistent")) / name
    return path if path.is_file() else None


def _darshan(given: Mapping[str, Any], directory: Path) -> list[Path]:
    path = _found(given["log"])
    if path is None:
        return []
    target = directory / path.name
    shutil.copyfile(path, target)
    data = target.read_bytes()
    if keep := given.get("keep_bytes"):
        target.write_bytes(data[:keep])
    for place in given.get("flip", ()):
        target.write_bytes(data[:place] + bytes([data[place] ^ 0x5A]) + data[place + 1 :])
    return [target]


def _made_log(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write logs with Darshan's own library, with the counters that are given."""
    paths = []
    for place, log in enumerate(given["logs"]):
        records = np.zeros(len(log["records"]), record_of(log["module"]))
        for row, counters in zip(records, log["records"], strict=True):
            for name, value in counters.items():
                row[name] = value
        names = [f"/scratch/{one['id']}.dat" for one in log["records"]]
        job = log.get("job_id", 4711)
        path = directory / f"me_prog_id{job}-{100 + place}_11-5-36000-{place}_1.darshan"
        write_log(
            path, records, names, command=log.get("command", "./prog in.nml"),
            n_ranks=log.get("n_ranks", 1), start=1_700_000_000 + log.get("start", 0),
            run_seconds=log["run_seconds"], job_id=job, module=log["module"],
        )  # fmt: skip
        paths.append(path)
    return [directory] if given.get("as_directory") else paths


def _copies(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write what one log tells as the logs of several jobs."""
    path = _found(given["log"])
    if path is None:
        return []
    for job in given["jobs"]:
        copy_log(path, directory / f"me_prog_id{job}_1.darshan", job_id=job)
    return [directory]


_MADE: dict[str, Callable[[Mapping[str, Any], Path], list[Path]]] = {
    "darshan": _darshan,
    "darshan-made": _made_log,
    "darshan-copies": _copies,
    "darshan-2": traces.darshan_2,
    "mpiio-stats": traces.mpiio_stats,
    "recorder": traces.recorder,
    "hints": traces.hints,
    "text": traces.hints,
}
