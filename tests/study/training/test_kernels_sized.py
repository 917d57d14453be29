# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.simulation import KERNELS, workload_from_kernel
from stripewise.study.training import kernel_words, sized
from stripewise.study.training._kernels import command_words, name_of, simulated_words


def test_names_and_options():
    assert kernel_words(["vpic,gcrm", "vorpal --steps 4", "vpic"]) == [
        ("vpic",), ("gcrm",), ("vorpal", "--steps", "4"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vpic,gcrm --steps 3", "options apply to one kernel"),
        ("bt", "no kernel is called 'bt'"),
        ("", "no kernel is called ''"),
        ("vpic 'x", "No closing quotation"),
    ],
)
def test_what_is_no_kernel(text, said):
    with pytest.raises(UsageError, match=said):
        kernel_words([text])


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"btio"}))
def test_a_rank_moves_what_was_asked_for(name):
    words = sized((name,), 4 << 20)
    moved = workload_from_kernel(simulated_words(words), 8, 1).bytes / 8
    assert moved == pytest.approx(4 << 20, rel=0.05)


def test_sizes_that_are_said_stay():
    assert sized(("vpic", "--local", "7"), 1 << 20) == ("vpic", "--local", "7")
    assert sized(("vpic",)) == ("vpic", "--local", "8388608")


def test_means_are_no_part_of_the_pattern():
    words = ("vpic", "--backend", "hdf5", "--steps", "2")
    assert simulated_words(words) == ["vpic", "--steps", "2"]
    assert command_words(words)[-4:] == ["--mode", "collective", "--file", "vpic.dat"]
    assert name_of(words, 8) == "vpic-backend-hdf5-steps-2-8"
