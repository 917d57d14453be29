# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes speed-ups from pairs of runs, how sure they are, and what could be detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, exp, isfinite, log, nan, pi, sqrt
from statistics import NormalDist, fmean, median, stdev

from stripewise.core import Speedup

CONFIDENCE = 0.95
LOOKS = (4, 5, 6, 8, 10, 13, 18)
"""Numbers of pairs after which the interval is looked at; fixed before the first pair."""
LOOK_ALPHA = 0.012
"""Two-sided level of one look.

Seven looks at this level miss the true ratio in less than 5 % of the studies, all looks
together: 2 % where candidate and baseline vary alike, under 5 % where the candidate varies twice
as much (simulated: coefficients of variation 0.03 to 0.5, normal, heavy and two-humped noise,
drift; `tests/study/test_coverage.py`).
"""
METHOD = "group-sequential Student t of log-ratios, no narrower than the baseline's noise"
NOISY = 0.25
"""If no smaller cut can be seen, a study says what would show more."""
HOPELESS = 0.9
"""If 6 pairs do not even show this cut (10x) a study ends before its search."""
NOISE_FLOOR = 0.02
"""No study takes itself for more precise than this."""


@dataclass(frozen=True)
class Noise:
    """How much single runs of the unchanged program vary.

    Attributes:
        spread: Deviation of the logs of their times, from the mean distance to the median: one
            run that stalled must not hide what the pairs show.
        n_runs: How many runs it is known from.
    """

    spread: float
    n_runs: int

    @classmethod
    def of(cls, times: Sequence[float]) -> Noise:
        """Return the noise of single runs, from their times in seconds."""
        logs = [log(t) for t in times if t > 0]
        if len(logs) < 2:
            return NO_NOISE
        distance = sum(abs(x - median(logs)) for x in logs) / (len(logs) - 1)
        return cls(sqrt(pi / 2) * distance, len(logs))


NO_NOISE = Noise(0.0, 0)
"""Where no runs of the baseline are known apart from the pairs."""


def speedup_of(pairs: Sequence[tuple[float, float]], noise: Noise = NO_NOISE) -> Speedup:
    """Return the median ratio first / second with its interval.

    The interval is that of a group-sequential test: it may be looked at after each number of
    pairs in `LOOKS`.  The deviation of one log-ratio is taken from the pairs or from the runs of
    the baseline, whichever is larger: four pairs that happen to agree prove nothing on a noisy
    machine.

    Args:
        pairs: (baseline, candidate) times in seconds, both positive.
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
    """Return half of the interval of the mean of log-ratios."""
    n, floor = len(logs), sqrt(2) * noise.spread
    own = max(stdev(logs), NOISE_FLOOR)
    degrees = n - 1 + (noise.n_runs - 1 if floor > own else 0)
    return t_quantile(degrees) * max(own, floor) / sqrt(n)


def t_quantile(degrees: int) -> float:
    """Return Student's t at the level of one look; of at least three degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(max(degrees, 3), 1 - LOOK_ALPHA / 2))


def is_futile(logs: Sequence[float], noise: Noise) -> bool:
    """Return whether more pairs would hardly show an improvement.

    The mean of the log-ratios, taken one standard error better than it is, would not do at the
    last look.  Stopping early for this reason cannot make a false improvement.
    """
    n = len(logs)
    if n < 2:
        return False
    deviation = max(stdev(logs), sqrt(2) * noise.spread, NOISE_FLOOR)
    needed = t_quantile(LOOKS[-1] + noise.n_runs) * deviation / sqrt(LOOKS[-1])
    return fmean(logs) + deviation / sqrt(n) < needed


def excludes_one(speedup: Speedup) -> bool:
    """Return whether the interval shows an improvement: it lies above 1."""
    return isfinite(speedup.low) and speedup.low > 1


def clearly_worse(speedup: Speedup) -> bool:
    """Return whether a whole time got worse: interval below 1, or median below 0.95.

    The second half guards against a loss that a few noisy pairs cannot prove.
    """
    return speedup.high < 1 or speedup.median < 0.95


SLOWER_MEDIAN = 0.95
"""Tolerance for a case of several: up to 5 % slower is not counted against a configuration."""


def got_slower(speedup: Speedup, ratios: Sequence[float]) -> bool:
    """Return whether one case of several got slower, by more than the tolerance and not by chance.

    Its median lies below 0.95, and it was slower in so many of its pairs that chance alone
    gives that to an unaffected case in at most one study of eight (4 of 4, 5 of 6, 8 of 10).
    The interval is not asked, since a loss that a few noisy pairs cannot prove is a loss.

    Args:
        speedup: Speedup of the case.
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
    """Return the lower quartile: exact for one degree of freedom, else within 2 %.

    Source: Wilson and Hilferty, PNAS 17 (1931) 684.
    """
    if degrees == 1:
        return NormalDist().inv_cdf(0.625) ** 2
    part = 2 / (9 * degrees)
    return degrees * (1 - part + NormalDist().inv_cdf(0.25) * sqrt(part)) ** 3


def resolvable(cv: float, n_pairs: int = LOOKS[-1]) -> float:
    """Return the smallest cut of I/O time (0.4 = 40 % less) that so many pairs usually show.

    With log-normal times the log-ratio has a deviation of sqrt(2) cv; "usually" is in two studies
    of three.  A CV of 0.25 gives 0.23 with 18 pairs.
    """
    usually = NormalDist().inv_cdf(2 / 3)
    return 1 - exp(-(t_quantile(n_pairs) + usually) * sqrt(2 / n_pairs) * cv)


def pairs_needed(cv: float, cut: float) -> int:
    """Return about how many pairs show a cut of I/O time (0.1 = 10 %) as often."""
    usually = NormalDist().inv_cdf(2 / 3)
    deviations = (t_quantile(LOOKS[-1]) + usually) * sqrt(2) * cv / -log(1 - cut)
    return max(LOOKS[0], ceil(deviations**2))


def resolution_text(cv: float, what: str = "the baseline's I/O time", runs_each: int = 2) -> str:
    """Say in plain words what the spread of the baseline lets a study see.

    Args:
        cv: The spread of single runs, or of rounds over several cases.
        what: Whose spread it is.
        runs_each: Runs that a pair takes, over all cases.
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
    """Say that a study can show nothing at such a spread, and what would help; "" if it can."""
    seen = resolvable(cv, 6)
    if seen < HOPELESS:
        return ""
    return (
        f"the I/O time varies by {100 * cv:.0f} % from run to run, so that not even a gain of "
        f"{1 / (1 - HOPELESS):.0f}x could be detected; tune a run with more I/O (more steps, "
        "larger files), or on a quieter machine"
    )


def _rounded(number: int) -> int:
    """Keep two digits: more would claim to be known."""
    return int(float(f"{number:.2g}"))
