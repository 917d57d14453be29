# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Targets are not equally fast at every moment: how long one request takes, and the slowest."""

from __future__ import annotations

from math import exp, log, sqrt

_MASK = (1 << 64) - 1
_EULER = 0.5772156649
_TAIL = 1 / (1.5 * log(2))
"""Of `chance`, whose logarithm is linear between powers of two, to an exponential time."""


def chance(target: int, offset: int, rank: int = 0, draw: int = 0) -> float:
    """Return how many times as long as its mean a request takes by chance: mean 1.

    The time is exponential, from a hash (SplitMix64) of the target, of the request's first byte,
    of the rank that asks and of `draw`, the seed of an emulated run, so that a run can be had
    again; `sw_emulate_chance` in emulate.h is the same in C.
    """
    word = offset + 0x9E3779B97F4A7C15 * (target + 1) + 0xD1B54A32D192ED03 * rank
    word = (word + 0xA24BAED4963EE407 * draw) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    word = (word ^ (word >> 31)) | 1
    zeros = 64 - word.bit_length()
    mantissa = word / float(1 << (63 - zeros))  # 1 to 2
    return (zeros + 2 - mantissa) / 1.5


def slowest(number: float, requests: float) -> float:
    """Return how far above its mean the slowest of some objects is, in means.

    The greatest of n exponential times is on average 1 + 1/2 + ... + 1/n means; sums of m of
    them are nearer to theirs by the square root of m.

    Args:
        number: Of objects that are used at the same time.
        requests: That each of them gets.
    """
    if number <= 1:
        return 0.0
    above = log(number) + _EULER + 0.5 / number - 1
    return _TAIL * above / sqrt(max(requests, 1.0))


def longest_of(steady: float, chancy: float, share: float) -> tuple[float, float]:
    """Return mean and standard deviation of the longer of two times, of which one is chance.

    Args:
        steady: Of one, seconds.
        chancy: Mean of the other, seconds.
        share: Of the other that is exponential.
    """
    tail = chancy * share
    above = (steady - (chancy - tail)) / tail if tail else 0.0
    if above <= 0 or not tail:
        return max(steady, chancy), tail
    beyond = exp(-above)
    return steady + tail * beyond, tail * sqrt(2 * beyond - beyond * beyond)
