# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes speed-ups from pairs of runs, their intervals, and what could be detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, exp, isfinite, log, nan, pi, sqrt
from statistics import NormalDist, fmean, median, stdev

from stripewise.core import Speedup

CONFIDENCE = 0.95
LOOKS = (4, 5, 6, 8, 10, 13, 18)
"""Numbers of pairs after which the interval is evaluated; fixed before the first pair."""
LOOK_ALPHA = 0.012
"""Two-sided level of one look.

Seven looks at this level together miss the true ratio in less than 5 % of the studies: in 2 % if
candidate and baseline vary equally, in less than 5 % if the candidate varies twice as much
(simulated: coefficients of variation 0.03 to 0.5; normal, heavy-tailed and bimodal noise; drift;
`tests/study/test_coverage.py`).

"""
METHOD = "group-sequential Student t of log-ratios, no narrower than the baseline's noise"
NOISY = 0.25
"""Smallest detectable cut from which on a study recommends how to detect smaller ones."""
HOPELESS = 0.9
"""Cut (10x) that 6 pairs must be able to show; otherwise a study ends before its search."""
NOISE_FLOOR = 0.02
"""Least noise: no study is considered more precise than this."""


@dataclass(frozen=True)
class Noise:
    """Variation of single runs of the unchanged program.

    Attributes:
        spread: Deviation of the logs of their times, from the mean distance to the median: one
            run that stalled must not hide what the pairs show.
        n_runs: Number of runs from which it was estimated.
    """

    spread: float
    n_runs: int

    @classmethod
    def of(cls, times: Sequence[float]) -> Noise:
        """Return the noise of single runs, given their times in seconds."""
        logs = [log(t) for t in times if t > 0]
        if len(logs) < 2:
            return NO_NOISE
        distance = sum(abs(x - median(logs)) for x in logs) / (len(logs) - 1)
        return cls(sqrt(pi / 2) * distance, len(logs))


NO_NOISE = Noise(0.0, 0)
"""Noise if no runs of the baseline are known apart from the pairs."""


def speedup_of(pairs: Sequence[tuple[float, float]], noise: Noise = NO_NOISE) -> Speedup:
    """Return the median ratio first / second with its interval.

    The interval is that of a group-sequential test: it may be evaluated after each number of
    pairs in `LOOKS`.  The deviation of one log-ratio is estimated from the pairs and from the
    runs of the baseline, and the larger one is used: four pairs that agree by chance prove
    nothing on a noisy machine.

    Args:
        pairs: Times (baseline, candidate) in seconds, all positive.
        noise: Noise of single runs of the baseline, fixed before the first pair.

    Returns:
        The speed-up; its bounds are NaN with fewer than 4 pairs.
    """
    logs = [log(first / second) for first, second in pairs]
    if not logs:
        return Speedup(nan, nan, nan, 0, CONFIDENCE, METHOD)
    low = high = nan
    if len(logs) >= LOOKS[0]:
        half = half_width(logs, noise)
        low, high = exp(fmean(logs) - half), exp(fmean(logs) + half)
    return Speedup(exp(median(logs)), low, high, len(logs), CONFIDENCE, METHOD)


def half_width(logs: Sequence[float], noise: Noise) -> float:
    """Return half of the width of the interval of the mean of log-ratios."""
    n, floor = len(logs), sqrt(2) * noise.spread
    own = max(stdev(logs), NOISE_FLOOR)
    degrees = n - 1 + (noise.n_runs - 1 if floor > own else 0)
    return t_quantile(degrees) * max(own, floor) / sqrt(n)


def t_quantile(degrees: int) -> float:
    """Return the quantile of Student's t at the level of one look, for at least 3 degrees."""
    from scipy.special import stdtrit

    return float(stdtrit(max(degrees, 3), 1 - LOOK_ALPHA / 2))


def is_futile(logs: Sequence[float], noise: Noise) -> bool:
    """Return whether more pairs are unlikely to show an improvement.

    That is so if the mean log-ratio, improved by one standard error, would not suffice at the
    last look.  Stopping early for this reason cannot produce a false improvement.
    """
    n = len(logs)
    if n < 2:
        return False
    deviation = max(stdev(logs), sqrt(2) * noise.spread, NOISE_FLOOR)
    needed = t_quantile(LOOKS[-1] + noise.n_runs) * deviation / sqrt(LOOKS[-1])
    return fmean(logs) + deviation / sqrt(n) < needed


def excludes_one(speedup: Speedup) -> bool:
    """Return whether the interval shows an improvement, that is, lies above 1."""
    return isfinite(speedup.low) and speedup.low > 1


def clearly_worse(speedup: Speedup) -> bool:
    """Return whether an elapsed time got worse: interval below 1, or median below 0.95.

    The second half guards against a loss that a few noisy pairs cannot prove.
    """
    return speedup.high < 1 or speedup.median < 0.95


SLOWER_MEDIAN = 0.95
"""Tolerance for one of several cases: up to 5 % slower does not count against it."""


def got_slower(speedup: Speedup, ratios: Sequence[float]) -> bool:
    """Return whether one case of several got slower, beyond the tolerance and not by chance.

    Its median is below 0.95, and it was slower in so many of its pairs that this happens to an
    unaffected case in at most one study of eight (4 of 4, 5 of 6, 8 of 10).  The interval is not
    used, because a loss that a few noisy pairs cannot prove still counts.

    Args:
        speedup: Speed-up of the case.
        ratios: Baseline / candidate of each of its pairs.
    """
    n, slower = len(ratios), sum(ratio < 1 for ratio in ratios)
    chance = sum(comb(n, k) for k in range(slower, n + 1)) / 2**n
    return speedup.median < SLOWER_MEDIAN and chance <= 1 / 8


def spread(times: Sequence[float]) -> float:
    """Return the standard deviation of the logs of `times` (about their CV), with a minimum."""
    positive = [log(t) for t in times if t > 0]
    return max(NOISE_FLOOR, stdev(positive)) if len(positive) > 1 else NOISE_FLOOR


def ratio_noise(times: Sequence[float]) -> float:
    """Return the relative difference of two single runs that is within the noise.

    A few times give a poor estimate of their spread, and an underestimate lets chance lead a
    search.  Therefore the upper end is used, which three studies of four do not exceed (1.9 times
    the estimate of 3 times, 1.2 times that of 10; chi-squared, for log-normal times).
    """
    n = sum(t > 0 for t in times)
    caution = sqrt((n - 1) / _chi_square_quartile(n - 1)) if n > 1 else 1.0
    return min(0.5, sqrt(2) * caution * spread(times))


def _chi_square_quartile(degrees: int) -> float:
    """Return the lower quartile: exact for one degree of freedom, otherwise within 2 %.

    Source: Wilson and Hilferty, PNAS 17 (1931) 684.
    """
    if degrees == 1:
        return NormalDist().inv_cdf(0.625) ** 2
    part = 2 / (9 * degrees)
    return degrees * (1 - part + NormalDist().inv_cdf(0.25) * sqrt(part)) ** 3


def resolvable(cv: float, n_pairs: int = LOOKS[-1]) -> float:
    """Return the smallest cut of I/O time (0.4 = 40 % less) that a number of pairs can show.

    With log-normal times the log-ratio has a deviation of sqrt(2) cv; the cut is shown in two
    studies of three.  A CV of 0.25 gives 0.23 with 18 pairs.
    """
    usually = NormalDist().inv_cdf(2 / 3)
    return 1 - exp(-(t_quantile(n_pairs) + usually) * sqrt(2 / n_pairs) * cv)


def pairs_needed(cv: float, cut: float) -> int:
    """Return the approximate number of pairs that show a cut of I/O time (0.1 = 10 %)."""
    usually = NormalDist().inv_cdf(2 / 3)
    deviations = (t_quantile(LOOKS[-1]) + usually) * sqrt(2) * cv / -log(1 - cut)
    return max(LOOKS[0], ceil(deviations**2))


def resolution_text(cv: float, what: str = "the baseline's I/O time", runs_each: int = 2) -> str:
    """Return a text on what can be detected with the spread of the baseline.

    Args:
        cv: Spread of single runs, or of rounds over several cases.
        what: Name of what has this spread.
        runs_each: Number of runs of a pair, over all cases.
    """
    seen = resolvable(cv)
    text = (
        f"{what} varies by {100 * cv:.0f} % from run to run: a study can detect a cut of "
        f"{100 * seen:.0f} % or more"
    )
    if seen > 0.1:
        runs = _rounded(runs_each * pairs_needed(cv, 0.1))
        text += f"; detecting 10 % takes about {runs} runs"
    if seen > NOISY:
        text += ". A run with more I/O (more steps, larger files) or a quieter machine helps"
    return text


def hopeless_text(cv: float) -> str:
    """Return why a study is hopeless at such a spread, and the remedy; empty if it is not."""
    seen = resolvable(cv, 6)
    if seen < HOPELESS:
        return ""
    return (
        f"the I/O time varies by {100 * cv:.0f} % from run to run, so that not even a gain of "
        f"{1 / (1 - HOPELESS):.0f}x could be detected; tune a run with more I/O (more steps, "
        "larger files), or on a quieter machine"
    )


def _rounded(number: int) -> int:
    """Round to two digits: more would suggest a precision that is not there."""
    return int(float(f"{number:.2g}"))
