#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks whether the profile of a default run names what makes the program faster.

    python benchmarks/agreement.py [SOURCES] [--only TEXT] [--pairs 6] [--json FILE]

Each program of `findings/strangers.toml` (sources of the distribution, below SOURCES, by default
build/foreign/sources) runs with each MPI here and on an emulated Lustre: some runs of the default
and of each setting that applies, taken in turn; then fresh pairs of the default and the best. A
gain is confirmed if the pairs' median is at least 1.2 and all of them gain. The profile of
a default run with at least 5 % and 0.1 s of I/O `named` it if a finding prints a line or a remedy
of that kind, says `search` if it only says that an experiment can tell, otherwise it is `missed`.
A line is `wrong` if a finding claims a gain for it and the runs with it are slower.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STRIPEWISE = str(Path(sys.executable).parent / "stripewise")
LUSTRE = "hopper@1/16"
LEAST_GAIN = 1.2
LEAST_SECONDS, LEAST_SHARE = 0.1, 0.05
SETTINGS: dict[str, dict[str, Any]] = {
    "io=romio321": {"mca.io": "romio321"},
    "io=romio321 cb_write=enable": {"mca.io": "romio321", "mpiio.romio_cb_write": "enable"},
    "io=romio321 cb_write=disable": {"mca.io": "romio321", "mpiio.romio_cb_write": "disable"},
    "cb_write=enable": {"mpiio.romio_cb_write": "enable", "mpiio.romio_cb_read": "enable"},
    "cb_write=disable": {"mpiio.romio_cb_write": "disable", "mpiio.romio_cb_read": "disable"},
    "ds_write=disable": {"mpiio.romio_ds_write": "disable"},
    "cb_nodes=2": {"mpiio.cb_nodes": 2, "mpiio.cb_config_list": "*:2"},
    "striping_factor=8": {"mpiio.striping_factor": 8},
    "striping_factor=64": {"mpiio.striping_factor": 64},
    "striping_unit=8M": {"mpiio.striping_unit": 8 << 20},
    "meta_block_size=1M": {"hdf5.meta_block_size": 1 << 20},
    "coll_metadata_write": {"hdf5.coll_metadata_write": True},
    "alignment=1M": {"hdf5.alignment": [65536, 1 << 20]},
    "transfer=collective": {"hdf5.transfer": "collective"},
}
"""Settings that a study would try, by their short names."""

NAMED = {
    "io=": r"OMPI_MCA_io|ROMIO",
    "cb_": r"romio_cb_|cb_nodes|cb_config_list|collective",
    "ds_": r"romio_ds_",
    "striping_": r"setstripe|layout set|striping_",
    "meta_block": r"meta_block_size|coll_metadata|metadata",
    "coll_metadata": r"meta_block_size|coll_metadata|metadata",
    "alignment": r"align",
    "transfer": r"H5FD_MPIO_COLLECTIVE|transfer=collective|collective",
}
"""What a line or a remedy has if it names a setting."""


@dataclass
class Row:
    """Result of one program on one platform."""

    program: str
    platform: str
    default_seconds: float = 0.0
    medians: dict[str, float] = field(default_factory=dict)
    best: str = ""
    pairs: list[float] = field(default_factory=list)
    confirmed: bool = False
    told: str = ""
    codes: list[str] = field(default_factory=list)
    trouble: str = ""


def main() -> None:
    """Run every program on every platform, and print a table."""
    given = _arguments()
    _set_environment()
    rows = []
    root = Path(tempfile.mkdtemp(prefix="agreement-", dir=given.scratch)).resolve()
    try:
        for entry in tomllib.loads((HERE / "findings/strangers.toml").read_text())["program"]:
            for platform in entry["platforms"]:
                if given.only in f"{entry['name']} {platform}":
                    rows.append(_try(entry, platform, root, given))
                    print(_line(rows[-1]), flush=True)
                    if given.json:
                        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(_summary(rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", nargs="?", type=Path, default=ROOT / "build/foreign/sources")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--runs", type=int, default=3, help="of the default and each setting")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--scratch", type=Path, default=Path.cwd(), help="on the file system")
    return parser.parse_args()


def _trees(sources: Path) -> dict[str, str]:
    """Return the source of each package by its name in capitals, fetched if it is missing."""
    if not sources.is_dir():
        sys.path.insert(0, str(ROOT / "tests"))
        from foreign.sources import source_of

        return {name.upper(): str(source_of(name)) for name in ("pnetcdf", "mpich", "hdf5")}
    found = (path for path in sources.iterdir() if path.is_dir() and "_" in path.name)
    return {path.name.split("_")[0].upper(): str(path) for path in found}


def _set_environment() -> None:
    os.environ |= {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "XDG_DATA_HOME": "/nonexistent",  # no study of an earlier time is told
    }


def _try(entry: Mapping[str, Any], platform: str, root: Path, given: argparse.Namespace) -> Row:
    row = Row(entry["name"], platform)
    try:
        _measure(entry, row, root, given)
    except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        row.trouble = str(error)[:200]
    return row


def _measure(entry: Mapping[str, Any], row: Row, root: Path, given: argparse.Namespace) -> None:
    mpi, _, machine = row.platform.partition("@")
    program = _build(entry, mpi, root, given.sources)
    command = [f"mpiexec.{mpi}", "-n", str(entry.get("ranks", 2)), str(program), *entry["run"]]
    on = ["--on", LUSTRE, "--ranks-per-node", "1"] if machine else []
    row.codes, row.told = [], ""
    about = _profile(command, on, root)
    row.codes = [one["code"] for one in about["findings"]]
    names = [name for name in SETTINGS if _applies(name, mpi, bool(machine), about)]
    times: dict[str, list[float]] = {name: [] for name in ("", *names)}
    for _ in range(given.runs):
        for name in random.sample(list(times), len(times)):
            times[name].append(_seconds(command, on, root, name))
    row.medians = {name: statistics.median(found) for name, found in times.items()}
    row.default_seconds = row.medians.pop("")
    row.best = min(row.medians, key=row.medians.__getitem__)
    if row.default_seconds / row.medians[row.best] >= LEAST_GAIN:
        row.pairs = [_pair(command, on, root, row.best) for _ in range(given.pairs)]
        gains = sorted(row.pairs)
        row.confirmed = statistics.median(gains) >= LEAST_GAIN and gains[0] > 1
    row.told = _told(row.best, about) if row.confirmed else _wrong(row, about)


def _build(entry: Mapping[str, Any], mpi: str, root: Path, sources: Path) -> Path:
    """Compile a program once; `$CC` and `$FC` are the wrappers, `$OUT` the program."""
    out = root / f"{entry['name'].replace(' ', '-')}-{mpi}"
    if out.exists():
        return out
    work = root / "build"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    hdf5 = f"-I/usr/include/hdf5/{mpi} -L/usr/lib/x86_64-linux-gnu/hdf5/{mpi}"
    variables = {"CC": f"mpicc.{mpi}", "FC": f"mpif90.{mpi}", "OUT": str(out), "HDF5_FLAGS": hdf5,
                 "HERE": str(HERE / "findings/programs"), **_trees(sources)}  # fmt: skip
    subprocess.run(["sh", "-ec", entry["build"]], cwd=work, check=True, capture_output=True,
                   text=True, env=os.environ | variables)  # fmt: skip
    return out


def _applies(name: str, mpi: str, emulated: bool, about: Mapping[str, Any]) -> bool:
    """Return whether a study of this program would try a setting."""
    layers = {row["layer"] for row in about["layers"]}
    if "io=" in name:
        return mpi == "openmpi"
    if name.startswith(("cb_", "ds_")):
        return mpi == "mpich"
    if name.startswith("striping"):
        return emulated
    return any("hdf5" in str(layer).lower() or layer == 4 for layer in layers)


def _in(root: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=root)


def _profile(command: list[str], on: list[str], root: Path) -> dict[str, Any]:
    with _in(root) as work:
        done = subprocess.run([STRIPEWISE, "profile", "--json", *on, "--", *command], cwd=work,
                              capture_output=True, text=True, timeout=200)  # fmt: skip
    at = done.stdout.find('{"')
    at = done.stdout.find("{\n") if at < 0 else at
    if at < 0:
        raise ValueError(f"no profile: {done.stderr[-150:]}")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(done.stdout[at:])[0]
    return found


def _seconds(command: list[str], on: list[str], root: Path, name: str) -> float:
    """Return the I/O time of one run; infinite if it fails."""
    with _in(root) as work:
        options = ["--sync", *on]
        if name:
            from stripewise.settings.formats import get
            from stripewise.settings.tunables import build_configuration

            text = get("toml").write(build_configuration(SETTINGS[name])).text
            (Path(work) / ".settings.toml").write_text(text)
            options += ["--config", ".settings.toml"]
        try:
            done = subprocess.run(
                [STRIPEWISE, "run", "--json", *options, "--", *command],
                cwd=work,
                capture_output=True,
                text=True,
                timeout=40,
            )
        except subprocess.TimeoutExpired:
            return float("inf")
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
        if done.returncode or not lines:
            return float("inf")
        return float(json.loads(lines[-1])["io_seconds"])


def _pair(command: list[str], on: list[str], root: Path, name: str) -> float:
    order = ["", name]
    random.shuffle(order)
    found = {one: _seconds(command, on, root, one) for one in order}
    return found[""] / found[name]


def _told(best: str, about: Mapping[str, Any]) -> str:
    """Return how the profile tells of a confirmed gain."""
    patterns = [text for key, text in NAMED.items() if key in best]
    for found in about["findings"]:
        words = " ".join([*found["lines"], found["remedy"]])
        if any(re.search(pattern, words) for pattern in patterns):
            return f"named by {found['code']}"
    figures = about["figures"]
    if figures["io_seconds"] < LEAST_SECONDS or figures["io_share"] < LEAST_SHARE:
        return "too little I/O"
    search = any(found["tune"] for found in about["findings"])
    return "search" if search or "stripewise tune" in about["headline"] else "missed"


def _wrong(row: Row, about: Mapping[str, Any]) -> str:
    """Return whether a line with a claim makes the program slower."""
    for found in about["findings"]:
        words = " ".join(found["lines"])
        for name, median in row.medians.items():
            patterns = [text for key, text in NAMED.items() if key in name]
            hit = words and any(re.search(pattern, words) for pattern in patterns)
            if hit and found["cost_seconds"] and row.best == name and median > row.default_seconds:
                return f"wrong: {found['code']}"
    return "nothing to gain"


def _line(row: Row) -> str:
    if row.trouble:
        return f"{row.program:<26} {row.platform:<14} not tried: {row.trouble}"
    gain = statistics.median(row.pairs) if row.pairs else 0.0
    pairs = f"{gain:.2f}x" if row.confirmed else f"({gain:.2f}x)" if row.pairs else "-"
    return (
        f"{row.program:<26} {row.platform:<14} {row.default_seconds:7.3f} s  {row.best:<30} "
        f"{pairs:>8}  {row.told:<34} {', '.join(row.codes)}"
    )


def _summary(rows: list[Row]) -> str:
    gained = [row for row in rows if row.confirmed and row.told != "too little I/O"]
    named = sum(row.told.startswith("named") for row in gained)
    search = sum(row.told == "search" for row in gained)
    wrong = sum(row.told.startswith("wrong") for row in rows)
    return (
        f"{len(rows)} cases, {len({row.program for row in rows})} programs; {len(gained)} with a "
        f"confirmed gain: {named} named, {search} left to a search, "
        f"{len(gained) - named - search} missed; {wrong} wrong lines"
    )


if __name__ == "__main__":
    main()
