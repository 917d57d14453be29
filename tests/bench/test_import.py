# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns from outputs of IOR, mdtest, benchio and our kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, DirectoryStriping, figures_of, import_campaign
from stripewise.core.errors import UsageError

DATA = Path(__file__).parents[1] / "storage/fit" / "readers" / "data"
MIB = 1 << 20


def imported(*names: str, ranks_per_node: int = 0) -> Campaign:
    return import_campaign([DATA / name for name in names], "imported", ranks_per_node)


def test_a_test_of_ior_becomes_a_case_and_its_repeats_runs() -> None:
    campaign = imported("ior-shared-sync.txt")
    (case,) = campaign.suite.cases
    assert case == Case(
        "shared file", "ior", "write-read", nodes=1, ranks_per_node=2, local=str(MIB // 8),
        transfer_bytes=262144, steps=2, sync=True, cache="shift", repeats=2,
    )  # fmt: skip
    one, two = campaign.runs
    assert (one.key, one.repeat, two.repeat, one.status) == (case.key, 1, 2, "ok")
    assert [sample.operation for sample in one.samples] == ["write", "read"]
    assert one.samples[0].rate == pytest.approx(1123.95 * MIB)
    assert one.samples[0].phases["transfer"] == 0.003503
    assert one.written_bytes == 4 * MIB
    assert campaign.about["versions"] == {"ior": "4.1.0+dev"}
    assert campaign.started_unix_seconds == one.started_unix_seconds > 0


def test_figures_are_those_that_were_printed() -> None:
    found = {
        (one.case.series, one.operation): one for one in figures_of(imported("ior-romio.txt"))
    }
    assert found["MPI-IO", "write"].best == pytest.approx(489.85 * MIB)
    assert found["MPI-IO", "read"].median == pytest.approx((3178.71 + 45.59) / 2 * MIB)


def test_equal_tests_of_several_files_are_repeats_of_one_case() -> None:
    campaign = imported("ior-write-only.txt", "ior-write-only.txt", "ior-read-only.txt")
    write, read = campaign.suite.cases
    assert (write.operation, write.repeats) == ("write", 2)
    assert (read.operation, read.repeats) == ("write-read", 1)
    assert [run.repeat for run in campaign.by_case[write.key]] == [1, 2]


def test_mdtest_becomes_metadata() -> None:
    campaign = imported("mdtest-files-twice.txt", "mdtest-directories.txt")
    own, shared = campaign.suite.cases
    assert own == Case("own directories", "mdtest", "metadata", ranks_per_node=2, files=20,
                       sharing="own", sync=False, cache="none", repeats=2)  # fmt: skip
    assert (shared.sharing, shared.repeats) == ("shared", 1)
    assert [run.samples[0].operation for run in campaign.runs] == [
        "create", "create", "create-directory",
    ]  # fmt: skip
    assert any("only the mean of 4 iterations" in one for one in campaign.about["notes"])


def test_benchio_becomes_the_suite_array3d() -> None:
    campaign = imported("benchio-methods.txt", "benchio-failed.txt")
    assert dict(campaign.suite.directories) == {
        "unstriped": DirectoryStriping(1), "striped": DirectoryStriping(),
        "fullstriped": DirectoryStriping(-1),
    }  # fmt: skip
    series = list(dict.fromkeys(case.series for case in campaign.suite.cases))
    assert series == ["serial", "file per process", "file per node", "MPI-IO", "HDF5", "NetCDF"]
    case = next(one for one in campaign.suite.cases if one.series == "serial")
    assert (case.pattern, case.local, case.mode) == ("array3d", "32,32,32", "serial")
    failed = [run for run in campaign.runs if run.status == "failed"]
    assert len(failed) == 1
    assert "NetCDF is not built" in failed[0].message
    mpiio = next(
        c for c in campaign.suite.cases if (c.series, c.directory) == ("MPI-IO", "striped")
    )
    assert len(campaign.by_case[mpiio.key]) == 2


def test_settings_of_tables_tell_cases_apart() -> None:
    campaign = imported("benchio-hdf5-lockmode2-as-documented.csv", ranks_per_node=128)
    settings = [dict(case.settings)["mpiio.cray_cb_nodes_multiplier"]
                for case in campaign.suite.cases]  # fmt: skip
    assert settings == [1, 1, 2]
    assert campaign.suite.cases[0].ranks_per_node == 128


def test_stonewalls_and_hints_are_kept() -> None:
    campaign = imported("ior-stonewall-hit.json", "ior-romio.txt")
    assert campaign.suite.cases[0].stonewall_seconds == 1
    assert campaign.runs[0].samples[0].worn_out
    assert campaign.runs[1].hints["cb_nodes"] == "1"


def test_our_kernel(tmp_path: Path) -> None:
    file = tmp_path / "kernel.json"
    step = {"operation": "write", "bytes": 1e9, "seconds": 0.5, "bandwidth_bytes_per_second": 2e9,
            "phases": {"open": {"max_seconds": 0.1}}}  # fmt: skip
    file.write_text(json.dumps({
        "schema": "stripewise-kernel", "pattern": "array3d", "backend": "posix", "n_ranks": 4,
        "mode": "independent", "layout": "per-process", "shape": [256, 64, 64],
        "steps": [step, step],
    }))  # fmt: skip
    campaign = import_campaign([file], "kernel", 2)
    (case,) = campaign.suite.cases
    assert (case.runner, case.series, case.nodes) == ("kernel", "file per process", 2)
    assert (case.size, case.local, case.steps) == ("256,64,64", "", 2)
    assert campaign.runs[0].samples[0].rate == 2e9
    assert campaign.runs[0].samples[0].phases == {"open": 0.2}


def test_our_metadata_kernel() -> None:
    campaign = import_campaign([DATA.parent / "metadata-own.json"], "metadata")
    (case,) = campaign.suite.cases
    assert case == Case("own directories", "metadata", "metadata", ranks_per_node=2, files=50,
                        sharing="own", depth=2, width=2, file_bytes=64, sync=True,
                        stonewall_seconds=30, repeats=2)  # fmt: skip
    one, two = campaign.runs
    assert [sample.operation for sample in one.samples] == [
        sample.operation for sample in two.samples
    ]
    assert one.samples[0].percentiles["50"] == 3.792e-06
    assert one.samples[0].rate == pytest.approx(1494.79512)


def test_keys_are_those_of_suites() -> None:
    campaign = imported("ior-script.json", "benchio-methods.txt", "mdtest-tree.txt")
    assert {run.key for run in campaign.runs} == {case.key for case in campaign.suite.cases}
    assert len({(run.key, run.repeat) for run in campaign.runs}) == len(campaign.runs)


@pytest.mark.parametrize(
    ("names", "name", "says"),
    [
        (("ior-aborted.txt",), "a", "cannot open file"),
        (("ior-dry.txt",), "a", "dry run"),
        (("missing.txt",), "a", "give a file"),
        (("ior-hdf5.txt",), "two words", "cannot be called 'two words'"),
        (("ior-fpp.csv",), "a", "--ranks-per-node"),
        (("README.md",), "a", "no known form"),
    ],
)
def test_what_cannot_be_imported_is_one_line(names, name, says) -> None:
    with pytest.raises(UsageError) as caught:
        import_campaign([DATA / one for one in names], name)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_for_fits_has_no_runs(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(
        "nodes,ranks_per_node,access,files,block,transfer,GiB/s\n1,1,write,process,1 GiB,,5\n"
    )
    with pytest.raises(UsageError, match="no single runs"):
        import_campaign([file], "a")
