# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every runner against the conformance suite, with what its program printed in a real run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from stripewise.bench import Case
from stripewise.bench.runners import find_runner, runner_names
from stripewise.bench.runners._metadata import shift_of
from stripewise.core.errors import UsageError
from support.runner_suite import RunnerSuite

DATA = Path(__file__).parents[1] / "data"
IOR_BLOCKS = Case(
    "x", runner="ior", operation="write-read", ranks_per_node=2, local="131072",
    transfer_bytes=262144,
)  # fmt: skip


def text(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def variant(case: Case, **changes: object) -> Case:
    return Case(**{**case.__dict__, **changes})


class TestKernel(RunnerSuite):
    runner_name = "kernel"
    case = Case("x", pattern="array3d", local="8,8,8", ranks_per_node=2)
    record: Mapping[str, str] = {
        "kernel.json": json.dumps(
            {
                "schema": "stripewise-kernel",
                "pattern": "array3d",
                "mode": "independent",
                "layout": "shared",
                "n_ranks": 2,
                "shape": [16, 8, 8],
                "steps": [
                    {
                        "operation": "write",
                        "bytes": 8192,
                        "seconds": 0.25,
                        "phases": {"open": {"max_seconds": 0.1}, "sync": {"max_seconds": 0.05}},
                    }
                ],
                "totals": {"write": {"bytes": 8192, "seconds": 0.24, "elapsed_seconds": 0.25}},
                "backend": "posix",
                "provenance": {"mpi_library": "MPICH Version:\t4.0.2", "io_library": None},
                "hints": {"reported": {"cb_nodes": "1"}},
            }
        )
    }


class TestMetadata(RunnerSuite):
    runner_name = "metadata"
    case = Case(
        "x", runner="metadata", operation="metadata", ranks_per_node=2, files=50, depth=2, width=2,
        file_bytes=64, stonewall_seconds=30,
    )  # fmt: skip
    record: ClassVar = {"metadata.json": text("metadata-runner.json")}

    def test_each_operation_has_percentiles(self, tmp_path: Path) -> None:
        found = self.printed(tmp_path / "r", "", self.record)
        assert len(found.samples) == 14  # seven operations, twice
        for one in found.samples:
            assert list(one.percentiles) == ["50", "90", "99", "99.9", "100"]
            assert one.percentiles["50"] <= one.percentiles["100"] <= one.seconds
            assert (one.amount, one.worn_out) == (100, False)
        assert found.versions["mpi"].startswith("MPICH Version")
        assert any("one node" in note for note in found.notes)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"operation": "write"}, "moves no data"),
            ({"files": 0, "stonewall_seconds": 0}, "number of files"),
            ({"depth": 0}, "levels of the tree"),
            ({"cache": "direct"}, "shift or none"),
            ({"settings": (("mpiio.cb_nodes", 1),)}, "no effect"),
        ],
    )
    def test_what_it_cannot_make_is_said(self, changes: dict[str, object], words: str) -> None:
        assert words in self.make().why_not(variant(self.case, **changes))

    def test_other_nodes_ask(self) -> None:
        assert shift_of(self.case) == 1
        assert shift_of(variant(self.case, nodes=3, ranks_per_node=4)) == 4
        assert shift_of(variant(self.case, cache="none")) == 0
        assert shift_of(variant(self.case, ranks_per_node=1)) == 0


class TestIorCollective(RunnerSuite):
    runner_name = "ior"
    variable = "STRIPEWISE_IOR"
    case = variant(IOR_BLOCKS, backend="mpiio", mode="collective", steps=2)
    stdout = text("ior-runner-mpiio.txt")
    record: Mapping[str, str] = {"ior.json": text("ior-runner-mpiio.json")}

    def test_hints_are_those_of_the_open_file(self, tmp_path: Path) -> None:
        hints = self.printed(tmp_path / "r", self.stdout, self.record).hints
        assert hints["cb_buffer_size"] == "16777216"
        assert hints["romio_filesystem_type"].startswith("UFS: Generic")

    def test_phases_and_version(self, tmp_path: Path) -> None:
        found = self.printed(tmp_path / "r", self.stdout, self.record)
        assert found.versions == {"ior": "4.1.0+dev"}
        assert set(found.samples[0].phases) == {"open", "transfer", "close"}
        assert [one.operation for one in found.samples] == ["write", "read"]
        assert not any(one.worn_out for one in found.samples)


class TestIorFilePerProcess(RunnerSuite):
    runner_name = "ior"
    variable = "STRIPEWISE_IOR"
    case = variant(IOR_BLOCKS, layout="per-process", cache="direct")
    stdout = text("ior-runner-fpp.txt")
    record: Mapping[str, str] = {"ior.json": text("ior-runner-fpp.json")}


class TestIorHdf5(RunnerSuite):
    runner_name = "ior"
    variable = "STRIPEWISE_IOR"
    case = variant(IOR_BLOCKS, backend="hdf5", mode="collective")
    stdout = text("ior-runner-hdf5.txt")
    record: Mapping[str, str] = {"ior.json": text("ior-runner-hdf5.json")}


class TestIorStonewall(RunnerSuite):
    runner_name = "ior"
    variable = "STRIPEWISE_IOR"
    case = variant(
        IOR_BLOCKS, layout="per-process", local=str(1 << 29), transfer_bytes=1 << 20,
        stonewall_seconds=1.0, sync=False,
    )  # fmt: skip
    stdout = text("ior-runner-stonewall.txt")
    record: Mapping[str, str] = {"ior.json": text("ior-runner-stonewall.json")}

    def test_what_was_moved_until_then_counts(self, tmp_path: Path) -> None:
        for sample in self.printed(tmp_path / "r", self.stdout, self.record).samples:
            assert sample.worn_out
            assert sample.amount < 2 * (1 << 32)
        write = self.printed(tmp_path / "r", self.stdout, self.record).samples[0]
        assert write.rate == pytest.approx(732.3395 * 2**20)
        assert write.seconds == pytest.approx(1.5676)

    def test_a_time_that_was_rounded_to_nothing_moved_all(self, tmp_path: Path) -> None:
        """As reads of the page cache give it, in less than a tenth of a millisecond."""
        document = json.loads(self.record["ior.json"])
        (test,) = document["tests"]
        whole = test["Options"]["tasks"] * test["Parameters"]["blockSize"]
        whole *= test["Parameters"]["segmentCount"]
        for row in test["Results"]:
            row["totalTime"], row["bwMiB"] = 0.0, whole / 2**20 / 4e-5
        record = {"ior.json": json.dumps(document)}
        for sample in self.printed(tmp_path / "r", self.stdout, record).samples:
            assert (sample.amount, sample.worn_out) == (whole, False)
            assert sample.seconds == pytest.approx(4e-5)


class TestMdtest(RunnerSuite):
    runner_name = "mdtest"
    variable = "STRIPEWISE_MDTEST"
    case = Case(
        "x", runner="mdtest", operation="metadata", files=100, ranks_per_node=2, file_bytes=100
    )
    stdout = text("mdtest-runner.txt")

    def test_all_operations_of_files_and_directories(self, tmp_path: Path) -> None:
        samples = self.printed(tmp_path / "r", self.stdout, {}).samples
        assert {one.operation for one in samples} == {
            "create", "stat", "read-file", "remove",
            "create-directory", "stat-directory", "remove-directory",
        }  # fmt: skip
        assert {one.amount for one in samples} == {200.0}


class TestMdtestStonewall(RunnerSuite):
    runner_name = "mdtest"
    variable = "STRIPEWISE_MDTEST"
    case = Case(
        "x", runner="mdtest", operation="metadata", files=1_000_000, ranks_per_node=2,
        stonewall_seconds=1.0,
    )  # fmt: skip
    stdout = text("mdtest-runner-stonewall.txt")

    def test_all_ranks_do_as_many_as_the_fastest(self, tmp_path: Path) -> None:
        samples = self.printed(tmp_path / "r", self.stdout, {}).samples
        assert {one.operation for one in samples} == {"create", "stat", "read-file", "remove"}
        assert all(one.worn_out and one.amount < 2_000_000 for one in samples)


class TestBenchio(RunnerSuite):
    runner_name = "benchio"
    variable = "STRIPEWISE_BENCHIO"
    case = Case(
        "x", runner="benchio", pattern="array3d", local="32,64,48", layout="per-process",
        sync=False, ranks_per_node=2,
    )  # fmt: skip
    stdout = text("benchio-runner.txt")

    def test_sizes_are_in_the_order_of_fortran(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(self.variable, "/bin/true")
        words = self.make().command(self.case, tmp_path, tmp_path)
        assert words[-6:] == ["48", "64", "32", "local", "proc", "unstriped"]


def test_every_runner_is_in_a_suite() -> None:
    tested = {one.runner_name for one in RunnerSuite.__subclasses__()}
    assert tested >= set(runner_names()) - {"metadata"}


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("ior", {"transfer_bytes": 300_000}, "transfer that divides rank_size"),
        ("ior", {"layout": "per-node"}, "shared or per-process"),
        ("ior", {"backend": "adios2"}, "posix, mpiio, hdf5, pnetcdf"),
        ("ior", {"cache": "drop"}, "shift or direct"),
        ("ior", {"pattern": "array3d", "local": "8,8,8"}, 'pattern = "blocks"'),
        ("ior", {"mode": "serial"}, "ranks_per_node = 1"),
        ("mdtest", {}, 'operation = "metadata"'),
        ("benchio", {}, 'operation = "write"'),
        ("kernel", {"operation": "metadata"}, "runner metadata"),
    ],
)
def test_reasons_have_a_remedy(name: str, changes: dict[str, object], said: str) -> None:
    assert said in find_runner(name).why_not(variant(IOR_BLOCKS, **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sync": True}, "sync = false"),
        ({"local": "", "size": "64,64,64"}, "as 128,128,128"),
        ({"backend": "pnetcdf"}, "netcdf4 shared collective"),
        ({"steps": 2}, "leave out steps"),
    ],
)
def test_benchio_says_what_it_lacks(changes: dict[str, object], said: str) -> None:
    assert said in find_runner("benchio").why_not(variant(TestBenchio.case, **changes))


def test_mdtest_has_no_trees_that_fail() -> None:
    """Seen with IOR 4.1.0+dev: -u -N 1 -z 2 ends with an error after hundreds of warnings."""
    tree = variant(TestMdtest.case, depth=2, width=3)
    assert "sharing shared" in find_runner("mdtest").why_not(tree)
    assert not find_runner("mdtest").why_not(variant(tree, sharing="shared"))


def test_readers_of_other_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one node the next rank reads, on more the same rank of the next node."""
    monkeypatch.setenv("STRIPEWISE_IOR", "/bin/true")
    ior = find_runner("ior")
    one, two = IOR_BLOCKS, variant(IOR_BLOCKS, nodes=2)
    words = ior.command(one, DATA, DATA)
    assert "-C" in words
    assert "-Q" not in words
    words = ior.command(two, DATA, DATA)
    assert words[words.index("-C") : words.index("-C") + 3] == ["-C", "-Q", "2"]
    alone = ior.command(variant(one, cache="none"), DATA, DATA)
    assert "-C" not in alone


def test_a_refused_program_says_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("ior", "mdtest", "benchio"):
        monkeypatch.delenv(f"STRIPEWISE_{name.upper()}", raising=False)
        assert f"set STRIPEWISE_{name.upper()}" in find_runner(name).missing()
    with pytest.raises(UsageError, match="there is no runner 'fio'"):
        find_runner("fio")
