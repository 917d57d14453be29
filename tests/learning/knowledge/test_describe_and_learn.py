# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from lessons import KNOB, case

from stripewise.core import (
    Configuration,
    FailureCause,
    Measurement,
    ProgramFacts,
    RunEntry,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    library_versions,
)
from stripewise.learning.knowledge import TriedState, describe_case, describe_machine, learn
from stripewise.learning.knowledge._memory import cpu_model, digest_of, memory_bytes, version_of

MOUNTS = r"""27 1 254:0 / / rw - ext4 /dev/vda rw
28 27 0:40 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw
29 27 0:41 / /with\040space rw - nfs4 home:/home rw
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: Some  CPU @ 2GHz\n")
    (tmp_path / "proc/meminfo").write_text("MemTotal:       1024 kB\nMemFree: 1 kB\n")
    queue = tmp_path / "sys/dev/block/254:0/queue"
    queue.mkdir(parents=True)
    (queue / "rotational").write_text("1\n")
    return tmp_path


def test_a_machine(root):
    machine = describe_machine(Path("/var/x"), root)
    assert (machine.cpu, machine.memory_bytes) == ("Some CPU @ 2GHz", 1 << 20)
    assert (machine.filesystem, machine.device, machine.storage) == ("ext4", "rotational", "")


def test_a_network_file_system_is_known_by_its_source_not_its_name(root):
    machine = describe_machine(Path("/scratch/me"), root)
    assert (machine.filesystem, machine.device) == ("lustre", "network")
    assert len(machine.storage) == 16
    assert "10.0.0.1" not in repr(machine)


def test_a_machine_that_tells_nothing(tmp_path):
    machine = describe_machine(Path("/"), tmp_path)
    assert (machine.cpu, machine.filesystem, machine.device) == ("", "", "")


def test_this_machine_is_described_without_its_name():
    import platform

    machine = describe_machine(Path.cwd())
    assert machine.processors > 0
    assert platform.node() not in (machine.cpu, machine.kernel, machine.filesystem)


def test_parsers():
    assert cpu_model("") == ""
    assert cpu_model("CPU part\t: 0xd0c\n") == "0xd0c"
    assert memory_bytes("") == 0
    assert version_of("Open MPI v4.1.4, package: x") == "4.1.4"
    assert version_of("MPICH Version:\t4.0.2\n") == "4.0.2"
    assert version_of("") == ""


def test_libraries_of_an_executable(tmp_path):
    assert library_versions(Path(sys.executable)) == {}
    assert library_versions(tmp_path / "none") == {}
    assert describe_case(case().machine, ProgramFacts(), program="a").stack.hdf5 == ""
    script = tmp_path / "x.py"
    script.write_text("print()")
    assert library_versions(script) == {}
    cut = tmp_path / "cut"
    cut.write_bytes(Path(sys.executable).resolve().read_bytes()[:300])
    assert library_versions(cut) == {}


def test_libraries_of_hdf5s_tools():
    tool = shutil.which("h5dump")
    if tool is None:
        pytest.skip("no h5dump")
    assert library_versions(Path(tool))["hdf5"].startswith("so.")


def test_digests(tmp_path):
    file = tmp_path / "prog"
    file.write_bytes(b"x")
    assert len(digest_of(file)) == 64
    assert digest_of(tmp_path) == digest_of(None) == digest_of(tmp_path / "none") == ""


def test_a_program_that_does_nothing_can_be_described():
    found = describe_case(case().machine, ProgramFacts(), program="a\nb").fingerprint
    assert found.program == "a?b"
    assert (found.read_share, found.bytes_per_call_log2) == (0.0, 0.0)


def trial(number, state=TrialState.COMPLETE, ratio=0.5, status=RunStatus.OK):
    run = Measurement(str(number), status)
    return Trial(number, {KNOB: "disable"}, Configuration(), state, (run,), ratio, ratio)


def test_learns_trials_and_failures():
    trials = (
        trial(1),
        trial(2, TrialState.HOPELESS, 2.0),
        trial(3, TrialState.FAILED, inf),
        trial(4, TrialState.FAILED, inf, RunStatus.TIMEOUT),
        trial(5, TrialState.REJECTED, inf),
    )
    found = learn(StudyResult(("p",), "/d", trials=trials), case(), "0" * 32)
    states = ["complete", "slower", "failed", "hung", "rejected"]
    assert [t.state.value for t in found.tried] == states
    assert [t.io_ratio for t in found.tried] == [0.5, 2.0, None, None, None]


def test_a_failure_in_the_fresh_pairs_is_one():
    hung = Measurement("x", RunStatus.TIMEOUT, cause=FailureCause.HANG)
    run = RunEntry(RunRole.PAIR_WINNER, hung, 1, 1)
    result = StudyResult(("p",), "/d", runs=(run, run), trials=(trial(1),))
    assert learn(result, case(), "0" * 32).tried[0].state is TriedState.HUNG
    once = StudyResult(("p",), "/d", runs=(run,), trials=(trial(1),))
    assert learn(once, case(), "0" * 32).tried[0].state is TriedState.COMPLETE


def test_no_improvement_keeps_its_interval_and_what_could_be_seen():
    result = StudyResult(
        ("p",), "/d", trials=(trial(1),), winner=trial(1), improved=False,
        speedup=Speedup(1.01, 0.9, 1.1, 6), elapsed_speedup=Speedup(1.0, float("nan"), 1.0, 2),
        resolution="varies by 9 %",
    )  # fmt: skip
    found = learn(result, case(), "0" * 32)
    assert (found.improved, found.effect.low, found.effect.high) == (False, 0.9, 1.1)
    assert found.elapsed_effect.low is None
    assert found.resolution == "varies by 9 %"


def test_a_study_without_trials_leaves_nothing():
    assert learn(StudyResult(("p",), "/d"), case(), "0" * 32) is None


def test_settings_for_some_files_are_learnt_with_the_ratios_of_each_class():
    ratios = {"plt*.h5": 0.25, "chk*.dat": inf}
    own = replace(trial(1), settings={"mpiio.cb_nodes@plt*.h5": 4}, class_ratios=ratios)
    found = learn(StudyResult(("p",), "/d", trials=(own,), winner=own), case(), "0" * 32)
    assert found.candidate == {"mpiio.cb_nodes@plt*.h5": 4}
    assert dict(found.tried[0].class_ratios) == {"plt*.h5": 0.25}
