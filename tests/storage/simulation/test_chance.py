# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stripewise.storage.simulation import Rates, phase_times, simulate, workload_from_notation
from stripewise.storage.simulation._rates import chance, slowest
from stripewise.storage.stacks import Flow, Layout, Phase
from support.player import play
from support.storages import GIB, MIB, described

INCLUDE = Path(__file__).parents[3] / "native" / "include"
PROGRAM = """
#include <stdio.h>
#include "stripewise/emulate.h"
int main(void)
{
    for (unsigned target = 0; target < 4; target++)
        for (unsigned long long offset = 0; offset < 64; offset++)
            printf("%.17g\\n",
                   sw_emulate_chance(target, offset * 1048576, target * 5, target / 2));
}
"""


def test_the_mean_is_one_and_the_tail_exponential():
    times = np.array([chance(target, n * MIB) for target in range(20) for n in range(2000)])
    assert times.min() >= 0
    assert times.mean() == pytest.approx(1, abs=0.02)
    assert (times > 3).mean() == pytest.approx(np.exp(-3), rel=0.25)


@pytest.mark.parametrize(("number", "requests"), [(4, 1), (48, 1), (12, 8)])
def test_the_slowest_is_as_far_above_as_many_draws_say(number, requests):
    draws = [
        max(
            np.mean([chance(target, (n * requests + k) * MIB) for k in range(requests)])
            for target in range(number)
        )
        for n in range(300)
    ]
    assert np.mean(draws) - 1 == pytest.approx(slowest(number, requests), rel=0.25)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_the_emulator_draws_the_same(tmp_path):
    (tmp_path / "chance.c").write_text(PROGRAM)
    command = ["cc", "-std=gnu11", "-I", INCLUDE, tmp_path / "chance.c", "-o", tmp_path / "chance"]
    subprocess.run(command, check=True)
    run = subprocess.run([tmp_path / "chance"], check=True, capture_output=True, text=True)
    expected = [
        chance(target, n * MIB, target * 5, target // 2) for target in range(4) for n in range(64)
    ]
    assert [float(line) for line in run.stdout.split()] == expected


def test_rounds_wait_for_their_slowest_target_and_streams_do_not():
    def rounds(targets, count):
        layout = Layout(targets, MIB, 48)
        storage = described(
            {"servers.target_write": GIB, "servers.jitter": 0.5, "servers.targets": 48.0}
        )
        flow = Flow(writing=True, processes=targets, nodes=4, count=count, size=MIB,
                    objects=targets)  # fmt: skip
        phase = Phase("write", 1024 / count, (flow,))
        return sum(one.seconds for one in phase_times([phase], Rates.of(storage), layout))

    assert rounds(1, 1) == pytest.approx(1.0)
    assert 1.3 < rounds(48, 1) / rounds(4, 1) < 2.2
    assert rounds(48, 1024) == pytest.approx(1.0, rel=0.1)


def test_files_on_one_target_have_its_luck_together():
    """The slowest of the targets counts, however many files lie on each."""
    storage = described({"servers.target_write": GIB, "servers.jitter": 0.7})

    def own_files(targets, files):
        flow = Flow(writing=True, processes=files, nodes=4, count=16, size=MIB, files=files)
        layout = Layout(1, MIB, targets)
        return phase_times([Phase("write", 1, (flow,))], Rates.of(storage), layout)[0].seconds

    assert own_files(1, 64) == pytest.approx(64 * 16 / 1024)
    # Twice the files on each target: twice the work, and less chance in it.
    assert 1.7 < own_files(8, 128) / own_files(8, 64) < 2


def test_own_files_in_many_transfers_do_not_wait_for_each_other():
    storage = described(
        {"servers.target_write": GIB, "servers.jitter": 0.7, "servers.targets": 48.0}
    )
    work = workload_from_notation(
        "<1D,(BLOCK),(1048576)>", 6, 8, element_bytes=1, steps=64, collective=False
    )

    def seconds(flowing):
        moved = replace(work, flowing=flowing)
        return simulate(storage, moved, "posix-process", {"mpiio.striping_factor": 1}).seconds

    assert seconds(True) < 0.6 * seconds(False)


def test_the_player_and_the_closed_form_agree():
    layout = Layout(48, MIB, 48)
    storage = described({"servers.target_write": GIB, "servers.jitter": 0.8})
    requests = np.zeros(48 * 50, play_dtype())
    requests["rank"] = np.repeat(np.arange(48), 50)
    requests["order"] = requests["phase"] = np.tile(np.arange(50), 48)
    requests["offset"] = (requests["phase"].astype(np.int64) * 48 + requests["rank"]) * MIB
    requests["size"], requests["writing"] = MIB, True
    played = play(requests, storage, layout, np.arange(48) // 4).ends.max()
    flow = Flow(writing=True, processes=48, nodes=12, count=1, size=MIB, objects=48)
    closed = phase_times([Phase("write", 50, (flow,))], Rates.of(storage), layout)[0].seconds
    assert played == pytest.approx(closed, rel=0.1)


def play_dtype():
    from stripewise.storage.stacks import REQUEST_DTYPE

    return REQUEST_DTYPE
