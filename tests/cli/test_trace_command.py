# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`run --trace` leaves the program alone; `profile` shows what it recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stripewise.cli import main
from support.containers import FakeFile, FakeProcess, build_container
from support.trace_samples import OUT, mixed_container, write_container
from support.traces import FakeCall, FakeThread, FakeTrace

STRIPEWISE = [sys.executable, "-c", "from stripewise.cli import main; main()"]


def trace(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    settings = {"capture_output": True, "text": True, "check": False, "timeout": 60, **options}
    command = [*STRIPEWISE, "run", "--trace", *arguments]
    return subprocess.run(command, **settings)  # type: ignore[call-overload,no-any-return]


def view(*arguments: object) -> Result:
    """What `stripewise profile` shows."""
    return CliRunner().invoke(main, ["profile", *map(str, arguments)])


def calls_of(*arguments: object) -> Result:
    return view("--as", "calls", *arguments)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    write_container(tmp_path / "app.trace", "n0.sw", mixed_container())
    return tmp_path / "app.trace"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("script", "code"), [("cat; exit 7", 7), ("kill -9 $$", 137)])
def test_streams_and_exit_code_are_the_programs(
    scratch: Path, blind: Path, script: str, code: int
) -> None:
    done = trace("--", "sh", "-c", script, input="in\n")
    assert done.returncode == code
    assert done.stdout == ("in\n" if code == 7 else "")
    assert list(scratch.iterdir()) == []


def test_options_of_the_program_are_its_own(scratch: Path, blind: Path) -> None:
    assert trace("--", "echo", "--all", "-o", "--", "info").stdout == "--all -o -- info\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no command to run"),
        (["--"], "no command to run"),
        (["x", "--trace-local", "y", "--", "true"], "cannot be used together"),
        (["x", "--keep-containers", "y", "--", "true"], "cannot be used together"),
        (["--al", "--", "true"], "--al"),
    ],
)
def test_wrong_use_is_one_helpful_line(
    scratch: Path, blind: Path, words: list[str], said: str
) -> None:
    done = trace(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_directory_of_each_node_has_to_be_there(scratch: Path, blind: Path) -> None:
    words = [*STRIPEWISE, "run", "--trace-local", "gone", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "make it on every node" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to show"),
        (["--"], "no command to run"),
        (["x", "--", "true"], "not both"),
        (["x", "--trace", "y"], "require a command"),
        (["x", "--json", "--as", "csv"], "cannot be used together"),
    ],
)
def test_wrong_use_of_profile_is_one_helpful_line(
    scratch: Path, blind: Path, words: list[str], said: str
) -> None:
    done = view(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_program_is_run_and_its_profile_shown(scratch: Path, built: Path) -> None:
    words = ["dd", "if=/dev/zero", "of=x", "bs=4096", "count=20"]
    command = [*STRIPEWISE, "profile", "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert " Written  " in done.stdout
    assert "stripewise profile dd.trace" in done.stderr
    assert view("dd.trace").stdout == done.stdout
    failing = [
        *STRIPEWISE,
        "profile",
        "--json",
        "--trace",
        "t",
        "--",
        "sh",
        "-c",
        "echo>y; exit 3",
    ]
    done = subprocess.run(failing, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert json.loads(done.stdout)["figures"]["write_bytes"] == 1
    assert (scratch / "t").is_dir()


def test_a_full_directory_is_not_touched(scratch: Path, blind: Path) -> None:
    (scratch / "d").mkdir()
    (scratch / "d" / "file").touch()
    done = trace("d", "--", "touch", "ran")
    assert done.returncode == 2
    assert not (scratch / "ran").exists()


def test_a_real_program(scratch: Path, built: Path) -> None:
    (scratch / "dd.trace").mkdir()
    done = trace("--json", "--", "dd", "if=/dev/zero", "of=x", "bs=4096", "count=20")
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["trace"] == "dd-2.trace"
    assert found["exit_code"] == 0
    directory = scratch / "dd-2.trace"
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}
    shown = [json.loads(line) for line in calls_of(directory, "--json").stdout.splitlines()]
    (writes,) = [entry for entry in shown if entry["op"] == "write"]
    assert (writes["name"], writes["count"], writes["bytes"]) == ("write", 20, 4096)
    assert (writes["offset"], writes["stride"], writes["file"]) == (
        0,
        [4096, 0, 0],
        str(scratch / "x"),
    )
    every = trace(
        "all.trace", "--every-call", "--", "dd", "if=/dev/zero", "of=y", "bs=1", "count=5"
    )
    assert "stripewise profile all.trace" in every.stderr
    lines = calls_of("all.trace", "--file", "y", "--json").stdout.splitlines()
    assert [json.loads(line)["offset"] for line in lines if '"op": "write"' in line] == [*range(5)]


def test_info(sample: Path) -> None:
    found = json.loads(view("--as", "info", "--json", sample).stdout)
    assert (found["ranks"], found["calls"], found["records"]) == (2, 2 * 56, 8)
    assert (found["datasets"], found["views"], found["lost_calls"]) == (2, 1, 0)
    assert found["files"][0]["calls"] == {"hdf5": 2, "mpiio": 2, "posix": 108}
    text = view("--as", "info", sample).stdout
    for words in ("Ranks           2", "Calls           112", "Records         8"):
        assert words in text
    assert "hdf5 2, mpiio 2, posix 108" in text


@pytest.mark.parametrize("calls", [[], ["--every-call"]])
def test_show_as_json(sample: Path, calls: list[str]) -> None:
    shown = [json.loads(line) for line in calls_of(sample, "--json", *calls).stdout.splitlines()]
    assert sum(line.get("count", 1) for line in shown) == 112
    assert {line["layer"] for line in shown} == {"hdf5", "mpiio", "posix"}
    assert {line["memory"] for line in shown} == {-1}


def test_show(sample: Path) -> None:
    lines = calls_of(sample, "--rank", "0").stdout.splitlines()
    assert len(lines) == 1 + 4
    assert "start (0, 0) count (1, 1) block (4, 6)" in lines[1]
    assert lines[1].endswith(f"{OUT}:/a")
    assert "    pwrite" in lines[3]
    assert "10x2 100" in lines[4]
    assert (
        len(
            view(
                "--as", "calls", sample, "--layer", "hdf5", "--layer", "mpiio"
            ).stdout.splitlines()
        )
        == 5
    )
    assert len(calls_of(sample, "--every-call", "--limit", "200").stdout.splitlines()) == 113
    done = calls_of(sample, "--limit", "3")
    assert "5 more" in done.stderr
    assert len(calls_of(sample, "--file", "*.nc").stdout.splitlines()) == 1


def test_counters_alone_have_no_calls(tmp_path: Path) -> None:
    path = write_container(tmp_path, "a.sw", build_container([FakeProcess({}, [FakeFile(OUT)])]))
    done = calls_of(path)
    assert done.exit_code == 9
    assert "no single calls" in done.stderr
    assert "only counters" in view("--as", "info", path).stdout


def test_export_parquet(sample: Path, tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow.parquet")
    assert view(sample, "--export", tmp_path / "runs.parquet").exit_code == 0
    runs = table.read_table(tmp_path / "runs.parquet")
    assert runs.num_rows == 8
    assert sum(runs["count"].to_pylist()) == 112
    assert runs["file"].to_pylist() == [OUT] * 8
    assert set(runs["layer"].to_pylist()) == {"hdf5", "mpiio", "posix"}
    assert runs["parent"].to_pylist()[:2] == [None, "H5Dwrite"]
    assert runs["stride"].to_pylist()[2] == [4096, 0, 0]
    described = json.loads(runs.schema.metadata[b"stripewise"])
    assert described["shapes"][0]["count"] == [1, 1]
    assert described["views"][0]["pieces"][0]["count"] == 4
    assert (tmp_path / "runs.parquet").stat().st_mode & 0o777 == 0o600
    done = view(sample, "--every-call", "--rank", "1", "--export", tmp_path / "calls.parquet")
    assert "56 calls" in done.stderr
    calls = table.read_table(tmp_path / "calls.parquet")
    assert calls["parent_index"].to_pylist()[:4] == [-1, 0, 1, 1]
    assert set(calls["rank"].to_pylist()) == {1}


def events_of(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return found


def test_export_timeline(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    assert view(sample, "--export", path).exit_code == 0
    events = events_of(path)
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["pid"] for event in slices} == {0, 1}
    run = next(event for event in slices if event["name"] == "pwrite")
    assert (run["args"]["calls"], run["args"]["bytes"]) == (50, 4096)
    assert run["args"]["file"] == OUT
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["rank 0 on node1", "rank 1 on node1"]
    counters = [event for event in events if event["ph"] == "C"]
    assert {event["name"] for event in counters} == {"mpiio MB/s"}
    assert sum(event["args"]["written"] for event in counters if event["pid"] == 0) > 0


def test_slices_of_a_lane_nest(tmp_path: Path) -> None:
    """Runs that interleave overlap in part; a viewer wants each lane to be a stack."""
    calls = [
        FakeCall(OUT, "a", count=10, start_ns=0, step_ns=100, sequence=1),
        FakeCall(OUT, "b", count=10, start_ns=50, step_ns=100, sequence=2),
        FakeCall(OUT, "c", count=2, start_ns=60, step_ns=10, duration_ns=5, sequence=3, depth=1),
    ]
    process = FakeProcess({}, [FakeFile(OUT)], trace=FakeTrace([FakeThread(log=calls)]))
    path = write_container(tmp_path, "a.sw", build_container([process]))
    view(path, "--export", tmp_path / "t.json")
    lanes: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in events_of(tmp_path / "t.json"):
        if event["ph"] == "X":
            lanes[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(lanes) == 2
    for spans in lanes.values():
        for a in spans:
            assert all(
                a[1] <= b[0]
                or b[1] <= a[0]
                or (a[0] <= b[0] and b[1] <= a[1])
                or (b[0] <= a[0] and a[1] <= b[1])
                for b in spans
            )


def test_export_needs_a_known_suffix(sample: Path, tmp_path: Path) -> None:
    done = view(sample, "--export", tmp_path / "t.csv")
    assert done.exit_code == 2
    assert ".parquet or .json" in done.stderr


def test_export_where_nothing_can_be_written(sample: Path, tmp_path: Path) -> None:
    done = view(sample, "--export", tmp_path / "gone" / "t.json")
    assert done.exit_code == 8
    assert len(done.stderr.splitlines()) == 1


def test_collect(sample: Path, tmp_path: Path) -> None:
    done = view(sample, "--collect", tmp_path / "all", "--json")
    assert json.loads(done.stdout) == {"copied": [str(tmp_path / "all" / "n0.sw")]}
    assert view(tmp_path / "gone", "--collect", tmp_path / "all").exit_code == 9


def test_what_is_not_recognised(tmp_path: Path) -> None:
    done = view("--as", "info", tmp_path)
    assert done.exit_code == 9
    assert "what can be read is" in done.stderr
