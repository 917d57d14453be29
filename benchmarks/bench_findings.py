# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the gains that findings claim with the gains of their remedies.

    python benchmarks/bench_findings.py                          # all programs of the catalogue
    python benchmarks/bench_findings.py --only sync --pairs 6    # those with a matching word

Each program of `findings/catalogue.toml` is traced and diagnosed; then it and its remedy run in
pairs, in random order, without any library, and the elapsed times are compared.  A claim is right
if the remedy gains at least half and at most twice as much.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from pathlib import Path

from findings_output import markdown

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.readers import read_evidence
from stripewise.run.runtime import collective_stacks, find_runtime, run_in_place
from stripewise.storage.machines import keep_storage, probe_storage

RANKS = "RANKS"
HERE = Path(__file__).resolve().parent / "findings"


def main() -> None:
    """Measure the storage, compare each program with its remedy, and print a table."""
    given = _arguments()
    os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"  # more ranks than processors
    begun = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="findings-", dir=given.scratch)).resolve()
    try:
        words = _build(root)
        with _in(root):
            stacks = collective_stacks()
            storage = probe_storage(root, stacks)
        keep_storage(storage, root)
        entries = tomllib.loads((HERE / "catalogue.toml").read_text())["program"]
        entries = [one for one in entries if given.only in one["rule"] + " " + one["name"]]
        seen: set[str] = set()
        rows = []
        for entry in entries:
            repeats = given.repeats if entry["rule"] not in seen else 0
            seen.add(entry["rule"])
            rows.append(_compare(entry, words, root, storage.costs, given, repeats))
            print(_line(rows[-1]), flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    document = {
        "rows": rows,
        "pairs": given.pairs,
        "repeats": given.repeats,
        "processors": storage.costs.processors,
        "file_system": storage.mount.kind,
        "minutes": (time.monotonic() - begun) / 60,
        **_scores(rows),
    }
    print(markdown(document))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=20, help="of one program of each rule")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--scratch", type=Path, default=Path.cwd(), help="on the file system")
    return parser.parse_args()


def _build(root: Path) -> dict[str, list[str]]:
    """Compile the programs; return the commands for the words in braces of the catalogue."""
    programs, kernels = HERE / "programs", find_runtime().kernels
    compiled = [("cc", "serial", "serial.c")]
    compiled += [(f"mpicc.{mpi}", mpi, "parallel.c") for mpi in ("mpich", "openmpi")]
    words = {"python": [sys.executable, str(programs / "programs.py")]}
    for compiler, name, source in compiled:
        target = root / name
        if shutil.which(compiler) is None:
            continue
        subprocess.run([compiler, "-O2", "-o", target, programs / source], check=True)
        launch = [] if name == "serial" else [f"mpiexec.{name}", "-n", RANKS]
        words[name] = [*launch, str(target)]
        if name in kernels:
            words[f"kernel-{name}"] = [*launch, str(kernels[name])]
    return words


def _command(entry, name: str, words: dict[str, list[str]]) -> list[str]:
    first, *rest = shlex.split(entry[name])
    ranks = str(entry.get("ranks", 2))
    return [ranks if word == RANKS else word for word in words[first.strip("{}")]] + rest


def _compare(entry, words, root, storage, given, repeats) -> dict:
    """Diagnose a program, apply the remedy, and compare the times."""
    bad = _command(entry, "bad", words)
    findings = _diagnosed(bad, root, storage)
    told = {one.code: one for one in findings if one.cost_seconds is not None}
    expected = told.get(entry["rule"])
    row = {"rule": entry["rule"], "name": entry["name"], "told": sorted(told), "right": None}
    row["same"] = [
        entry["rule"] in {one.code for one in _diagnosed(bad, root, storage)}
        if entry["rule"]
        else sorted({one.code for one in _diagnosed(bad, root, storage)}) == sorted(told)
        for _ in range(repeats)
    ]
    if expected is None:
        return row
    row["claim"] = [expected.least_seconds, expected.cost_seconds, expected.most_seconds]
    has_good = "good" in entry
    good = _command(entry, "good", words) if has_good else _with_lines(bad, expected.lines)
    pairs = [_pair(bad, good, root) for _ in range(given.pairs)]
    gains = sorted(before - after for before, after in pairs)
    row["before"] = statistics.median(before for before, _ in pairs)
    row["gain"] = [gains[0], statistics.median(gains), gains[-1]]
    row["right"] = 0.5 * expected.cost_seconds <= row["gain"][1] <= 2 * expected.cost_seconds
    return row


def _with_lines(command: list[str], lines: tuple[str, ...]) -> list[str]:
    """Return a command that runs the printed lines and then the program."""
    return ["sh", "-c", "\n".join([*lines, 'exec "$@"']), "sh", *command]


def _diagnosed(command, root, storage):
    with _in(root) as work:
        traces = work / "trace"
        traces.mkdir()
        run_in_place(command, find_runtime(), capture="fold", containers=traces)
        evidence = read_evidence(traces)
        return diagnose(evidence, find_patterns(evidence.accesses), storage).findings


def _pair(bad, good, root) -> tuple[float, float]:
    order = [("bad", bad), ("good", good)]
    random.shuffle(order)
    found = {name: _timed(command, root) for name, command in order}
    return found["bad"], found["good"]


def _timed(command, root) -> float:
    with _in(root):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start


@contextlib.contextmanager
def _in(root: Path):
    """Provide a new directory to run in, without standard output, which is removed afterwards."""
    work = Path(tempfile.mkdtemp(dir=root))
    sys.stdout.flush()
    before, kept = Path.cwd(), os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.chdir(work)
    try:
        yield work
    finally:
        os.chdir(before)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)
        shutil.rmtree(work)
        os.sync()


def _scores(rows) -> dict:
    """Return the shares of right claims, of detected planted faults, and of stable repeats."""
    claims = sum(len(row["told"]) for row in rows)
    right = sum(row["right"] is True for row in rows)
    planted = [row for row in rows if row["rule"]]
    told = sum(row["rule"] in row["told"] for row in planted)
    by_rule = defaultdict(lambda: [0, 0])
    for row in planted:
        by_rule[row["rule"]][0] += row["right"] is True
        by_rule[row["rule"]][1] += 1
    repeated = [row["same"] for row in rows if row["same"]]
    return {
        "claims": claims,
        "right": right,
        "planted": len(planted),
        "told": told,
        "stable": sum(20 * sum(same) >= 19 * len(same) for same in repeated),
        "repeated": len(repeated),
        "by_rule": dict(by_rule),
    }


def _line(row) -> str:
    text = f"{row['rule'] or '-':<20} {row['name']:<52} told {', '.join(row['told']) or '-'}"
    if "claim" in row:
        claim, gain = (" ".join(f"{value:.2f}" for value in row[key]) for key in ("claim", "gain"))
        text += f"; claim {claim}; gain {gain} of {row['before']:.2f}; right {row['right']}"
    return text + (f"; same {sum(row['same'])}/{len(row['same'])}" if row["same"] else "")


if __name__ == "__main__":
    main()
