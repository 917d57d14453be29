# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs on emulated storage: what is measured, what is said, what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from system_cli import as_words, counted, mpiexec, require_mpi, run, start, stripewise, wait_until

from stripewise.run.runtime import built_program, find_runtime

MIB = 1 << 20
SLOW = 2
"""MB/s of a target, so that stripes save seconds: ranks that wait for a processor lose tenths."""
DESCRIPTION = """
version = 1
name = "site"
title = "A small striped storage"
kind = "lustre"
[machine]
nodes = {{ value = 64, {by} }}
ranks_per_node = {{ value = 8, {by} }}
[client]
process_write = {{ value = "{process} MB/s", {by} }}
[servers]
targets = {{ value = 8, {by} }}
target_write = {{ value = "{target} MB/s", {by} }}
target_read = {{ value = "{target} MB/s", {by} }}
[layout]
stripe_count = {{ value = 1, {by} }}
stripe_size = {{ value = "256 KiB", {by} }}
"""


def describe(work: Path, process: int = 40, target: int = 8) -> str:
    by = 'kind = "assumed", source = "a test"'
    text = DESCRIPTION.format(by=by, process=process, target=target)
    (work / "site.toml").write_text(text)
    return "site.toml"


def mapping_of(work: Path) -> Path:
    """Where the clocks of a run in a directory are."""
    status = work.stat()
    name = f"stripewise-emulation-{os.getuid()}-{status.st_dev:x}-{status.st_ino:x}"
    return Path("/dev/shm") / name


def writes(size: int, name: str = "out.dat") -> list[str]:
    """A program that writes so many bytes at once."""
    return ["dd", "if=/dev/zero", f"of={name}", f"bs={size}", "count=1"]


def io_seconds(work: Path, program: list[str], *options: str) -> float:
    words = ("--on", "site.toml", *options, "--", *program)
    document = counted(lambda: run(*words, cwd=work), lambda one: [one])
    assert document["emulated"]["counted"], document
    assert document["emulated"]["held"] > 0, document
    return float(document["io_seconds"])


@pytest.mark.extended
def test_a_directory_hands_its_layout_to_new_files(work: Path) -> None:
    describe(work, target=4)
    (work / "deep" / "er").mkdir(parents=True)
    one = io_seconds(work, writes(8 * MIB, "deep/er/out.dat"))
    assert one >= 0.99 * 8 * MIB / 4e6
    assert stripewise("machine", "layout", "set", "-c", "4", "deep", cwd=work).code == 0
    (work / "deep/er/out.dat").unlink()
    (work / "deep" / "new").mkdir()
    for name in ("er", "new"):
        four = io_seconds(work, writes(8 * MIB, f"deep/{name}/out.dat"))
        assert 0.99 * 8 * MIB / 16e6 <= four < one / 2
    shown = stripewise("machine", "layout", "get", "--json", "deep/er/out.dat", cwd=work).json()
    assert shown[0]["stripe_count"] == 4


def test_a_host_that_is_too_slow_says_so(work: Path) -> None:
    describe(work, process=2_000_000, target=2_000_000)
    done = run("--on", "site.toml", "--", *writes(256 * MIB), cwd=work)
    assert not done["emulated"]["counted"]
    assert any("the host was the limit" in text for text in done["warnings"])
    assert "--on site.toml@1/" in done["emulated"]["problem"]


def test_a_static_program_is_an_error(work: Path) -> None:
    (work / "a.c").write_text(
        '#include <stdio.h>\nint main(void) { FILE *f = fopen("x", "w"); return fclose(f); }\n'
    )
    if subprocess.run(["cc", "-static", "a.c", "-o", "a"], cwd=work).returncode:
        pytest.skip("no static C library")
    describe(work)
    done = stripewise("run", "--on", "site.toml", "--", "./a", cwd=work)
    done.only_error(6, "nothing was emulated", "statically linked")


def test_what_bypasses_the_storage_is_said_once(work: Path) -> None:
    describe(work)
    code = "import mmap; f = open('site.toml'); mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)"
    found = run("--on", "site.toml", "--", "python3", "-c", code, cwd=work)["warnings"]
    assert len([text for text in found if "map" in text]) == 1, found


def test_an_interrupted_or_killed_run_leaves_nothing(work: Path) -> None:
    describe(work)
    for number in (signal.SIGTERM, signal.SIGKILL):
        first = start("run", "--on", "site.toml", "--", "sleep", "120", cwd=work)
        wait_until(mapping_of(work).exists, "the clocks")
        other = stripewise("run", "--on", "site.toml", "--", "true", cwd=work)
        other.only_error(7, "being emulated in", str(first.pid))
        first.send_signal(number)
        first.wait(timeout=60)
        with suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=60)
        assert stripewise("run", "--on", "site.toml", "--", "true", cwd=work).code == 0
        assert not mapping_of(work).exists()


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
def test_striping_hints_act_under_every_mpi(work: Path, family: str) -> None:
    describe(work, target=SLOW)
    _, kernel = built_program(find_runtime(), find_runtime().kernels, "kernel", family)
    program = as_words(
        mpiexec(family), kernel, "--pattern", "array3d", "--local", "64,64,64", "--grid", "2,1,1"
    )
    one = io_seconds(work, program)
    four = io_seconds(work, [*program, "--hint", "striping_factor=4"])
    assert one / four > 1.5, (one, four)


@pytest.mark.extended
@pytest.mark.mpi
def test_a_study_finds_the_stripes_and_says_where(work: Path) -> None:
    family = require_mpi("mpich")
    describe(work, target=SLOW)
    _, kernel = built_program(find_runtime(), find_runtime().kernels, "kernel", family)
    program = [str(kernel), "--pattern", "array3d", "--keep", "--local", "64,64,64"]
    words = ("--only", "mpiio.striping_factor", "--trials", "1", "--study-dir", "s.stripewise")
    more = {"STRIPEWISE_KNOWLEDGE": str(work.parent / "knowledge.sqlite")}
    done = stripewise(
        "tune", *words, "--on", "site.toml", "--json", "--", *program, cwd=work, more=more
    )
    result = done.json()
    assert result["storage"] == {"name": "site", "emulated": True}
    assert result["result"] == "improved", result["trials"]
    assert result["speedup"]["median"] > 1.5
    assert result["settings"].keys() == {"mpiio.striping_factor"}
    assert all(run["limits"] for run in result["runs"])
    known = stripewise("knowledge", "list", cwd=work, more=more)
    assert "site" in known.out
    other = ("--resume", "--study-dir", "s.stripewise", "--on", "site.toml@1/2")
    stripewise("tune", *other, cwd=work).only_error(7, "started on site, not on site@1/2")
    (work / "site.toml").write_text((work / "site.toml").read_text().replace("2 MB/s", "3 MB/s"))
    again = stripewise("tune", *other[:3], cwd=work)
    again.only_error(7, "the description of site has changed")
    report = (work / "s.stripewise" / "report.html").read_text()
    assert "faster on emulated site" in report
    assert json.loads((work / "s.stripewise" / "result.json").read_text())["storage"]["emulated"]


def test_what_the_servers_counted_can_be_kept(work: Path) -> None:
    done = stripewise(
        *("run", "--on", describe(work), "--servers", "counted", "--", *writes(3 * MIB)), cwd=work
    )
    assert done.code == 0, done.err
    jobs = [path.read_text() for path in (work / "counted/obdfilter").glob("*/job_stats")]
    assert sum("write_bytes:" in text for text in jobs) == 1
    (text,) = [text for text in jobs if "write_bytes:" in text]
    assert f"sum: {3 * MIB:16}," in text
    assert "- job_id:          dd." in text
    refused = stripewise("run", "--servers", "counted", "--", "true", cwd=work)
    assert refused.only_error(2, "--servers requires --on MACHINE")
