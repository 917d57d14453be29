# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs of processes that are one run, logs of several runs, and logs of Darshan 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from foreign.rendered.traces import darshan_2
from stripewise.cli import main
from stripewise.core.errors import TraceError
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op
from support.darshan_logs import record_of, write_log

pytest.importorskip("darshan", reason="PyDarshan is not installed")

MIB = 1 << 20


def log(directory: Path, process: int, *, job: int = 7, file: int = 0, **given: Any) -> Path:
    """Write the log of a process that writes (process + 1) MiB in a second."""
    row = np.zeros(1, record_of("POSIX"))
    row["id"], row["rank"], row["OPENS"], row["WRITES"] = file or process + 1, 0, 1, 4
    row["BYTES_WRITTEN"], row["F_WRITE_TIME"] = (process + 1) * MIB, 1.0
    row["F_WRITE_START_TIMESTAMP"], row["F_WRITE_END_TIMESTAMP"] = 2.0, 3.0
    about = {"command": "./prog in", "n_ranks": 1, "start": 1000, "run_seconds": 10.0} | given
    path = directory / f"me_prog_id{job}-{100 + process}_11-5-36000-{process}_1.darshan"
    return write_log(path, row, [f"/data/{row['id'][0]}"], job_id=job, **about)


def test_logs_of_processes_are_ranks_of_one_run(tmp_path: Path) -> None:
    paths = [log(tmp_path, process, start=1000 + 4 * process) for process in range(3)]
    for given in (tmp_path, paths):
        profile = read_evidence(given).profile
        assert (profile.n_ranks, profile.elapsed_seconds, profile.start) == (3, 18.0, 1000.0)
        rows = profile.counters[profile.counters["layer"] == IoLayer.POSIX]
        assert rows["rank"].tolist() == [0, 1, 2]
        assert rows["bytes"][:, Op.WRITE].tolist() == [MIB, 2 * MIB, 3 * MIB]
        assert rows["first"].tolist() == [2.0, 6.0, 10.0]
        assert any("3 logs of one process each" in note for note in profile.notes)


def test_processes_that_write_one_file_share_it(tmp_path: Path) -> None:
    for process in range(2):
        log(tmp_path, process, file=9)
    profile = read_evidence(tmp_path).profile
    assert profile.paths == ("/data/9",)
    assert len(profile.counters) == 2


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"start": 5000}, r"2 runs .*id7-100.*id7-101"),
        ({"job": 8}, r"at least 2 runs .*job 7.*job 8"),
        ({"command": "./other in"}, r"2 runs .*\./prog in.*\./other in"),
        ({"n_ranks": 4}, r"2 runs .*1 rank.*4 ranks"),
    ],
)
def test_several_runs_are_named(tmp_path: Path, given: dict[str, Any], what: str) -> None:
    log(tmp_path, 0)
    log(tmp_path, 1, **given)
    with pytest.raises(TraceError, match=what):
        read_evidence(tmp_path)


def test_one_log_of_a_job_tells_of_the_others(tmp_path: Path) -> None:
    paths = [log(tmp_path, process) for process in range(4)]
    result = CliRunner().invoke(main, ["profile", str(paths[0])])
    assert "3 more logs of its job" in result.stderr
    assert "more log" not in CliRunner().invoke(main, ["profile", str(tmp_path)]).stderr


@pytest.mark.parametrize("compression", ["gzip", "bzip2"])
@pytest.mark.parametrize("order", ["little", "big"])
def test_logs_of_darshan_2_are_named(tmp_path: Path, compression: str, order: str) -> None:
    given = {"version": "2.06", "compression": compression, "order": order}
    (path,) = darshan_2(given, tmp_path)
    for one in (path, tmp_path):
        with pytest.raises(TraceError, match=r"a log of Darshan 2 \(format 2.06\)"):
            read_evidence(one)


def test_a_compressed_text_is_no_log(tmp_path: Path) -> None:
    (path,) = darshan_2({"version": "hello", "compression": "gzip"}, tmp_path)
    with pytest.raises(TraceError, match="not recognised"):
        read_evidence(path)
