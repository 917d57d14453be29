# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels tell: JSON, table, errors, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_builds import Kernel, compile_kernel

import stripewise

KernelOf = Callable[[str], Kernel]

pytestmark = pytest.mark.mpi

SMALL = ["--size", "5,6,7"]
TOP = {
    "schema": str,
    "schema_version": int,
    "pattern": str,
    "backend": str,
    "mode": str,
    "layout": str,
    "operation": str,
    "file": str,
    "n_ranks": int,
    "grid": list,
    "distribution": str | None,
    "shape": list,
    "variables": list,
    "n_variables": int,
    "type": str,
    "element_bytes": int,
    "halo": int,
    "n_steps": int,
    "seed": int,
    "read_shift": int,
    "compute_seconds": int | float,
    "compute_kind": str,
    "fsync": bool,
    "transfer_bytes": int | None,
    "direct": bool,
    "drop_caches": bool,
    "view": bool,
    "open_once": bool,
    "keep": bool,
    "hints": dict,
    "engine": dict,
    "namelist": dict | None,
    "cached_bytes_before_read": int | None,
    "application": dict | None,
    "steps": list,
    "totals": dict,
    "stonewall": dict | None,
    "verified": bool | None,
    "errors": list,
    "provenance": dict,
}


def refuse(text: str) -> Any:
    raise AssertionError(f"{text} is not JSON")


def parse(text: str | bytes) -> dict[str, Any]:
    """Strict: no NaN, no infinity, no key twice."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    found: dict[str, Any] = json.loads(text, parse_constant=refuse, object_pairs_hook=members)
    return found


def check_step(step: dict[str, Any]) -> None:
    assert step["operation"] in ("write", "read")
    assert step["bytes"] == 5 * 6 * 7 * 8
    assert set(step["phases"]) == {"open", "transfer", "sync", "close"}
    for phase in step["phases"].values():
        assert 0 <= phase["min_seconds"] <= phase["median_seconds"] <= phase["max_seconds"]
    largest = sum(phase["max_seconds"] for phase in step["phases"].values())
    smallest = max(phase["max_seconds"] for phase in step["phases"].values())
    assert smallest <= step["seconds"] * (1 + 1e-6) <= largest * (1 + 1e-5)
    rate = step["bytes"] / step["seconds"]
    assert step["bandwidth_bytes_per_second"] == pytest.approx(rate, rel=1e-6)
    assert step["mib_per_second"] == pytest.approx(rate / 2**20, rel=1e-6)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_json_holds_the_whole_result(family: str, kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of(family)
    words = [*SMALL, "--backend", "mpiio", "--mode", "collective", "--op", "write-read"]
    words += ["--steps", "2", "--verify", "--fsync", "--hint", "cb_nodes=4"]
    words += ["--hint", "romio_cb_write=enable", "--hint", "cb_nodes=1", "--json", "-"]
    done = kernel.run(2, words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = parse(done.stdout)
    assert list(result) == list(TOP)
    assert all(isinstance(result[key], kind) for key, kind in TOP.items())
    assert result["hints"]["requested"] == {"cb_nodes": "1", "romio_cb_write": "enable"}
    assert [(s["operation"], s["step"]) for s in result["steps"]] == [
        ("write", 0),
        ("write", 1),
        ("read", 0),
        ("read", 1),
    ]
    for step in result["steps"]:
        check_step(step)
    totals = result["totals"]["write"]
    assert 0 < totals["seconds_without_sync"] < totals["seconds"] <= totals["elapsed_seconds"]
    assert result["totals"]["write"]["bytes"] == 2 * 5 * 6 * 7 * 8
    assert result["verified"] is True
    assert result["shape"] == [5, 6, 7]
    assert result["provenance"]["version"] == stripewise.__version__
    assert result["provenance"]["arguments"] == words
    if family == "mpich":
        assert result["hints"]["reported"]["cb_nodes"] == "1"


def test_json_is_valid_for_any_name(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    name = b'na\xffme "\\\t\xed\xa0\x80\xc3\xa9\xf0\x9f\x8c\x8a.dat'
    words = [*SMALL, "--backend", "posix", "--json", "out.json", "--file", name, "--keep"]
    done = kernel.run(1, words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "transfer" in done.stdout  # the table is there too
    result = parse((tmp_path / "out.json").read_bytes())
    assert os.fsencode(result["file"]) == name
    assert (tmp_path / os.fsdecode(name)).stat().st_size == 5 * 6 * 7 * 8


def test_json_of_a_failed_run_has_the_errors(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = [*SMALL, "--backend", "posix", "--file", "/dev/full", "--json", "-", "--verify"]
    done = kernel.run(2, words, cwd=tmp_path)
    assert done.returncode == 1
    result = parse(done.stdout)
    assert result["verified"] is None
    assert result["totals"] == {"write": None, "read": None}
    assert [error[:24] for error in result["errors"]] == [
        "rank 0: pwrite(/dev/full",
        "rank 1: pwrite(/dev/full",
    ]


def test_every_rank_reads_the_namelist(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = ["--pattern", "wrf", "--local", "2,3,4", "--backend", "posix", "--file", "out"]
    done = kernel.run(2, [*words, "--keep", "--json", "-"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = parse(done.stdout)
    namelist = result["namelist"]
    assert namelist["bytes"] == (tmp_path / "out.namelist").stat().st_size == 12288
    assert 0 < namelist["min_seconds"] <= namelist["median_seconds"] <= namelist["max_seconds"]
    assert result["type"] == "float"
    assert result["variables"][0] == {"name": "U", "shape": [2, 6, 4]}
    assert result["variables"][-1] == {"name": "LANDMASK", "shape": [6, 4]}
    (tmp_path / "out.namelist").unlink()
    done = kernel.run(2, [*words, "--keep", "--namelist", "0", "--json", "-"], cwd=tmp_path)
    assert parse(done.stdout)["namelist"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    done = kernel.run(2, [*words, "--op", "write-read"], cwd=tmp_path)
    assert "12288 bytes, read by every rank" in done.stdout
    assert list(tmp_path.iterdir()) == []
    done = kernel.run(2, [*words, "--keep", "--namelist-file", "small"], cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small"], done.stderr


def test_null_moves_nothing(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = [*SMALL, "--backend", "null", "--op", "write-read", "--steps", "20", "--json", "-"]
    done = kernel.run(2, words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    steps = parse(done.stdout)["steps"]
    assert [step["operation"] for step in steps] == ["write"] * 20 + ["read"] * 20
    assert all(step["seconds"] > 0 for step in steps)
    assert list(tmp_path.iterdir()) == []


IMPOSSIBLE = [
    (["--foo"], "option --foo is not known"),
    (["--steps"], "option --steps needs a value"),
    (["--steps", "0"], "--steps '0': give a whole number"),
    (["--steps", "2x"], "--steps '2x': give a whole number"),
    (["--steps", "99999999999999999999"], "give a whole number"),
    (["extra"], "argument 'extra' is not an option"),
    (["--pattern", "s3d"], "--pattern 's3d' is not known; give one of array3d flash flash-io"),
    (["--backend", "ncmpi"], "give one of posix mpiio hdf5 netcdf4"),
    (["--mode", "both"], "give independent, collective or serial"),
    (["--layout", "node"], "give shared, per-process or per-node"),
    (["--op", "append"], "give write, read or write-read"),
    (["--size", "4,4"], "--size has 2 number(s); pattern array3d needs 3"),
    (["--size", "4,0,4"], "--size '4,0,4'"),
    (["--size", "4,,4"], "--size '4,,4'"),
    (["--size", "1,1,1,1,1"], "--size"),
    (["--size", "4,4,4", "--local", "2,2,2"], "exclude each other"),
    (["--size", "2000000000,2000000000,2000000000"], "too large"),
    (["--pattern", "flash", "--size", "4,4,4"], "pattern flash needs 4"),
    (["--grid", "2,2,1"], "--grid 2,2,1 is not for 1 rank(s)"),
    (["--grid", "2,1"], "--grid has 2 number(s)"),
    (["--pattern", "btio", "--grid", "1,1,2"], "pattern btio makes its own"),
    (["--halo", "-1"], "--halo '-1'"),
    (["--compute", "soon"], "--compute 'soon'"),
    (["--compute", "nan"], "--compute 'nan'"),
    (["--hint", "cb_nodes"], "--hint 'cb_nodes': give key=value"),
    (["--backend", "posix", "--mode", "collective"], "--backend posix: it has no collective"),
    (["--backend", "posix", "--hint", "a=b"], "it takes no hints"),
    (["--backend", "mpiio", "--layout", "per-process"], "it writes one shared file"),
    (["--backend", "hdf5", "--no-view"], "it has no file views"),
    (["--no-view", "--mode", "collective"], "--no-view needs --mode independent"),
    (["--backend", "null", "--verify"], "it stores nothing"),
    (["--read-shift", "1"], "nothing is read"),
    (["--op", "read", "--fsync"], "nothing is written"),
    (["--file", ""], "--file: give a name"),
    (["--transfer", "0"], "--transfer '0': give bytes from 1"),
    (["--transfer", "4MB"], "--transfer '4MB': give bytes from 1"),
    (["--transfer", "4GiB"], "--transfer '4GiB': give bytes from 1 to 2147483648"),
    (["--transfer", "1001"], "--transfer 1001: it is not a multiple of the 8 bytes of int64"),
    (["--transfer", "8", "--backend", "null"], "it moves a variable in one call"),
    (["--transfer", "8", "--backend", "posix", "--mode", "serial"], "has windows of its own"),
    (["--stonewall", "0"], "--stonewall '0': give seconds from"),
    (["--stonewall", "1"], "--stonewall 1: there is one transfer, and nothing to stop"),
    (["--drop-caches"], "--drop-caches: nothing is read"),
    (["--drop-caches", "--op", "read", "--backend", "null"], "it makes no plain file"),
    (["--direct"], "--backend mpiio: it has no direct I/O of its own"),
    (["--direct", "--backend", "posix", "--size", "3,3,3"], "O_DIRECT needs multiples of 4096"),
]


@pytest.mark.extended(keep=6)
@pytest.mark.parametrize(("words", "said"), IMPOSSIBLE, ids=lambda v: " ".join(v)[:60])
def test_impossible_requests_end_in_one_line(
    words: list[str], said: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = kernel_of("mpich").alone(words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("stripewise-kernel: ")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words", [["--foo"], ["--grid", "2,2,1"], ["--backend", "null", "--verify"]]
)
@pytest.mark.parametrize(("family", "n_ranks"), [("mpich", 2), ("openmpi", 3)])
def test_impossible_requests_end_all_ranks_with_one_line(
    family: str, n_ranks: int, words: list[str], kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = kernel_of(family).run(n_ranks, words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("stripewise-kernel: ") == 1


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--version"]])
def test_help_is_printed_once(words: list[str], kernel_of: KernelOf, tmp_path: Path) -> None:
    done = kernel_of("mpich").run(2, words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("stripewise-kernel 0.1.0" if "--version" in words else "Usage:") == 1


FAILING = {
    "posix": ["--backend", "posix"],
    "posix-serial": ["--backend", "posix", "--mode", "serial"],
    "mpiio-independent": ["--backend", "mpiio"],
    "mpiio-collective": ["--backend", "mpiio", "--mode", "collective"],
    "hdf5": ["--backend", "hdf5"],
    "hdf5-collective": ["--backend", "hdf5", "--mode", "collective"],
}


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("stripewise-kernel: ")]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("case", ["no directory", "absent", "short"])
@pytest.mark.parametrize(
    ("family", "backend"),
    [
        ("mpich", "posix"),
        ("mpich", "posix-serial"),
        ("mpich", "mpiio-independent"),
        ("mpich", "hdf5"),
        ("openmpi", "mpiio-collective"),
        ("openmpi", "hdf5"),
    ],
)
def test_failed_calls_are_told_and_end_all_ranks(
    family: str, backend: str, case: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    kernel = kernel_of(family)
    if backend == "hdf5" and not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    (tmp_path / "short").write_bytes(b"x" * 100)
    path, more = {
        "no directory": ("none/out", []),
        "absent": ("absent", ["--op", "read"]),
        "short": ("short", ["--op", "read"]),
    }[case]
    done = kernel.run(2, [*SMALL, *FAILING[backend], "--file", path, *more], cwd=tmp_path)
    assert done.returncode == 1
    assert told(done)
    assert all(line.startswith("stripewise-kernel: rank ") for line in told(done))
    assert all(f"({path}): " in line for line in told(done))


@pytest.fixture(scope="module")
def small_disk() -> list[str]:
    """Words that start a command with a full-size view of the disk but 200 KiB in ./small."""
    words = ["unshare", "-rm", "sh", "-c"]
    script = 'mount -t tmpfs -o size=200k tmpfs small && exec "$@"'
    with tempfile.TemporaryDirectory() as place:
        Path(place, "small").mkdir()
        tried = shutil.which("unshare") and subprocess.run(
            [*words, script, "sh", "true"], cwd=place, capture_output=True
        )
    if not tried or tried.returncode != 0:
        pytest.skip("no mount name spaces for this user")
    return [*words, script, "sh"]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("family", "io", "backend"),
    [("mpich", "", backend) for backend in FAILING]
    + [("openmpi", "ompio", "mpiio-independent"), ("openmpi", "ompio", "hdf5")]
    + [("openmpi", "romio321", "mpiio-collective"), ("openmpi", "romio321", "hdf5-collective")],
)
def test_a_full_disk_is_told_and_ends_all_ranks(
    family: str,
    io: str,
    backend: str,
    small_disk: list[str],
    kernel_of: KernelOf,
    tmp_path: Path,
) -> None:
    kernel = kernel_of(family)
    if backend.startswith("hdf5") and not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    (tmp_path / "small").mkdir()
    words = [*FAILING[backend], "--size", "64,64,64", "--file", "small/out", "--fsync"]
    done = kernel.run(2, words, cwd=tmp_path, io=io, before=small_disk)
    assert done.returncode == 1
    assert told(done)
    assert all("(small/out): " in line for line in told(done))


def test_json_that_cannot_be_written_is_told_first(kernel_of: KernelOf, tmp_path: Path) -> None:
    done = kernel_of("mpich").run(2, [*SMALL, "--json", "none/out.json"], cwd=tmp_path)
    assert done.returncode == 1
    assert "--json: cannot write none/out.json: No such file or directory" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended
def test_without_hdf5_only_that_back_end_is_missing(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel_of("mpich")  # skips without MPICH
    kernel = compile_kernel("mpich", hdf5=False)
    assert kernel is not None
    done = kernel.run(2, ["--backend", "hdf5"], cwd=tmp_path)
    assert done.returncode == 2
    assert "built without parallel HDF5" in done.stderr
    assert "stripewise doctor build" in done.stderr
    done = kernel.run(2, [*SMALL, "--backend", "posix", "--verify"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
