# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core.errors import UsageError
from stripewise.storage.simulation import SimulatedJob, workload_of

NOTATION = "<3D,(BLOCK,BLOCK,BLOCK),(64,64,128)>"

SITE = """\
version = 1
name = "site"
title = "A site"
kind = "lustre"
stack = "posix-process"
[machine]
nodes = { value = 100, kind = "assumed", source = "a test" }
ranks_per_node = { value = 8, kind = "assumed", source = "a test" }
[client]
process_write = { value = "1 GiB/s", kind = "assumed", source = "a test" }
node_write = { value = "4 GiB/s", kind = "assumed", source = "a test" }
[servers]
targets = { value = 4, kind = "assumed", source = "a test" }
target_write = { value = "10 GiB/s", kind = "assumed", source = "a test" }
target_read = { value = "10 GiB/s", kind = "assumed", source = "a test" }
"""


RECORDER = """\
1.1 H5Fcreate (out.h5,2,0,167772177) 16777216 0.1
1.2 H5Screate_simple (2,{24;24},NULL) 67108866 0.1
1.3 H5Dcreate2 (16777216,Data1,H5T_STD_I32LE,67108866,0,0,0) 83886080 0.1
1.4 H5Dget_space (83886080) 67108867 0.1
1.5 H5Sselect_hyperslab (67108867,0,{START;0},{1;1},{12;24},NULL) 0 0.1
1.6 H5Screate_simple (2,{12;24},NULL) 67108868 0.1
1.7 H5Dwrite (83886080,50331660,67108868,67108867,0) 0 0.1
1.8 H5Fclose (16777216) 0 0.1
"""
"""What a first Recorder writes of one rank."""


@pytest.fixture
def site(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(SITE)
    return path


def call(site, *words):
    every = ["simulate", "--on", str(site), *map(str, words)]
    return CliRunner().invoke(main, every, prog_name="stripewise")


def found(site, *words):
    done = call(site, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_time_bandwidth_limits_and_requests(site):
    data = found(site, "--nodes", 4, "--pattern", NOTATION)
    assert data["bytes"] == 32 * 4 * 2**20
    assert data["bandwidth_bytes_per_second"] == pytest.approx(16 * 2**30)
    assert data["seconds"] == pytest.approx(128 / 1024 / 16)
    assert data["limits"][0]["words"] == "links of nodes: 4 x 4 GiB/s"
    assert data["limits"][0]["next"] == "32 writers with a file each: 32 x 1 GiB/s"
    assert data["requests"]["processes"] == 32
    text = call(site, "--nodes", 4, "--pattern", NOTATION).stdout
    assert re.search(r"bandwidth +16 GiB/s", text)
    assert re.search(r"limits +100 % +links of nodes: 4 x 4 GiB/s", text)


def test_several_sweeps_make_a_product_and_the_best_is_marked(site, tmp_path):
    words = ["--pattern", "vpic --local 131072", "--stack", "posix-shared"]
    words += ["--sweep", "striping_factor=1,4,-1", "--sweep", "nodes=1,4"]
    data = found(site, *words)
    assert len(data["rows"]) == 6
    rates = [row["bandwidth_bytes_per_second"] for row in data["rows"]]
    assert data["best"] == rates.index(max(rates))
    assert data["bandwidth_bytes_per_second"] == max(rates)
    assert data["rows"][data["best"]]["point"] == {"mpiio.striping_factor": 4, "nodes": 4}
    page = tmp_path / "page.html"
    lines = call(site, *words, "--html", page).stdout.splitlines()
    assert sum(" best " in line and "GiB/s" in line for line in lines) == 1
    html = page.read_text()
    assert "striping_factor" in html
    assert html.count("<tr>") > 6
    assert "http" not in html.split("<script>")[0].replace("http-equiv", "")


def test_reading_uses_the_rates_of_reads(site):
    data = found(site, "--pattern", NOTATION, "--read")
    assert data["limits"][0]["resource"] == "target"


def test_the_workload_of_a_trace(tmp_path, site):
    trace = tmp_path / "logs"
    trace.mkdir()
    for rank in range(2):
        (trace / f"log.{rank}").write_text(RECORDER.replace("START", str(12 * rank)))
    data = found(site, "--nodes", 1, "--ranks-per-node", 2, "--pattern", trace)
    assert data["patterns"] == ["<2D, (BLOCK, *), (12, 24)>"]
    assert (data["ranks"], data["bytes"]) == (2, 24 * 24 * 4)
    with pytest.raises(UsageError, match="is of 2 ranks, not of 8"):
        workload_of(SimulatedJob(str(trace), 2, 4))


@pytest.mark.parametrize("option", ["--read", "--independent", "--steps=2"])
def test_a_trace_has_its_calls(tmp_path, site, option):
    (tmp_path / "log.0").write_text(RECORDER.replace("START", "0"))
    done = call(site, "--pattern", tmp_path, option)
    assert done.exit_code == 2
    assert f"{option.partition('=')[0]} requires a pattern" in done.stderr
    assert done.stderr.count("\n") == 1
    assert found(site, "--pattern", tmp_path)["ranks"] == 1


def test_calls_that_together_made_an_array_are_its_steps():
    """As found in the trace of a kernel: calls of one row each, a row more in the first ones."""
    from dataclasses import replace

    from stripewise.storage.simulation import in_steps, workload_from_notation

    (whole,) = workload_from_notation("<2D,(*,BLOCK),(10,64)>", 1, 4).patterns
    moved = {("data", "data", True): 10 * 4 * 64 * 8}
    parts = in_steps([replace(whole, steps=4)], moved)
    assert [(one.extents[0], one.steps) for one in parts] == [(3, 2), (2, 2)]
    again = {key: 4 * size for key, size in moved.items()}
    parts = in_steps([replace(whole, steps=4)], again)
    assert [(one.extents[0], one.steps) for one in parts] == [(10, 4)]


def test_irregular_patterns_of_a_trace_are_left_out_and_it_says_so(tmp_path, site):
    other = RECORDER.replace("Data1", "Data2").replace("83886080", "83886081")
    odd = ("{0;0},{1;1},{5;7}", "{9;3},{1;1},{2;11}")
    for directory, texts in (("mixed", (RECORDER, other)), ("all", (other,))):
        (tmp_path / directory).mkdir()
        for rank in range(2):
            text = "".join(texts[:-1]).replace("START", str(12 * rank))
            text += texts[-1].replace("{START;0},{1;1},{12;24}", odd[rank])
            (tmp_path / directory / f"log.{rank}").write_text(text)
    words = ["--ranks-per-node", 2, "--pattern"]
    mixed = call(site, *words, tmp_path / "mixed")
    assert mixed.exit_code == 0, mixed.output
    assert "warning: 1 of 2 patterns" in mixed.stderr
    done = call(site, *words, tmp_path / "all")
    assert done.exit_code == 2
    assert "all its patterns are irregular" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pattern", "<3D,(BLOCK,BLOCK),(2,2)>"], "character 17: expected 3 distributions"),
        (["--pattern", ""], "is neither a trace nor a kernel"),
        (["--pattern", 'vpic "'], "'\"' is not known"),
        (["--pattern", "vpic --steps 99999999999999"], "more than 1 EiB"),
        (["--pattern", "vpic", "--nodes", "1000000000"], "more than 100,000,000 ranks"),
        (["--pattern", "no-such.trace"], "is neither a trace nor a kernel"),
        (["--pattern", "vpic --loca 3"], "'--loca' is not known"),
        (["--pattern", "vpic", "--set", "striping_factor=5"], "site has 4 targets"),
        (["--pattern", "vpic", "--set", "striping_factor"], "--set 'striping_factor': write"),
        (["--pattern", "vpic", "--set", "a="], "--set 'a=': write TUNABLE=VALUE\n"),
        (["--pattern", "vpic", "--set", "=3"], "--set '=3': write TUNABLE=VALUE\n"),
        (["--pattern", "vpic", "--sweep", "stack=cray,"], "--sweep stack: a value is missing"),
        (["--pattern", "vpic", "--sweep", "nodes=1,2", "--nodes", 4], "--nodes and --sweep both"),
        (["--pattern", "vpic", "--tune", "--private"], "site is not a burst buffer"),
        (["--pattern", "vpic", "--tune", "--capacity", "1TiB"], "site has fixed targets"),
        (["--pattern", "vpic", "--seed", "0"], "--seed requires --tune"),
        (["--pattern", "vpic", "--set", "cb_nodes=1,2"], "several values; give them to --sweep"),
        (["--pattern", "vpic", "--sweep", "nodes=1,x"], "--sweep nodes: 'x' is not a number"),
        (["--pattern", "vpic", "--sweep", "nodes=1", "--sweep", "nodes=2"], "names nodes twice"),
        (["--pattern", "vpic", "--stack", "nfs"], "no software stack is called 'nfs'"),
        (["--pattern", "vpic", "--transport", "ucx"], "site has no transport 'ucx'"),
        (["--pattern", "vpic", "--capacity", "1TiB"], "site has fixed targets"),
        (["--pattern", "vpic", "--capacity", "much"], "capacity 'much': give a size"),
    ],
)
def test_bad_input_is_one_line(site, words, says):
    done = call(site, *words)
    assert done.exit_code in (2, 3)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--trials", "3"), "--trials requires --tune"),
        (("--set", "striping_factor=1", "--sweep", "striping_factor=1,2"), "both name mpiio."),
        (("--steps", "20"), "--steps requires a pattern in notation"),
        (("--element-bytes", "4"), "--element-bytes requires a pattern in notation"),
    ],
)
def test_options_that_would_not_act_are_refused(options: tuple[str, ...], said: str) -> None:
    words = ["simulate", "--on", "archer2-hdd", "--pattern", "vpic", *options]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
