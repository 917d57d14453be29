# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulated servers print what a Lustre of each release prints, and no line that it would not."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions, make_clocks, write_tree
from support.served import Served

RELEASES = ("2.12", "2.14", "2.15", "2.16")
HAS_TIMES = ("2.14", "2.15", "2.16")
HAS_BEGIN = ("2.15", "2.16")
NUMBER = r"[0-9]+"
SECONDS = r"[0-9]+\.[0-9]{9}"


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tree(release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a storage on which two jobs and an unnamed program ran."""
    directory = tmp_path_factory.mktemp("served")
    storage = EmulatedStorage.find(EmulationOptions("archer2-hdd@1/64"))
    make_clocks(storage, directory, directory / "clocks")
    served = Served(directory / "clocks")
    served.transfers(b"", 1, writes=False, requests=[(100, 1_500_000)])
    served.transfers(b"17", 1, writes=True, requests=[(4 << 20, 9_000_000)] * 2 + [(4096, 2_500)])
    served.transfers(b"a b\xff:1", 1, writes=False, requests=[(65_537, 40_000_000)])
    served.at_target(b"17", 1, {"punch": 2, "prealloc": 1})
    served.metadata(b"17", {"open": [512_000, 1_536_999], "close": [0, 0]})
    write_tree(directory / "clocks", directory / "tree", release)
    return directory / "tree"


def text(tree: Path, name: str) -> str:
    return tree.joinpath(*name.split(".")).read_text()


def whole(pattern: str, found: str) -> list[str]:
    """The lines, all of which must be as the pattern has them."""
    lines = found.splitlines()
    assert found.endswith("\n")
    bad = [line for line in lines if not re.fullmatch(pattern, line)]
    assert not bad, bad[:3]
    return lines


# ---- stats -------------------------------------------------------------------------------------


def rows(found: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in found.splitlines()}


def stats_pattern(release: str) -> str:
    head = "snapshot_time|start_time|elapsed_time" if release in HAS_BEGIN else "snapshot_time"
    values = {
        "2.12": rf"(\[bytes\] {NUMBER} {NUMBER} {NUMBER}|\[reqs\])",
    }.get(release, rf"\[(bytes|usecs)\] {NUMBER} {NUMBER} {NUMBER} {NUMBER}")
    return rf"({head}) {{9,16}} {SECONDS} secs\.nsecs|\w+ +{NUMBER} samples {values}"


def test_stats_of_a_target(tree: Path, release: str) -> None:
    found = text(tree, "obdfilter.archer2h-OST0001.stats")
    lines = whole(stats_pattern(release), found)
    assert all(line[25] == " " and line[26] != " " for line in lines)
    seen = rows(found)
    total = 2 * (4 << 20) + 4096
    words = ["3", "samples", "[bytes]", "4096", str(4 << 20), str(total)]
    if release != "2.12":
        words.append(str(2 * (4 << 20) ** 2 + 4096**2))
        assert seen["write"] == ["3", "samples", "[usecs]", "2", "9000", "18002", "162000004"]
        assert seen["prealloc"][:2] == ["1", "samples"]
    assert seen["write_bytes"] == words
    assert seen["read_bytes"][:6] == ["2", "samples", "[bytes]", "100", "65537", "65637"]
    assert ("read" in seen) == (release in HAS_TIMES)
    assert seen["punch"][:2] == ["2", "samples"]
    assert "sync" not in seen, "what never happened has no row"
    assert len(rows(text(tree, "obdfilter.archer2h-OST0000.stats"))) == (
        3 if release in HAS_BEGIN else 1
    )


def test_stats_tell_when_they_began(tree: Path, release: str) -> None:
    seen = rows(text(tree, "obdfilter.archer2h-OST0001.stats"))
    assert float(seen["snapshot_time"][0]) == pytest.approx(time.time(), abs=600)
    if release in HAS_BEGIN:
        begin, age, now = (
            float(seen[name][0]) for name in ("start_time", "elapsed_time", "snapshot_time")
        )
        assert begin + age == pytest.approx(now, abs=1e-3)


def test_stats_of_the_metadata_target(tree: Path, release: str) -> None:
    found = text(tree, "mdt.archer2h-MDT0000.md_stats")
    whole(stats_pattern(release), found)
    seen = rows(found)
    times = [] if release == "2.12" else ["512", "1536", "2048", str(512**2 + 1536**2)]
    unit = "[reqs]" if release == "2.12" else "[usecs]"
    assert seen["open"] == ["2", "samples", unit, *times]
    assert "mknod" not in seen


# ---- job_stats ---------------------------------------------------------------------------------


def job_pattern(release: str) -> str:
    indent = {"2.12": "  ", "2.14": "  ", "2.15": "", "2.16": "  "}[release]
    moments = rf"{indent}snapshot_time: {{3}}{NUMBER}"
    if release in HAS_BEGIN:
        names = "snapshot_time: {3}|start_time: {6}|elapsed_time: {4}"
        moments = rf"{indent}({names}){SECONDS} secs\.nsecs"
    size = rf"min: +{NUMBER}, max: +{NUMBER}, sum: +{NUMBER}"
    bars = "[0-9]+[KM]?: [0-9]+"
    hist = rf", hist: \{{ ({bars}(, {bars})*)? \}}" if release == "2.16" else ""
    units = rf"(unit:  reqs|unit: bytes, {size})"
    if release != "2.12":
        size += rf", sumsq: +{NUMBER}"
        units = rf"(unit: usecs, {size}|unit: bytes, {size}{hist})"
    row = rf"  \w+: +\{{ samples: +{NUMBER}, {units} \}}"
    return rf"job_stats:|- job_id: {{10}}\S.*|{moments}|{row}"


def test_job_stats(tree: Path, release: str) -> None:
    found = text(tree, "obdfilter.archer2h-OST0001.job_stats")
    lines = whole(job_pattern(release), found)
    assert lines[0] == "job_stats:"
    jobs = [line.removeprefix("- job_id:").strip() for line in lines if line.startswith("- job")]
    other = {"2.16": r'"a\x20b\xFF:1"'}.get(release, "a b?:1")
    assert jobs == ["17", other]
    assert all(line.index("{") == 19 for line in lines if line.startswith("  ") and "{" in line)
    first = found.partition("- job_id:          17")[2].partition("- job_id")[0]
    (row,) = re.findall(r"  write_bytes: +(.*)", first)
    assert row.startswith(
        "{ samples:           3, unit: bytes, min:     4096, max:  4194304, sum:"
    )
    assert ("hist: { 4K: 1, 4M: 2 } }" in row) == (release == "2.16")
    assert ("sumsq:" in row) == (release != "2.12")
    names = re.findall(r"(?m)^  (\w+): +\{", first)
    expected = ["read_bytes", "write_bytes", "read", "write", "punch", "sync", "prealloc"]
    old = ["read_bytes", "write_bytes", "punch", "sync"]
    assert names == (old if release == "2.12" else expected)
    assert text(tree, "obdfilter.archer2h-OST0000.job_stats") == "job_stats:\n"


def test_job_stats_of_the_metadata_target(tree: Path, release: str) -> None:
    found = text(tree, "mdt.archer2h-MDT0000.job_stats")
    whole(job_pattern(release), found)
    assert found.count("job_id") == 1
    (row,) = re.findall(r"  open: +(.*)", found)
    assert row.startswith("{ samples:           2, unit: ")
    assert ("sum:             2048" in row) == (release != "2.12")
    assert re.findall(r"  link: +\{ samples: +([0-9]+)", found) == ["0"]


# ---- brw_stats and the rest --------------------------------------------------------------------

BRW = (
    r"|(snapshot_time|start_time|elapsed_time): +[0-9]+\.[0-9]{9} (secs\.nsecs|\(secs\.nsecs\))"
    r"| {27}read      \|     write"
    r"|.{22} (rpcs |ios  ) % cum % \|  (rpcs|ios ) {7} % cum %"
    r"|[0-9]+[KM]?:\t\t *[0-9]+ +[0-9]+ +[0-9]+   \| +[0-9]+ +[0-9]+ +[0-9]+"
)


def section(found: str, title: str) -> list[str]:
    lines = found.partition(title)[2].splitlines()[1:]
    return lines[: lines.index("")] if "" in lines else lines


def test_brw_stats(tree: Path) -> None:
    found = text(tree, "osd-ldiskfs.archer2h-OST0001.brw_stats")
    whole(f"({BRW})", found)
    assert [line.split() for line in section(found, "disk I/O size")] == [
        ["128:", "1", "50", "50", "|", "0", "0", "0"],
        *[[f"{key}:", "0", "0", "50", "|", "0", "0", "0"] for key in ("256", "512", "1K", "2K")],
        ["4K:", "0", "0", "50", "|", "1", "33", "33"],
        *[[f"{key}K:", "0", "0", "50", "|", "0", "0", "33"] for key in (8, 16, 32, 64)],
        ["128K:", "1", "50", "100", "|", "0", "0", "33"],
        *[
            [f"{key}:", "0", "0", "100", "|", "0", "0", "33"]
            for key in ("256K", "512K", "1M", "2M")
        ],
        ["4M:", "0", "0", "100", "|", "2", "66", "100"],
    ]
    pages = [line.split() for line in section(found, "pages per bulk r/w")]
    assert [(row[0], row[1], row[5]) for row in pages if (row[1], row[5]) != ("0", "0")] == [
        ("1:", "1", "1"), ("32:", "1", "0"), ("1K:", "0", "2")]  # fmt: skip
    times = [line.split() for line in section(found, "I/O time")]
    assert [(row[0], row[1], row[5]) for row in times if (row[1], row[5]) != ("0", "0")] == [
        ("1:", "1", "1"), ("16:", "0", "2"), ("64:", "1", "0")]  # fmt: skip
    assert section(found, "disk I/Os in flight") == []


def test_the_rest_of_the_tree(tree: Path, release: str) -> None:
    assert text(tree, "version").startswith(f"{release}.")
    assert text(tree, "health_check") == "healthy\n"
    assert (text(tree, "jobid_var"), text(tree, "jobid_name")) == ("SLURM_JOB_ID\n", "%e.%u\n")
    osts = sorted(path.name for path in (tree / "obdfilter").iterdir())
    assert osts == [f"archer2h-OST{number:04x}" for number in range(12)]
    for place in ("obdfilter", "osd-ldiskfs"):
        total, free, available = (
            int(text(tree, f"{place}.archer2h-OST0000.kbytes{kind}"))
            for kind in ("total", "free", "avail")
        )
        assert total >= free >= available >= 0
    assert int(text(tree, "osd-ldiskfs.archer2h-MDT0000.filestotal")) >= 0
    assert not list(tree.rglob(".*")), "nothing half-written is left"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    storage = EmulatedStorage.find(EmulationOptions("archer2-hdd@1/64"))
    make_clocks(storage, tmp_path, tmp_path / "clocks")
    with pytest.raises(UsageError, match=r"Lustre 1\.8: its texts are not known; there are 2\.12"):
        write_tree(tmp_path / "clocks", tmp_path / "tree", "1.8")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write"):
        write_tree(tmp_path / "clocks", tmp_path / "file")
