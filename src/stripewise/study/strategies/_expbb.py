# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Searches like ExPBB: loops over the parameters on each rung of burst-buffer nodes.

Source: Markomanolis (KAUST), "ExPBB: A framework to explore the performance of Burst Buffer",
Cray User Group 2017.  docs/design/strategies.md has the rules, and the differences here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from math import inf

from stripewise.core import ProgramFacts, Proposal, Trial, Value
from stripewise.present import plural, printable
from stripewise.settings.tunables import (
    Dimension,
    PointKey,
    Space,
    is_valid,
    key_of,
    settings_text,
)
from stripewise.study.strategies._base import Batch, Steps, StepwiseStrategy, StrategyOption
from stripewise.study.strategies._burst_buffer import (
    FILES,
    NODES,
    RANKS,
    Change,
    Defaults,
    Ladders,
    change_text,
    dimensions_by_name,
    node_rungs,
    on_nodes,
    with_powers_of_two,
)
from stripewise.study.strategies._rules import PerClass
from stripewise.study.strategies._studied_file import (
    LEAST_COST,
    SMALL_BYTES,
    Score,
    SmallFile,
    StudiedFile,
    TrialComparison,
    costly_small_file,
    large_file_globs,
)

Settings = Mapping[str, Value]
Trying = Generator[Batch, list[Trial], Score]
Walk = Generator[Batch, list[Trial], Score | None]
Asking = Generator[Batch, list[Trial], bool]
Ladder = Generator[Batch, list[Trial], str]
_CALLS_GREW = 0.75
"""Part of the factor by which the unit fell from which on more system calls are its effect."""


class ExpbbStrategy(StepwiseStrategy):
    """Doubles the burst-buffer nodes; on each rung varies one parameter after another.

    Points are compared with the best so far, by the studied file and by the whole run.
    """

    name = "expbb"
    summary = "burst-buffer nodes, aggregators, striping unit and buffer, by the rules of ExPBB"
    declared = (
        StrategyOption(
            "tolerance", 0.05, "smallest relative difference of two times that counts", maximum=1
        ),
        StrategyOption(
            "small_bytes", SMALL_BYTES, "largest size of a small file, bytes", minimum=1,
            maximum=1e15,
        ),
        StrategyOption(
            "small_cost", LEAST_COST,
            "share of the run above which a small file shared by all ranks is costly", maximum=1,
        ),
    )  # fmt: skip
    climbs_nodes = True
    tunes_classes = True

    @classmethod
    def refine(cls, space: Space, facts: ProgramFacts) -> Space:
        """Return the space with powers of two for a burst buffer."""
        return with_powers_of_two(space, facts)

    def begin(self) -> None:
        """Determine the rungs; only the baseline is known so far."""
        super().begin()
        self._studied = StudiedFile(self.number("tolerance"), int(self.number("small_bytes")))
        self._best: Score | None = None
        self._least_run = inf
        self._because = ""
        self._seen: dict[PointKey, Score] = {}
        self._classes = PerClass(self.facts.file_classes)
        dimensions = {
            name: one for name, one in dimensions_by_name(self.space).items() if self._acts(one)
        }
        self._ladders = Ladders(dimensions, self.facts)
        self._files = dimensions.get(FILES)
        self._zero = NODES in dimensions and 0 in dimensions[NODES].values
        self._rungs = node_rungs(self.space, self.facts)
        self._defaults = Defaults.of(None, self.facts)
        self._place = 0
        self._hybrid = ""
        self._hybrid_fails = False
        self._skipped: list[Callable[[], Walk]] = []

    def _acts(self, dimension: Dimension) -> bool:
        """Return whether a tunable has an effect without others that ExPBB does not vary."""
        if not dimension.tunable.requires(self.facts):
            return True
        name, values = dimension.tunable.name, dimension.values
        return any(is_valid({name: value}, self.facts) for value in values)

    @property
    def least_patience(self) -> float:
        """Number of all points: its rules end it, as the least nodes may be slow for long."""
        values = sum(len(dimension.values) for dimension in self.space.dimensions)
        return len(self._rungs) * (values + 2) + values

    def steps(self) -> Steps:
        """Climb the ladder of nodes; then run the loops left out; then each class of files."""
        for trial in self.primed:
            self._learn(trial)
        if self._zero:
            yield from self._try({NODES: 0}, "baseline on the parallel file system")
        ended = ""
        for place, nodes in enumerate(self._rungs):
            self._place = place
            ended = yield from self._rung(nodes)
            if ended:
                break
        yield from self._hybrid_of_kept()
        yield from self._left_out()
        yield from self._compose()
        return f"{ended or self._all_rungs()}; {self._kept()}"

    def _try(self, settings: Settings, reason: str) -> Trying:
        """Run a point unless it was already run."""
        key = key_of(settings)
        if not settings:
            return self._default_score()
        if key not in self._seen:
            if not is_valid(settings, self.facts):
                why = "these settings cannot act together"
                return Score(dict(settings), inf, inf, failure=why)
            (trial,) = yield [Proposal(dict(settings), reason)]
            self._learn(trial)
        return self._seen[key]

    def _default_score(self) -> Score:
        """Return the score of the default, which is never proposed."""
        return self._studied.baseline(self.baseline)

    def _learn(self, trial: Trial) -> None:
        score = self._seen[key_of(trial.settings)] = self._studied.score(trial)
        if not score.is_failed:
            self._classes.learn(trial, self.noise)

    def _judge(self, score: Score) -> TrialComparison:
        self._studied.tolerance = self._tolerance
        if self._best is None and not score.is_failed:
            return TrialComparison.FASTER
        return self._studied.judge(score, self._best or self._default_score(), self._least_run)

    def _is_better(self, score: Score) -> bool:
        """Return whether the studied file is faster, or equally fast in a shorter run."""
        best = self._best or self._default_score()
        is_faster = self._judge(score) is TrialComparison.FASTER
        return is_faster or self._studied.shortens_run(score, best, self._least_run)

    def _keep(self, score: Score, because: str = "") -> None:
        self._best, self._because = score, because
        self._least_run = min(self._least_run, score.run_ratio)

    @property
    def _tolerance(self) -> float:
        return max(self.number("tolerance"), self.noise)

    @property
    def _settings(self) -> Settings:
        return self._best.settings if self._best is not None else {}

    @property
    def _nodes(self) -> int:
        nodes = self._settings.get(NODES, self.facts.burst_buffer_nodes)
        return nodes if isinstance(nodes, int) else 0

    def _hybrid_of_kept(self) -> Walk:
        """Try a hybrid run on the rung that was kept, even if one failed on another rung."""
        best = self._best
        is_known = best is None or FILES in best.settings or self._hybrid_fails
        if best is None or is_known or self._nodes not in self._rungs:
            return None
        self._place, self._hybrid = self._rungs.index(self._nodes), ""
        if self._costly(best) is not None:
            yield from self._try_hybrid(best, "rule 7")
        return None

    def _left_out(self) -> Walk:
        """Run the loops that rule 4 skipped, on the rung that was kept."""
        skipped, self._skipped = self._skipped, []
        if self._nodes in self._rungs:
            self._place = self._rungs.index(self._nodes)
        if skipped:
            self._because += "; now comes what rule 4 left out"
        for loop in skipped:
            yield from loop()
        return None

    def _compose(self) -> Walk:
        """Combine the best settings of each class of files; the slides' hints name files too."""
        point = self._classes.compose(dict(self._settings), self.noise)
        if point is None or self._best is None:
            return None
        reason = f"each class of files as in the trial that was best for it; {self._before}"
        score = yield from self._try(point, reason)
        if self._is_better(score):
            self._keep(score)
        return score

    def _rung(self, nodes: int) -> Ladder:
        """Try a number of nodes with the best settings so far, then the loops on it.

        Returns:
            Why the ladder ends; empty if it continues.
        """
        before = self._best
        start = dict(on_nodes(nodes, self.facts))
        if before is not None:
            start = {**{n: v for n, v in before.settings.items() if n != NODES}, **start}
        score = yield from self._try(start, self._rung_reason(before))
        if score.is_failed:
            why = self._studied.change(before or self._default_score(), score)
            self._because = why
            goes_on = before is None or score.is_lost
            return "" if goes_on else f"rule 6: {self._where()}: {why}"
        if before is None:
            yield from self._first(score)
            yield from self._loops()
            return ""
        return (yield from self._more_nodes(before, score))

    def _first(self, score: Score) -> Asking:
        """Start from the defaults on the least nodes, which may already need a hybrid run."""
        self._keep(score)
        self._defaults = Defaults.of(self._studied.example(score), self.facts, self._nodes)
        change = self._studied.change(self._default_score(), score)
        self._because = f"{change}: the parallel file system and the burst buffer by default"
        if not score.settings or score.run_ratio <= 1 + self._tolerance:
            return False
        return (yield from self._try_hybrid(score, "rule 5"))

    def _more_nodes(self, before: Score, score: Score) -> Ladder:
        """Decide by a rung's first trial: loops, a hybrid run, or the end of the ladder."""
        verdict = self._judge(score)
        change = self._studied.change(before, score)
        if verdict is TrialComparison.FASTER:
            self._keep(score, f"{change}: both faster on more nodes (rules 1 and 2)")
        elif verdict in (TrialComparison.SLOWER, TrialComparison.IO_ONLY):
            rule = "rule 3" if verdict is TrialComparison.IO_ONLY else "rule 5"
            self._because = f"{change}: {verdict}"
            if not (yield from self._try_hybrid(score, rule)):
                return f"rule 6: {self._where()}: {self._because}"
        else:
            self._because = f"{change}: not faster by more than {self._tolerance:.0%}"
            yield from self._aggregators()
            if self._best is before and self._may_be_faster(score, self._studied.io(before)):
                self._because = f"{change}: faster by less than the noise of {self.noise:.0%}"
                return ""
        if self._best is before:
            return f"rule 6: {self._where()}: {change}: {verdict}; more nodes bring too little"
        yield from self._loops()
        return ""

    def _may_be_faster(self, score: Score, io: float) -> bool:
        """Return whether a gain above the tolerance may be hidden only by noise."""
        return self._studied.io(score) < io * (1 - self.number("tolerance"))

    def _loops(self) -> Walk:
        """Vary one parameter after another; leave the rung if the rule of the unit says so."""
        self._skipped = []
        yield from self._aggregators()
        if (yield from self._units()):
            self._skipped = [self._buffers, self._resources]
            return None
        yield from self._buffers()
        yield from self._resources()
        return None

    def _aggregators(self) -> Walk:
        changes = self._ladders.aggregators(self._settings, self._defaults, self._nodes)
        return (yield from self._walk(changes))

    def _units(self) -> Asking:
        """Halve the striping unit; return whether to leave the rung by rule 4."""
        now, changes = self._ladders.units(self._settings, self._defaults.unit)
        base = self._best
        last = yield from self._walk(changes)
        if last is None or base is None or self._best is None or last is self._best:
            return False
        before = self._ladders.units(self._best.settings, self._defaults.unit)[0]
        unit = self._ladders.units(last.settings, now)[0]
        grown = last.calls / self._best.calls if self._best.calls else 0.0
        is_slower = self._judge(last) is TrialComparison.SLOWER
        if not is_slower or grown < _CALLS_GREW * before / unit:
            return False
        self._because = (
            f"{self._studied.change(self._best, last)}: slower, and {self._best.calls} system "
            f"calls became {last.calls}: smaller units end, next rung (rule 4)"
        )
        return True

    def _buffers(self) -> Walk:
        """Double the buffer from an eighth of the default on, as long as it improves."""
        previous: Score | None = None
        below = self._ladders.small_buffers(self._settings, self._defaults)
        for change in below:
            score = yield from self._step(change)
            if score.is_lost:
                continue
            limit = inf if previous is None else self._studied.io(previous)
            if score.is_failed or self._studied.io(score) > limit * (1 + self._tolerance):
                break
            previous = score
        if below and any(change.items() <= self._settings.items() for change in below[:-1]):
            return previous
        return (yield from self._walk(self._ladders.large_buffers(self._settings, self._defaults)))

    def _resources(self) -> Walk:
        for changes in self._ladders.resources().values():
            yield from self._walk(
                [change for change in changes if not change.items() <= self._settings.items()],
                by_run=True,
            )
        return None

    def _walk(self, changes: Sequence[Change], *, by_run: bool = False) -> Walk:
        """Try changes of the best point as long as each is kept; return the last trial.

        A difference within the tolerance, or a lost run, decides nothing: one more value is tried
        then.  Gains hidden only by noise are not counted as such: several of them together may
        become visible.
        """
        score, patience, least = None, 1, inf
        for change in changes:
            before = self._best
            score = yield from self._step(change, by_run=by_run)
            if before is None or score is self._best:
                continue
            verdict = self._judge(score)
            if self._best is not before or verdict not in (
                TrialComparison.EQUAL,
                TrialComparison.UNKNOWN,
            ):
                break
            if not self._may_be_faster(score, min(least, self._studied.io(before))):
                if not patience:
                    break
                patience -= 1
            least = min(least, self._studied.io(score))
        return score

    def _step(self, change: Change, *, by_run: bool = False) -> Trying:
        """Try one change of the best point, and keep it by rules 1 and 2.

        Args:
            change: Settings to change.
            by_run: Whether a shorter run is enough if the studied file is not slower.
        """
        best = self._best or self._default_score()
        text = change_text(change, best.settings, self._defaults)
        reason = f"{self._where()}: {text}; {self._before}"
        score = yield from self._try({**best.settings, **change}, reason)
        verdict, comparison = self._judge(score), self._studied.change(best, score)
        if verdict is TrialComparison.FASTER:
            both = score.run_ratio < best.run_ratio
            how = "both faster" if both else "I/O faster, the whole run no slower"
            self._keep(score, f"{comparison}: {how}, next value (rules 1 and 2)")
        elif by_run and self._studied.shortens_run(score, best, self._least_run):
            self._keep(score, f"{comparison}: the whole run is faster, next value (rule 2)")
        elif verdict is TrialComparison.IO_ONLY:
            self._because = f"{comparison}: I/O faster, whole run slower (rule 3)"
            yield from self._try_hybrid(score, "rule 3")
        elif score.is_failed:
            self._because = comparison
        else:
            self._because = f"{comparison}: {verdict} (rule 1)"
        return score

    def _try_hybrid(self, score: Score, rule: str) -> Asking:
        """Place only large files on the burst buffer if a small one is costly; return if kept."""
        small = self._costly(score)
        if small is None:
            self._because += "; no small file that the ranks share is costly"
            return False
        globs = self._globs(score)
        if self._hybrid or not globs:
            why = "a hybrid run was tried" if self._hybrid else "no hybrid run can be tried"
            self._because += f"; {small.text}, but {why}"
            return False
        self._hybrid = globs
        text = f"hybrid, only {printable(globs)} on the burst buffer ({rule})"
        reason = f"{self._where()}: {text}: {small.text}; {self._before}"
        tried = yield from self._try({**score.settings, FILES: globs}, reason)
        self._hybrid_fails = tried.is_failed
        best = self._best or self._default_score()
        because = f"hybrid: {self._studied.change(best, tried)}"
        is_kept = self._is_better(tried)
        if is_kept:
            self._keep(tried, f"{because}: kept")
        else:
            self._because = f"{because}: not kept"
        return is_kept

    def _costly(self, score: Score) -> SmallFile | None:
        ranks = score.settings.get(RANKS, self.facts.n_ranks)
        n_ranks = ranks if isinstance(ranks, int) else self.facts.n_ranks
        return costly_small_file(
            score.run, n_ranks, int(self.number("small_bytes")), self.number("small_cost")
        )

    def _globs(self, score: Score) -> str:
        """Return the globs of files on the burst buffer in a hybrid run; may be empty."""
        if self._files is None or not score.settings.get(NODES, self.facts.burst_buffer_nodes):
            return ""
        if self._files.values:
            return str(self._files.values[0])
        return large_file_globs(score.run, int(self.number("small_bytes")))

    @property
    def _before(self) -> str:
        """Result of the previous run: a reason says what led to a trial, not its result."""
        return f"the run before: {self._because}"

    def _where(self) -> str:
        nodes = self._rungs[self._place]
        if not nodes:
            return "without a burst buffer"
        of = f"rung {self._place + 1} of {len(self._rungs)}"
        return f"{of} ({plural(nodes, 'burst-buffer node')})"

    def _rung_reason(self, before: Score | None) -> str:
        if before is None and not self._place:
            what = "baseline on the burst buffer with the least nodes and defaults"
        elif before is None:
            what = f"the burst buffer with defaults; {self._before}"
        else:
            what = f"more nodes, with the best settings so far; {self._before}"
        return f"{self._where()}: {what}"

    def _all_rungs(self) -> str:
        if self._rungs == [0]:
            return "every parameter was tried; no burst buffer was to be searched"
        if len(self._rungs) == 1:
            return f"{plural(self._rungs[0], 'burst-buffer node')}: the only rung was tried"
        return f"all {len(self._rungs)} rungs of burst-buffer nodes were tried"

    def _kept(self) -> str:
        if self._best is None:
            return f"nothing was kept: {self._because}"
        kept = settings_text(self._settings)
        text = f"kept: {kept}" if kept else "no single setting was kept"
        if self._best.io_ratio >= 1 and kept:
            text += ", which is no faster than the job as it is"
        return text
