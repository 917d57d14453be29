# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each form of results, from what the programs really printed."""

import json
from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.results import read_results

HERE = Path(__file__).parent
MIB, GIB = 1 << 20, 1 << 30
KERNEL = {
    "schema": "stripewise-kernel", "schema_version": 1, "pattern": "array3d", "backend": "posix",
    "mode": "independent", "layout": "per-process", "n_ranks": 4, "grid": [4, 1, 1],
    "distribution": "BLOCK,BLOCK,BLOCK", "shape": [256, 64, 64], "type": "int64",
    "steps": [
        {"operation": "write", "bandwidth_bytes_per_second": 1e9},
        {"operation": "write", "bandwidth_bytes_per_second": 2e9},
        {"operation": "read", "bandwidth_bytes_per_second": 3e9},
    ],
}  # fmt: skip
CSV = """nodes,ranks_per_node,access,files,block,transfer,striping_factor,GiB/s
1,16,write,process,1 GiB,1 MiB,1,5.0
1,16,write,process,1 GiB,1 MiB,1,5.2
2,16,read,shared,1 GiB,,-1,9.5
"""


STAT = {"operation": "stat", "operations": 5, "seconds": 1, "stonewall": None, "repeat": 1,
        "percentiles_seconds": {}}  # fmt: skip
COLUMNS = CSV.partition("\n")[0].replace("striping_factor,", "")


def test_ior_in_text():
    write, read = read_results([HERE / "ior-posix-fpp.txt"]).measured
    assert write.stack == "posix-process"
    assert (write.writing, read.writing) == (True, False)
    assert write.rates == pytest.approx((8124 * MIB, 8571 * MIB, 8371 * MIB))
    assert (write.workload.ranks, write.workload.bytes) == (4, 64 * MIB)


def test_ior_in_json():
    write, read = read_results([HERE / "ior-mpiio-coll.json"]).measured
    assert write.stack == ""
    assert write.workload.patterns[0].collective == 1
    assert write.rates[0] == pytest.approx(2022.2498 * MIB)
    assert len(write.rates) == len(read.rates) == 3


def test_benchio_needs_its_nodes():
    with pytest.raises(UsageError, match="--ranks-per-node"):
        read_results([HERE / "benchio.txt"])
    mpiio, hdf5 = read_results([HERE / "benchio.txt"], 4).measured
    assert (len(mpiio.rates), len(hdf5.rates)) == (4, 4)
    assert mpiio.workload.bytes == 216 * MIB


def test_our_own_metadata_kernel_has_each_repeat():
    found = read_results([HERE / "metadata-own.json"])
    assert {*found.operations} == {
        f"metadata.{one}" for one in ("create", "stat", "open", "remove")
    }
    assert all(len(rates) == 2 and min(rates) > 1000 for rates in found.operations.values())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"phases": []}, "no operation was timed"),
        ({"phases": [{"operation": "stat"}]}, "operations"),
        ({"phases": [{**STAT, "seconds": 0}]}, "impossible"),
        ({"phases": None}, "complete"),
    ],
)
def test_a_broken_document_of_the_metadata_kernel_is_said(tmp_path, change, words):
    document = json.loads((HERE / "metadata-own.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps({**document, **change}))
    with pytest.raises(UsageError, match=words):
        read_results([tmp_path / "m.json"])


def test_mdtest_has_metadata():
    found = read_results([HERE / "mdtest-unique.txt"])
    assert found.measured == ()
    three = (7135.112, 3 * 8088.034 - 7135.112 - 8891.418, 8891.418)
    assert sorted(found.operations["metadata.create"]) == pytest.approx(three)
    assert set(found.operations) == {f"metadata.{n}" for n in ("create", "stat", "open", "remove")}


def test_our_kernel(tmp_path):
    file = tmp_path / "kernel.json"
    file.write_text(json.dumps(KERNEL))
    write, read = read_results([file], 2).measured
    assert write.rates == (1e9, 2e9)
    assert (write.stack, write.workload.nodes) == ("posix-process", 2)
    assert write.workload.bytes == 256 * 64 * 64 * 8
    assert not read.writing


def test_a_table_of_rows(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(CSV)
    one, two = read_results([file]).measured
    assert one.rates == (5.0 * GIB, 5.2 * GIB)
    assert one.settings == {"mpiio.striping_factor": 1}
    assert (two.stack, two.writing, two.workload.nodes) == ("posix-shared", False, 2)


@pytest.mark.parametrize("name", ["ior-posix-fpp.txt", "ior-mpiio-coll.json", "benchio.txt",
                                  "mdtest-unique.txt"])  # fmt: skip
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_what_is_cut_off_is_read_or_refused(tmp_path, name, share):
    text = (HERE / name).read_text("utf-8")
    file = tmp_path / name
    file.write_text(text[: int(share * len(text))])
    problem, found = "", None
    try:
        found = read_results([file], 4)
    except UsageError as error:
        problem = str(error)
    assert "\n" not in problem
    assert problem or found.measured or found.operations


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello", "no known form"),
        ("", "no known form"),
        ("nodes,GiB/s\n", "no rows"),
        ("nodes,GiB/s\n1,fast\n", "line 2"),
        ("nodes,GiB/s\n1,5\n", "the columns are"),
        (f"{COLUMNS}\n0,1,write,process,1 GiB,,5\n", "line 2: nodes = '0' is not a whole"),
        (f"{COLUMNS}\n1,1.5,write,process,1 GiB,,5\n", "ranks_per_node = '1.5' is not a whole"),
        (f"{COLUMNS}\n1,1,writ,process,1 GiB,,5\n", "access = 'writ' is none of write, read"),
        (f"{COLUMNS}\n1,1,write,process,1024,,5\n", "block = '1024' has no unit"),
        (f"{COLUMNS}\n1,1,write,process,1 GiB,,\n", "GiB/s = '' is not a number"),
        (f"{COLUMNS}\n1,1,write,process,1 GiB,,nan\n", "line 2: a bandwidth of nan B/s"),
        (f"{COLUMNS}\n1,1,write,process,1 GiB,,-5\n", "is impossible"),
        (f"{COLUMNS}\n1,1,write,process,1 GiB,,1e300\n", "is impossible"),
        (f"{COLUMNS},stack\n1,1,write,process,1 GiB,,5,romeo\n", "called 'romeo'"),
        (f"{COLUMNS},bogus\n1,1,write,process,1 GiB,,5,3\n", "results: no tunable is called"),
        (f"{COLUMNS},MB/s\n1,1,write,process,1 GiB,,5,3\n", "leave one bandwidth"),
        (json.dumps(KERNEL).replace("1000000000.0", "-5"), "a bandwidth of -5 B/s"),
        ('{"schema": "stripewise-kernel"}', "n_ranks"),
        ("[workload]\n[[cells]]\n", "no known form"),
        ('{"tests": 3, "Command line": ""}', "check that the file is complete"),
    ],
)
def test_bad_results_are_one_line(tmp_path, text, says):
    file = tmp_path / "results"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_results([file], 4)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="give a file"):
        read_results([tmp_path / "none"])
