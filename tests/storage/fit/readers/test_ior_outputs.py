# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's outputs, with the figures that are printed in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foreign.rendered.ior import ior_text
from stripewise.core.errors import UsageError
from stripewise.storage.results import Data, Found, Test, read_results, read_tests

DATA = Path(__file__).parent / "data"
MIB = 1 << 20


def outputs_in(name: str, ranks_per_node: int = 0) -> tuple[Test, ...]:
    return read_tests([DATA / name], ranks_per_node).tests


def only(name: str) -> Test:
    (test,) = outputs_in(name)
    return test


def of_text(tmp_path: Path, text: str | bytes, name: str = "out.txt") -> Found:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tests([file])


def mib(test: Test, operation: str) -> tuple[float, ...]:
    return tuple(round(rate / MIB, 4) for rate in test.rates(operation))


def test_a_shared_file_with_fsync_and_shifted_reads() -> None:
    test = only("ior-shared-sync.txt")
    assert test.work == Data("posix", "shared", "independent", "blocks", MIB,
                             transfer_bytes=262144, steps=2, sync=True)  # fmt: skip
    assert (test.version, test.nodes, test.ranks, test.cache) == ("4.1.0+dev", 1, 2, "shift")
    assert mib(test, "write") == (1123.95, 250.53)
    assert mib(test, "read") == (17697, 18336)
    first = test.timed[0]
    assert first.amount == 4 * MIB
    assert first.seconds == pytest.approx(0.003559, rel=1e-3)
    assert first.phases == {"open": 0.000047, "transfer": 0.003503, "close": 0.000105}
    assert test.started_unix_seconds == 1795643844  # 2026-11-25 21:57:24
    assert test.notes == ()


@pytest.mark.parametrize(
    ("name", "backend", "layout", "mode", "cache", "write", "read"),
    [
        ("ior-hdf5.txt", "hdf5", "shared", "collective", "none", (638.16, 1730.32),
         (2162.01, 3367.57)),
        ("ior-romio.txt", "mpiio", "shared", "collective", "none", (489.85, 115.53),
         (3178.71, 45.59)),
        ("ior-direct-random.txt", "posix", "per-process", "independent", "direct",
         (1114.17, 229.15), (926.41, 193.41)),
        ("ior-verbose-4.txt", "posix", "per-process", "independent", "none", (466.53, 455.58),
         (506.07, 488.88)),
        ("ior-verbose-2.txt", "posix", "per-process", "independent", "none", None, None),
        ("ior-romio.json", "mpiio", "shared", "collective", "none", (2472.3277, 195.5022), ()),
        ("ior-verbose-4.json", "posix", "per-process", "independent", "none",
         (7219.1119, 10979.8534), (32263.8769, 40721.3981)),
        ("ior-verbose-1.json", "posix", "per-process", "independent", "none", None, None),
        ("ior-write-only.txt", "posix", "shared", "independent", "none", (3758,), ()),
        ("ior-read-only.txt", "posix", "shared", "independent", "none", (), (20214,)),
        ("ior-2.10.3-as-documented.txt", "posix", "per-process", "independent", "shift",
         (819.2, 731.43, 787.69), (1861.82, 1638.4, 1706.67)),
        ("ior-3.0.1-as-documented.txt", "posix", "shared", "independent", "shift",
         (819.2, 731.43, 787.69), (1861.82, 1638.4, 1706.67)),
        ("ior-2.10.3-summary-as-documented.txt", "mpiio", "shared", "collective", "shift",
         (731.43, 787.69, 819.2), (1706.67, 1861.82, 1638.4)),
        ("ior-3.2.0-as-documented.json", "posix", "per-process", "independent", "none",
         (819.2, 731.4286, 787.6923), (1861.8182, 1638.4, 1706.6667)),
    ],
)  # fmt: skip
def test_each_output(name, backend, layout, mode, cache, write, read) -> None:
    test = only(name)
    assert isinstance(test.work, Data)
    assert (test.work.backend, test.work.layout, test.work.mode) == (backend, layout, mode)
    assert test.cache == cache
    assert write is None or mib(test, "write") == write
    assert read is None or mib(test, "read") == read
    assert not test.failed


def test_rows_without_a_total(tmp_path: Path) -> None:
    """As IOR 2.8 prints them."""
    text = (DATA / "ior-2.10.3-as-documented.txt").read_text().replace("2.10.3", "2.8.2")
    text = re.sub(
        r"^((?:write|read)(?: +\S+){6}) +\S+ +(\d) *$", r"\1  \2", text, flags=re.MULTILINE
    )
    text = text.replace("close(s) total(s)  iter", "close(s)   iter")
    (test,) = of_text(tmp_path, text).tests
    assert mib(test, "write") == (819.2, 731.43, 787.69)
    assert test.version == "2.8.2"


def test_striping_on_the_command_line(tmp_path: Path) -> None:
    text = (DATA / "ior-shared-sync.txt").read_text()
    words = "--posix.lustre.stripecount=8 --posix.lustre.stripesize=1m -o f"
    (test,) = of_text(tmp_path, text.replace("-o f", words)).tests
    assert test.settings == {"mpiio.striping_factor": 8, "mpiio.striping_unit": MIB}


def test_hints_of_romio() -> None:
    for name in ("ior-romio.txt", "ior-romio.json"):
        hints = only(name).hints
        assert hints["cb_buffer_size"] == "16777216"
        assert len(hints) == 18


def test_a_script_has_several_tests() -> None:
    for name in ("ior-script.txt", "ior-script.json"):
        one, two, three = outputs_in(name)
        assert [test.work.layout for test in (one, two, three)] == [  # type: ignore[union-attr]
            "per-process", "shared", "shared",
        ]  # fmt: skip
        assert [test.work.steps for test in (one, two, three)] == [1, 3, 3]  # type: ignore[union-attr]
        assert three.work.mode == "collective"  # type: ignore[union-attr]
        assert [len(test.timed) for test in (one, two, three)] == [4, 4, 2]
    assert mib(outputs_in("ior-script.txt")[2], "write") == (843.05, 1271.71)
    assert (
        "does not say whether the time includes fsync" in outputs_in("ior-script.txt")[0].notes[0]
    )
    assert outputs_in("ior-script.json")[0].work.sync is False  # type: ignore[union-attr]


def test_a_stonewall_that_was_not_reached() -> None:
    test = only("ior-stonewall.txt")
    assert test.stonewall_seconds == 1
    assert all(one.worn_out for one in test.timed)
    assert mib(test, "write") == (1174.9, 1404.71)
    assert test.timed[0].amount == pytest.approx(128 * MIB, rel=1e-3)


def test_a_stonewall_that_was_reached() -> None:
    text, document = only("ior-stonewall-hit.txt"), only("ior-stonewall-hit.json")
    assert text.timed[0].amount == 714866688
    assert text.timed[0].rate == pytest.approx(672.81 * MIB)
    assert (text.timed[0].worn_out, document.timed[0].worn_out) == (False, True)
    assert document.timed[0].rate == pytest.approx(601.3913 * MIB)
    assert document.timed[0].seconds == pytest.approx(1.0499, rel=1e-3)


def test_runs_that_moved_nothing() -> None:
    assert "dry run" in only("ior-dry.txt").failed
    assert "cannot open file: missing/k.dat" in only("ior-aborted.txt").failed
    with pytest.raises(UsageError, match=r"cannot open file"):
        read_results([DATA / "ior-aborted.txt"])


def test_only_a_summary(tmp_path: Path) -> None:
    text = (DATA / "ior-hdf5.txt").read_text()
    found = of_text(tmp_path, text[text.index("\nSummary of all tests") :])
    (test,) = found.tests
    assert mib(test, "write") == (638.16, 1730.32)  # two repeats: the least and the greatest
    assert (test.work.backend, test.ranks) == ("hdf5", 2)  # type: ignore[union-attr]
    assert any("the order of the repeats is not reported" in one for one in test.notes)
    more = text.replace("     2   2    2   0", "     2   2    9   0")
    (test,) = of_text(tmp_path, more[more.index("\nSummary of all tests") :]).tests
    assert mib(test, "write") == (1184.24,)
    assert any("only the mean of 9 repeats" in one for one in test.notes)


def test_the_output_of_a_job_with_several_programs(tmp_path: Path) -> None:
    text = "module load x\n" * 100
    for name in ("ior-hdf5.txt", "mdtest-once.txt", "benchio-methods.txt", "ior-shared-sync.txt"):
        text += (DATA / name).read_text() + "\n=====\n"
    tests = of_text(tmp_path, text).tests
    assert [one.program for one in tests] == ["ior", "ior", "mdtest", *["benchio"] * 15]
    assert mib(tests[1], "write") == (1123.95, 250.53)


def test_a_job_with_json_in_its_output(tmp_path: Path) -> None:
    text = "".join(
        (DATA / name).read_text() + "\n=====\n"
        for name in ("mdtest-once.txt", "ior-verbose-1.json", "ior-romio.json", "ior-hdf5.txt")
    )
    tests = of_text(tmp_path, text).tests
    assert [one.program for one in tests] == ["ior", "ior", "ior", "mdtest"]
    assert [len(one.timed) for one in tests[:3]] == [4, 2, 4]


def test_version_3_2_without_nodes(tmp_path: Path) -> None:
    text = """IOR-3.2.0: MPI Coordinated Test of Parallel I/O
Began               : Mon Nov 19 02:02:51 2018
Command line        : ior
Machine             : Linux ip-10-0-0-1
TestID              : 0
StartTime           : Mon Nov 19 02:02:51 2018

Options:
api                 : POSIX
apiVersion          :
test filename       : testFile
access              : single-shared-file
type                : independent
segments            : 1
ordering in a file  : sequential
ordering inter file : no tasks offsets
tasks               : 8
clients per node    : 4
repetitions         : 1
xfersize            : 262144 bytes
blocksize           : 1 MiB
aggregate filesize  : 8 MiB

Results:

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     2000.00    1024.00    256.00     0.000014   0.003900   0.000002   0.004000   0
remove    -          -          -          -          -          -          0.000136   0
Max Write: 2000.00 MiB/sec (2097.15 MB/sec)
"""
    (test,) = of_text(tmp_path, text).tests
    assert (test.nodes, test.ranks) == (2, 8)
    assert mib(test, "write") == (2000,)


def test_what_launchers_and_terminals_add(tmp_path: Path) -> None:
    plain = (DATA / "ior-shared-sync.txt").read_text()
    wanted = of_text(tmp_path, plain).tests
    lines = plain.splitlines()
    noise = "[node1:123] mca_base_component: warning\nsrun: job 4711 queued"
    forms = {
        "crlf": plain.replace("\n", "\r\n"),
        "tagged": "\n".join(f"[1,0]<stdout>:{line}" for line in lines),
        "labelled": "\n".join(f"  0: {line}" for line in lines),
        "coloured": plain.replace("write ", "\x1b[1;32mwrite\x1b[0m "),
        "noisy": "\n".join(f"{line}\n{noise}" for line in lines),
        "no UTF-8": plain.replace("Linux", "Linux \udcff\udcfe"),
        "bom": "\ufeff" + plain,
    }
    for what, text in forms.items():
        found = of_text(tmp_path, text.encode("utf-8", "surrogateescape")).tests
        assert found == wanted, what


# ---- JSON that is none -----------------------------------------------------------------------


def whole_json() -> str:
    return (DATA / "ior-verbose-1.json").read_text()


@pytest.mark.parametrize(
    ("what", "broken"),
    [
        ("a bracket is lost", lambda text: text.replace("]\n, \n    \"max\"", "\n, \n  \"max\"")),
        ("all brackets are lost", lambda text: text.replace("]", "").replace("[", "")),
        ("one bracket more", lambda text: text.replace("]\n, \n    \"max\"", "]\n]\n, \n\"max\"")),
        ("a message", lambda text: text.replace('            {\n        "access": "write"',
         'Commencing write performance test: Sat Dec 21 13:05:43 2024\n            {\n'
         '        "access": "write"')),
        ("a title", lambda text: "IOR-3.2.0: MPI Coordinated Test of Parallel I/O\n" + text),
        ("doubled keys", lambda text: text.replace('    "segmentCount": 1, \n',
                                                   '    "segmentCount": 1, \n' * 2)),
        ("a comma is lost", lambda text: text.replace('}\n, \n', '}\n \n')),
        ("the end is lost", lambda text: text[: text.index('"summary"')]),
    ],
)  # fmt: skip
def test_broken_json_whose_meaning_is_clear(tmp_path: Path, what, broken) -> None:
    wanted = of_text(tmp_path, whole_json()).tests
    text = broken(whole_json())
    assert text != whole_json()
    found = of_text(tmp_path, text)
    assert [one.timed for one in found.tests] == [one.timed for one in wanted]
    assert [one.work for one in found.tests] == [one.work for one in wanted]
    assert what == "doubled keys" or "not valid JSON" in found.notes[0]


def test_an_infinite_bandwidth_is_left_out(tmp_path: Path) -> None:
    text = whole_json().replace(re.search(r'"bwMiB": (\S+),', whole_json())[1], "inf", 1)  # type: ignore[index]
    (test,) = of_text(tmp_path, text).tests
    assert len(test.rates("write")) == 1
    assert "a bandwidth of 'inf' is impossible" in test.notes[0]


def test_an_object_that_contradicts_itself_is_left_out(tmp_path: Path) -> None:
    text = whole_json().replace('"access": "write", \n', '"access": "write", \n "bwMiB": 5, \n', 1)
    found = of_text(tmp_path, text)
    assert "says bwMiB twice, which is ambiguous" in " ".join(found.notes)
    assert len(found.tests[0].rates("write")) == 1


# ---- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("1123.95 ", "1123.95e3 ", "are not the 4.1943e+06 B that were moved"),
        ("1123.95 ", "-1123.95 ", "impossible"),
        ("1123.95 ", "nan ", "cannot be read"),
        ("1123.95 ", "2123.95 ", "the file is damaged"),
        ("0.003559", "0.013559", "the file is damaged"),
        ("write     1123.95", "write     1123.95    Warning:", "cannot be read"),
    ],
)
def test_a_damaged_row_is_left_out_and_named(tmp_path: Path, old, new, says) -> None:
    text = (DATA / "ior-shared-sync.txt").read_text().replace(old, new, 1)
    found = of_text(tmp_path, text)
    assert len(found.tests[0].rates("write")) == 1
    assert says in " ".join((*found.notes, *found.tests[0].notes))


def test_a_doubled_row_counts_once(tmp_path: Path) -> None:
    text = (DATA / "ior-shared-sync.txt").read_text()
    row = next(line for line in text.splitlines() if line.startswith("write"))
    (test,) = of_text(tmp_path, text.replace(row, f"{row}\n{row}")).tests
    assert mib(test, "write") == (1123.95, 250.53)
    assert "there twice" in " ".join(test.notes)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tasks               : 2", "tasks               : 0", "tasks = '0' is not a number"),
        ("tasks               : 2", "tasks               : 99999999999999", "is not a number"),
        ("nodes               : 1", "nodes               : 7", "on 7 nodes"),
        ("blocksize           : 1 MiB", "blocksize           : 1 QiB", "blocksize = '1 QiB'"),
        ("blocksize           : 1 MiB", "blocksize           : 2 MiB", "2 MiB, and 1048576 B"),
        ("xfersize            : 262144 bytes", "xfersize            : 8 TiB", "8 TiB, and"),
        ("segments            : 2", "segments            : 200000", "segments of 2097152 B"),
        ("api                 : POSIX", "api                 : \x07", "api = "),
        ("access              : single-shared-file", "access              : x", "access = 'x'"),
        ("type                : independent", "type                : \x01", "type ="),
    ],
)
def test_options_that_contradict_are_one_line(tmp_path: Path, old, new, says) -> None:
    text = (DATA / "ior-shared-sync.txt").read_text()
    assert old in text
    with pytest.raises(UsageError) as caught:
        of_text(tmp_path, text.replace(old, new))
    message = str(caught.value)
    assert "\n" not in message
    assert message.isprintable()
    assert says in message


def test_exabytes_of_all_ranks_are_read(tmp_path: Path) -> None:
    """With a stonewall, sizes are larger than any storage."""
    given = {"version": "3.4.0+dev", "layout": "3.3", "api": "DFS", "tasks": 62400, "nodes": 300,
             "block": 99200000 << 20, "xfer": 16 << 20, "rates": {"read": [9e6]}}  # fmt: skip
    path = tmp_path / "ior.txt"
    path.write_text(ior_text(given))
    (test,) = read_tests([path]).tests
    assert test.rates("read") == pytest.approx((9e6 * 2**20,))
    assert test.timed[0].amount == pytest.approx(62400 * (99200000 << 20))
