# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checksums at the end of a process: there when nothing comes after, and never a false alarm."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from native_hosts import Host, Programs

from stripewise.core.errors import ContainerError
from stripewise.evidence.containers._trace_blocks import TraceBlockKind
from stripewise.evidence.containers.container import blocks
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import RunProfile
from support.containers import store_of


def read(host: Host) -> RunProfile:
    """What was recorded, which is not damaged."""
    profile = read_evidence(host.containers).profile
    assert not [note for note in profile.notes if "damaged" in note]
    return profile


def container(host: Host) -> Path:
    """The one container."""
    (found,) = host.containers.iterdir()
    return found


@pytest.mark.parametrize("capture", ["", "fold", "all"])
@pytest.mark.parametrize("ending", ["", "_exit", "exec", "joined"])
def test_an_orderly_end(host: Host, programs: Programs, ending: str, capture: str) -> None:
    host.check(programs.executable("ends"), "3000", ending, STRIPEWISE_CAPTURE=capture)
    assert read(host).unchecked == 0


def test_every_byte_of_the_blocks_counts(host: Host, programs: Programs) -> None:
    host.check(programs.executable("ends"), "3000", STRIPEWISE_CAPTURE="all")
    whole = container(host).read_bytes()
    kinds = set()
    for block in blocks(store_of(whole, "")):
        kinds.add(block.kind)
        for place in (block.offset + 24, block.offset + 64, block.end - 1):
            damaged = bytearray(whole)
            damaged[place] ^= 0x80
            container(host).write_bytes(damaged)
            with pytest.raises(ContainerError, match=r"\.sw is damaged: its checksum does not"):
                read_evidence(host.containers)
    assert kinds >= {1, 2, *TraceBlockKind}


@pytest.mark.parametrize("ending", ["fork", "shell"])
def test_children_and_exec(host: Host, programs: Programs, ending: str) -> None:
    host.check(programs.executable("ends"), "1000", ending, STRIPEWISE_CAPTURE="all")
    profile = read(host)
    assert len(profile.processes) == 2
    assert profile.unchecked == 0


@pytest.mark.parametrize("capture", ["", "all"])
def test_threads_that_go_on(host: Host, programs: Programs, capture: str) -> None:
    """Their calls may end at any moment, also while the process does."""
    for _ in range(5):
        host.check(programs.executable("ends"), "1000", "thread", STRIPEWISE_CAPTURE=capture)
    assert read(host).unchecked == 5


@pytest.mark.parametrize(
    ("what", "processes", "unchecked"),
    [("nothing", 1, 1), ("killed", 1, 1), ("forks", 2, 1), ("", 1, 0)],
)
@pytest.mark.parametrize("capture", ["", "all"])
def test_calls_after_the_end(
    host: Host, programs: Programs, what: str, processes: int, unchecked: int, capture: str
) -> None:
    host.run(
        programs.executable("ends"),
        "1000",
        "_exit",
        LD_PRELOAD=f"{host.library}:{programs.shared('late')}",
        STRIPEWISE_CAPTURE=capture,
        LATE=what,
    )
    assert (host.directory / "late").exists() == bool(what)
    profile = read(host)
    assert len(profile.processes) == processes
    assert profile.unchecked == unchecked


@pytest.mark.extended
def test_killed_while_the_sums_are_made(host: Host, programs: Programs) -> None:
    chance = random.Random(1)
    for case in range(12):
        victim = subprocess.Popen(
            [programs.executable("ends"), "100000", "_exit"],
            cwd=host.directory,
            env=host.environment(STRIPEWISE_CAPTURE="all"),
            stdout=subprocess.PIPE,
        )
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(chance.uniform(0, 0.006))
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        profile = read(host)
        assert len(profile.processes) == case + 1


def test_a_container_that_was_cut_off(host: Host, programs: Programs) -> None:
    host.check(programs.executable("ends"), "3000", STRIPEWISE_CAPTURE="all")
    whole = container(host).read_bytes()
    for size in range(8192, len(whole), 4096):
        container(host).write_bytes(whole[:size])
        notes = read_evidence(host.containers).profile.notes
        assert any("cut off" in note or "blocks that are missing" in note for note in notes)


def test_many_processes_side_by_side(host: Host, programs: Programs) -> None:
    program = programs.executable("many")
    command = (
        f"for i in 1 2 3 4 5 6 7 8; do (mkdir $i; cd $i; {program} 60 >/dev/null) & done; wait"
    )
    host.check("sh", "-c", command)
    profile = read(host)
    assert len(profile.counters) >= 8 * 60
    assert profile.unchecked == 0
