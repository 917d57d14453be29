# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Paired statistics: what a speed-up is, how sure it is, what could be seen at all."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, exp, isfinite, log, nan, pi, sqrt
from statistics import NormalDist, median, stdev

from stripewise.model import Speedup

CONFIDENCE = 0.95
LOOK_RANKS = {6: 0, 10: 1, 18: 3}
"""Number of pairs after which the interval is looked at: 0-based rank of its lower bound.

Fixed before the first pair.  After 6 pairs the interval runs from the smallest to the largest
ratio, after 10 from the second smallest to the second largest, after 18 from the fourth to the
fourth.  Looking three times does not break the promise: the median lies outside of one of the
three intervals with probability 2 (1/64 + 6/1024 + 467/262144) = 0.0465 < 0.05, whatever the
distribution of the ratios (the terms: outside at 6; not at 6 but at 10; only at 18).
"""
LOOKS = tuple(LOOK_RANKS)
METHOD = "order statistics of the median of log-ratios"
NOISE_FLOOR = 0.02
"""No study takes itself for more precise than this."""


def speedup_of(pairs: Sequence[tuple[float, float]]) -> Speedup:
    """Return the median ratio first / second with its interval.

    Args:
        pairs: (baseline, candidate) times in seconds, both positive.

    Returns:
        The speed-up; its bounds are NaN with fewer than 6 pairs.
    """
    logs = sorted(log(first / second) for first, second in pairs)
    if not logs:
        return Speedup(nan, nan, nan, 0, CONFIDENCE, METHOD)
    rank = LOOK_RANKS.get(len(logs), interval_rank(len(logs)))
    low, high = (exp(logs[rank]), exp(logs[-1 - rank])) if rank is not None else (nan, nan)
    return Speedup(exp(median(logs)), low, high, len(logs), CONFIDENCE, METHOD)


def interval_rank(n: int) -> int | None:
    """Return the 0-based rank of the lower bound among `n` sorted values; None: too few.

    Source: order statistics x[k], x[n-1-k] miss the median with probability
    2 P(Binomial(n, 1/2) <= k); David and Nagaraja, Order Statistics, section 7.1.
    """
    missing, rank = 0, -1
    while rank < n:
        missing += comb(n, rank + 1)
        if 2 * missing > (1 - CONFIDENCE) * 2**n:
            break
        rank += 1
    return rank if rank >= 0 else None


def excludes_one(speedup: Speedup) -> bool:
    """Whether the interval shows an improvement: it lies above 1."""
    return isfinite(speedup.low) and speedup.low > 1


def clearly_worse(speedup: Speedup) -> bool:
    """Whether a whole time got worse: its interval lies below 1, or its median below 0.95.

    The second half guards against a loss that six noisy pairs cannot prove.
    """
    return speedup.high < 1 or speedup.median < 0.95


SLOWER_MEDIAN = 0.95
"""Tolerance for a case of several: up to 5 % slower is not counted against a configuration."""


def got_slower(speedup: Speedup, ratios: Sequence[float]) -> bool:
    """Whether one case of several got slower: by more than the tolerance, and not by chance.

    Its median lies below 0.95, and it was slower in so many of its pairs that chance alone
    gives that to an unaffected case in at most one study of eight (5 of 6, 8 of 10, 12 of 18).
    The interval is not asked, since a loss that six noisy pairs cannot prove is a loss.

    Args:
        speedup: Of the case.
        ratios: Baseline / candidate of each of its pairs.
    """
    n, slower = len(ratios), sum(ratio < 1 for ratio in ratios)
    chance = sum(comb(n, k) for k in range(slower, n + 1)) / 2**n
    return speedup.median < SLOWER_MEDIAN and chance <= 1 / 8


def spread(times: Sequence[float]) -> float:
    """Return the standard deviation of the logs of `times` (about their CV), floored."""
    positive = [log(t) for t in times if t > 0]
    return max(NOISE_FLOOR, stdev(positive)) if len(positive) > 1 else NOISE_FLOOR


def ratio_noise(times: Sequence[float]) -> float:
    """Return the relative difference of two single runs that means nothing.

    A few times tell their spread badly, and too small an estimate lets luck lead a search: it
    is taken at the upper end, which three studies of four do not exceed (1.9 times the
    estimate of 3 times, 1.2 times that of 10; chi-squared, for log-normal times).
    """
    n = sum(t > 0 for t in times)
    caution = sqrt((n - 1) / _chi_square_quartile(n - 1)) if n > 1 else 1.0
    return min(0.5, sqrt(2) * caution * spread(times))


def _chi_square_quartile(degrees: int) -> float:
    from scipy.special import chdtri  # here: it takes long to load, and other commands wait

    return float(chdtri(degrees, 0.75))


def resolvable(cv: float, n_pairs: int = LOOKS[0]) -> float:
    """Return the smallest cut of I/O time (0.4 = 40 % less) that 6 pairs usually show.

    Their interval excludes 1 if all ratios do.  With log-normal times the log-ratio has a
    deviation of sqrt(2) cv; all n lie above 0 in two studies of three if the true log-ratio
    is Phi^-1((2/3)^(1/n)) deviations.  A CV of 0.25 gives 0.41.
    """
    deviations = NormalDist().inv_cdf((2 / 3) ** (1 / n_pairs))
    return 1 - exp(-deviations * sqrt(2) * cv)


def pairs_needed(cv: float, cut: float) -> int:
    """Return about how many pairs show a cut of I/O time (0.1 = 10 %) as often.

    From the large-sample deviation of a median, sqrt(pi / 2n) times that of one log-ratio.
    """
    one = sqrt(pi / 2) * sqrt(2) * cv
    return max(LOOKS[0], ceil(((1.96 + 0.43) * one / -log(1 - cut)) ** 2))


def resolution_text(cv: float, what: str = "the baseline's I/O time", runs_each: int = 2) -> str:
    """Say in plain words what the spread of the baseline lets a study see.

    Args:
        cv: The spread of single runs, or of rounds over several cases.
        what: Whose spread it is.
        runs_each: Runs that a pair takes, over all cases.
    """
    seen = resolvable(cv)
    text = (
        f"{what} varies by {100 * cv:.0f} % from run to run: {LOOKS[0]} pairs "
        f"usually show a cut of {100 * seen:.0f} % or more"
    )
    if seen > 0.1:
        runs = _rounded(runs_each * pairs_needed(cv, 0.1))
        text += f"; a cut of 10 % takes about {runs} runs to see"
    return text


def _rounded(number: int) -> int:
    """Keep two digits: more would claim to be known."""
    return int(float(f"{number:.2g}"))
