# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The variables are those of the C header, and a run's environment is complete."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.runtime import Runtime, preload_environment
from stripewise.run.runtime import _environment as names

HEADER = Path(__file__).parents[3] / "native" / "include" / "stripewise" / "environment.h"
RUNTIME = Runtime(Path("/opt/sw"))


def environment(tmp_path: Path, **more: object) -> dict[str, str]:
    options: dict[str, object] = {
        "directory": tmp_path,
        "run_id": "r1",
        "configuration": Configuration(),
        "sync": False,
        "base": {"PATH": "/bin"},
    }
    return preload_environment(RUNTIME, **{**options, **more})  # type: ignore[arg-type]


def test_names_are_those_of_the_header() -> None:
    header = dict(re.findall(r'#define SW_(ENV_\w+) "(\w+)"', HEADER.read_text()))
    ours = {n: v for n, v in vars(names).items() if n.startswith("ENV_")}
    assert ours.items() <= header.items()
    assert len(ours) >= 10


def test_what_a_run_gets(tmp_path: Path) -> None:
    found = environment(tmp_path, sync=True, writable=[tmp_path], include=[Path("/data")])
    assert found["LD_PRELOAD"] == "/opt/sw/lib/libstripewise.so"
    assert found["STRIPEWISE_DIRECTORY"] == str(tmp_path)
    assert found["STRIPEWISE_RUN_ID"] == "r1"
    assert found["STRIPEWISE_PLUGIN_PATH"] == "/opt/sw/lib/plugins"
    assert found["STRIPEWISE_SYNC"] == "1"
    assert found["STRIPEWISE_WRITABLE"] == str(tmp_path)
    assert found["STRIPEWISE_INCLUDE"] == "/data"
    assert found["PATH"] == "/bin"
    assert "STRIPEWISE_CONFIGURATION" not in found


def test_preloads_beside_others_and_once(tmp_path: Path) -> None:
    base = {"LD_PRELOAD": "/a/libdarshan.so /old/libstripewise.so:/b/x.so"}
    found = environment(tmp_path, base=base)
    assert found["LD_PRELOAD"] == "/opt/sw/lib/libstripewise.so:/a/libdarshan.so:/b/x.so"


def test_nothing_is_left_of_an_outer_run(tmp_path: Path) -> None:
    base = {"STRIPEWISE_WRITABLE": "/x", "STRIPEWISE_SYNC": "1", "STRIPEWISE_CONFIGURATION": "y"}
    found = environment(tmp_path, base=base)
    assert not {*base} & {*found}


def test_a_run_within_one_on_emulated_storage_is_on_it_too(tmp_path: Path) -> None:
    found = environment(tmp_path, base={"STRIPEWISE_EMULATE": "/dev/shm/clocks"})
    assert found["STRIPEWISE_EMULATE"] == "/dev/shm/clocks"


def test_a_small_configuration_travels_inline(tmp_path: Path) -> None:
    rules = (FileRule("*.dat", mpiio={"cb_nodes": 2}),)
    found = environment(tmp_path, configuration=Configuration(rules))
    assert found["STRIPEWISE_CONFIGURATION"].startswith("stripewise-flat 1\n")
    assert "cb_nodes" in found["STRIPEWISE_CONFIGURATION"]


def test_a_configuration_may_name_files_that_are_not_utf8(tmp_path: Path) -> None:
    names = [os.fsdecode(b"\xff"), *(os.fsdecode(b"\xff%d" % i) for i in range(2000))]
    for number in (1, 2000):
        rules = tuple(FileRule(name, mpiio={"cb_nodes": 2}) for name in names[:number])
        found = environment(tmp_path, configuration=Configuration(rules))
        if number == 1:
            assert b"file\t\xff\t" in os.fsencode(found["STRIPEWISE_CONFIGURATION"])
        else:
            data = Path(found["STRIPEWISE_CONFIGURATION_FILE"]).read_bytes()
            assert b"file\t\xff1998\t" in data


def test_a_long_configuration_travels_as_a_file(tmp_path: Path) -> None:
    rules = tuple(FileRule(f"file{i}*", mpiio={"cb_nodes": i}) for i in range(2000))
    found = environment(tmp_path, configuration=Configuration(rules))
    assert "STRIPEWISE_CONFIGURATION" not in found
    assert "file1999" in Path(found["STRIPEWISE_CONFIGURATION_FILE"]).read_text()


def test_job_settings(tmp_path: Path) -> None:
    job = JobSettings(mca={"io": "romio321"}, environment={"HDF5_USE_FILE_LOCKING": "FALSE"})
    found = environment(tmp_path, configuration=Configuration((), job))
    assert found["OMPI_MCA_io"] == "romio321"
    assert found["HDF5_USE_FILE_LOCKING"] == "FALSE"


@pytest.mark.parametrize("place", ["/with blank/lib", "/with:colon/lib"])
def test_a_path_that_cannot_be_preloaded(tmp_path: Path, place: str) -> None:
    runtime = Runtime(Path(place))
    with pytest.raises(UsageError, match="STRIPEWISE_RUNTIME_DIR"):
        preload_environment(
            runtime, directory=tmp_path, run_id="r", configuration=Configuration(), sync=False
        )


def test_root_may_run_open_mpi_only_as_root(tmp_path: Path) -> None:
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in environment(tmp_path)) == (os.geteuid() == 0)
