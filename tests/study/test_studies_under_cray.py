# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of job scripts whose MPI prints what it does, or whose program is out of reach.

The program is started by a script that prints what Cray MPICH would print of it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from stripewise.core.errors import RuntimeMissingError
from stripewise.evidence.readers import read_evidence
from stripewise.run.launch import cray_variables
from stripewise.run.runtime import find_runtime, task_program
from stripewise.study.runs import _job_evidence
from support.cray_output import cray_output
from support.job_cluster import (
    NOTE,
    SCRIPT,
    JobCluster,
    Said,
    build_writer,
    job_cluster,
    prepared,
    timed_by,
)

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "result.schema.json"
SHORT = ("--strategy", "random", "--trials", "2", "--bb-nodes", "2")
"""One candidate: 2 nodes."""
SOLVE = """\
#!/bin/sh
env | grep ^MPICH_ | sort > "{seen}/mpich.$STRIPEWISE_RUN_ID"
if [ "$MPICH_MPIIO_STATS" = 1 ]; then
    case $PWD in */bb-*) cat "{tables}/bb" >&2;; *) cat "{tables}/pfs" >&2;; esac
fi
exec ./writer "$@"
"""
STATIC = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char data[65536], here[4096], name[4096];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int on_buffer = strstr(getcwd(here, sizeof here), "/bb-") != NULL;
    int file = open("out.dat", O_CREAT | O_WRONLY | O_TRUNC, 0644);
    for (int i = 0; i < 4; i++) {
        note(on_buffer ? 60000 : 240000);
        if (write(file, data, sizeof data) != (ssize_t)sizeof data)
            return 4;
    }
    struct tm *at = localtime(&now.tv_sec);
    snprintf(name, sizeof name, "%s/u_writer_id%s-%d_%d-%d-%d-%d_1.darshan", argv[1],
             getenv("SLURM_JOB_ID"), (int)getpid(), at->tm_mon + 1, at->tm_mday,
             at->tm_hour * 3600 + at->tm_min * 60 + at->tm_sec, argc);
    FILE *log = fopen(name, "w");
    fprintf(log, "%ld.%09ld %s %d\n", now.tv_sec, now.tv_nsec, here, on_buffer ? 240 : 960);
    return fclose(log);
}
"""


@pytest.fixture(scope="module", autouse=True)
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        task_program(find_runtime())
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built")
    return build_writer(tmp_path_factory.mktemp("writer"))


class CrayCluster:
    """A job script whose program prints as under Cray MPICH."""

    def __init__(self, cluster: JobCluster, writer: Path) -> None:
        self.cluster = cluster
        self.seen = cluster.work.parent / "seen"
        self.seen.mkdir()
        prepared(cluster, writer)
        solve = cluster.write(SOLVE.format(seen=self.seen, tables=self.seen), "solve")
        cluster.write(SCRIPT.replace("./writer", f"./{solve.name}"))
        self.tables(pfs=cray_output("out.dat", system_writes=4))
        self.tables(bb=cray_output("out.dat", system_writes=8, slower=2))

    def tables(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.seen / name).write_text(text)

    @property
    def environments(self) -> list[dict[str, str]]:
        """Variables of MPICH in each run."""
        lines = [path.read_text().splitlines() for path in self.seen.glob("mpich.*")]
        return [dict(line.split("=", 1) for line in one) for one in lines]

    @property
    def result(self) -> dict:
        return json.loads((self.cluster.work / "run.stripewise/result.json").read_text())

    def tune(self) -> Said:
        said = self.cluster.tune("run.sh", *SHORT, "--allow-outside", str(self.seen))
        assert said.code == 0, said
        return said


@pytest.fixture
def cray(tmp_path, monkeypatch, writer) -> Iterator[CrayCluster]:
    for name in cray_variables():
        monkeypatch.delenv(name, raising=False)
    with job_cluster(tmp_path, monkeypatch) as made:
        yield CrayCluster(made, writer)


@pytest.mark.extended
def test_every_run_prints_and_the_report_compares(cray) -> None:
    cray.tune()
    assert cray.environments
    assert all(one == dict(cray_variables()) for one in cray.environments)
    jsonschema.validate(cray.result, json.loads(SCHEMA.read_text()))
    figures = {one["name"]: one for one in cray.result["job"]["mpiio"]}
    assert (figures["system writes"]["before"], figures["system writes"]["after"]) == (4, 8)
    assert figures["net write rate"]["before"] == 2 * figures["net write rate"]["after"] > 0
    assert cray.result["facts"]["mpi_version"].startswith("CRAY MPICH")
    folder = cray.cluster.work / "run.stripewise"
    assert "system writes" in (folder / "mpiio.txt").read_text()
    assert "Output of Cray MPICH in" in (folder / "report.html").read_text()
    baseline = cray.result["job"]["runs"][0]
    assert (baseline["striping_unit_bytes"], baseline["buffer_bytes"]) == (4194304, 16777216)


@pytest.mark.extended
def test_what_the_user_sets_stays(cray, monkeypatch) -> None:
    monkeypatch.setenv("MPICH_MPIIO_TIMERS", "0")
    text = cray.cluster.script.read_text()
    cray.cluster.write(text.replace("srun", "export MPICH_ENV_DISPLAY=0\nsrun"))
    cray.tune()
    assert {one["MPICH_MPIIO_TIMERS"] for one in cray.environments} == {"0"}
    assert {one["MPICH_ENV_DISPLAY"] for one in cray.environments} == {"0"}
    assert {one["MPICH_MPIIO_STATS"] for one in cray.environments} == {"1"}


@pytest.mark.extended
def test_other_mpis_are_asked_once(cray) -> None:
    cray.tables(pfs="", bb="")
    cray.tune()
    asked = [one for one in cray.environments if one]
    assert len(asked) == 1 < len(cray.environments)
    assert cray.result["job"]["mpiio"] == []
    assert not (cray.cluster.work / "run.stripewise/mpiio.txt").exists()


@pytest.mark.extended
def test_a_log_that_settings_change_is_read_and_not_compared(cray) -> None:
    text = cray.cluster.script.read_text()
    cray.cluster.write(text.rstrip("\n") + " > solve.log 2>&1\n")
    cray.tune()
    result = cray.result
    assert result["result"] == "improved", result["verification"]
    assert "MPI prints" in result["verification"]["not_verifiable"]["solve.log"]
    assert "out.dat" in result["verification"]["compared"]
    figures = {one["name"]: one for one in result["job"]["mpiio"]}
    assert (figures["system writes"]["before"], figures["system writes"]["after"]) == (4, 8)


# ---- a program out of reach -----------------------------------------------------------------


@pytest.fixture
def static(tmp_path, monkeypatch) -> Iterator[JobCluster]:
    """A program that is linked statically and has Darshan in it; its logs say what they should."""
    darshan = pytest.importorskip("darshan")
    real = Path(darshan.__file__).parent / "examples/example_logs/example.darshan"
    source, logs = tmp_path / "static.c", tmp_path / "darshan"
    source.write_text(STATIC.replace("int main", f"{NOTE}\nint main"))
    logs.mkdir()
    (tmp_path / "times").mkdir()
    monkeypatch.setenv("DARSHAN_LOGPATH", str(logs))
    known = read_evidence(real)

    def read(path: Path):
        start, here, milliseconds = path.read_text().split()
        counters, profile = known.profile.counters.copy(), known.profile
        factor = float(milliseconds) / 1000 / profile.io_seconds
        for name in ("outermost_seconds", "slowest_seconds"):
            counters[name] *= factor
        paths = tuple(f"{here}/out.dat" if "vpicio.hdf5" in one else one for one in profile.paths)
        program = f"{here}/writer"
        told = replace(
            profile, start=float(start), counters=counters, paths=paths, command=program
        )
        return replace(known, profile=told)

    monkeypatch.setattr(_job_evidence, "read_evidence", read)
    with job_cluster(tmp_path, monkeypatch) as made:
        program = made.work / "writer"
        timed_by(made, tmp_path / "times")
        times = f'-DTIMES="{tmp_path}/times"'
        words = ["cc", "-O1", "-static", "-w", times, "-o", program, source]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip("no static C library")
        made.write(SCRIPT.replace("out.dat input.txt", str(logs)))
        yield made


@pytest.mark.extended
def test_a_static_program_is_tuned_by_its_darshan_logs(static) -> None:
    said = static.tune("run.sh", *SHORT)
    assert said.code == 0, said
    result = json.loads((static.work / "run.stripewise/result.json").read_text())
    assert result["result"] == "improved"
    assert 3 < result["speedup"]["median"] < 5
    assert result["configuration"]["job"]["burst_buffer_nodes"] == 2
    assert any("Darshan's logs" in text for text in result["warnings"])
    assert set(result["searched"]) == {"job.burst_buffer_nodes"}
    assert result["provenance"]["synced"] == "no"
    assert result["unsynced"] is None
    assert (static.work / "run.tuned.sh").exists()


def test_a_static_program_without_logs_is_refused_as_ever(static, monkeypatch) -> None:
    monkeypatch.setattr(_job_evidence, "_WAIT_SECONDS", 0.0)
    monkeypatch.setenv("DARSHAN_LOGPATH", str(static.work.parent / "slurm"))
    static.tune("run.sh", *SHORT).error("statically linked")
