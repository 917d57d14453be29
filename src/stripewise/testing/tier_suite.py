# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contains the conformance suite for storage tiers; subclass it with a tier and a request.

class TestMine(TierSuite):
    tier_name = "mine"
    request = TierRequest(nodes=4)
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core.errors import StorageError, UsageError
from stripewise.run.tiers import StoragePool, Tier, TierRequest, find_tier, tier_names

_GIB = 1 << 30
GRANULARITIES = (1, 4096, 1 << 20, _GIB, 3 * _GIB // 2, 20 * _GIB, 174416 << 20, 21_625_159_352)
"""Granularities in bytes per node: of tests, small sites, and DataWarp at three centres."""
_NONSENSE: tuple[list[list[str]], ...] = (
    [],
    [[]],
    [["#DW"]],
    [["#DW", "jobdw"]],
    [["#DW", "jobdw", "type=scratch", "capacity=lots"]],
    [["#DW", "jobdw", "type=lustre", "capacity=-1", "name="]],
    [["#DW", "stage_in", "=", "x=="]],
    [["#DW", "persistentdw"]],
    [["#BB_LUA"], ["#BB_LUA", "capacity=\u2028"]],
)


def some_pool(
    granularity_bytes: int = 20 * _GIB, *, nodes: int = 268, free: int = 268
) -> StoragePool:
    """Return a pool with a number of nodes."""
    grain = granularity_bytes
    return StoragePool("wlm_pool", grain, nodes * grain, free * grain)


def words_of(lines: tuple[str, ...]) -> list[list[str]]:
    """Return the words of each line of a job script."""
    return [line.split() for line in lines]


class TierSuite:
    """Conformance suite; set `tier_name` and `request`, or override `make`."""

    tier_name: str
    request: TierRequest

    def make(self) -> Tier:
        """Return the tier."""
        return find_tier(self.tier_name)

    def test_has_a_name_and_a_summary(self) -> None:
        """The tier is registered by its name and has a one-line summary."""
        assert self.make().name in tier_names()
        assert self.make().summary
        assert "\n" not in self.make().summary

    @pytest.mark.parametrize("granularity_bytes", GRANULARITIES)
    def test_a_capacity_gives_exactly_its_nodes(self, granularity_bytes: int) -> None:
        """The capacity for N nodes allocates N nodes, for every granularity."""
        pool = some_pool(granularity_bytes)
        for nodes in (1, 2, 3, 4, 7, 64, 268):
            got = self.make().nodes_of(self.make().capacity_bytes(nodes, pool), pool)
            assert got == (nodes if self.make().sized else 0)

    def test_its_request_can_be_met(self) -> None:
        """The sample request passes the checks with an existing pool."""
        pool = self.make().check(self.request, [some_pool()])
        assert pool == (some_pool() if self.make().sized else None)

    def test_its_lines_are_comments_of_a_job_script(self) -> None:
        """Each line is a comment for a shell and a directive for a batch system."""
        for line in self._lines():
            assert line.startswith(self.make().markers or ("#",))
            assert "\n" not in line
            assert not re.search(r"[{}]", line)

    def test_its_lines_read_back(self) -> None:
        """Parsing the lines gives the original request."""
        read = self.make().read(words_of(self._lines()))
        if not self.make().markers:
            assert read is None
            return
        assert read is not None
        assert self.make().nodes_of(read.capacity_bytes, some_pool()) == self.request.nodes
        again = replace(read, nodes=self.request.nodes, variable=self.request.variable)
        assert self.make().directives(again, some_pool()) == self._lines()

    def test_the_directory_is_in_a_variable_or_said(self) -> None:
        """A variable is a valid shell name and is at the start of the directory."""
        variable = self.make().directory_variable(self.request)
        assert re.fullmatch(r"[A-Za-z_]\w*|", variable)
        if variable:
            assert self.make().directory_text(self.request).startswith(f"${{{variable}}}")

    def test_other_lines_of_a_script_stay(self) -> None:
        """Other lines of a script are kept unchanged."""
        if self.tier_name != "none":
            request = replace(self.request, kept=("#DW swap 32GiB",))
            assert self.make().directives(request, some_pool())[-1] == "#DW swap 32GiB"

    def test_an_unknown_pool_is_refused_with_those_there_are(self) -> None:
        """An unknown pool is refused with a message that lists the existing ones."""
        if self.make().sized:
            with pytest.raises(UsageError, match="there are wlm_pool"):
                self.make().check(replace(self.request, pool="other"), [some_pool()])

    def test_too_many_nodes_are_refused(self) -> None:
        """More nodes than exist can never be requested, more than are free not at the moment."""
        if self.make().sized:
            many = replace(self.request, nodes=300)
            with pytest.raises(UsageError, match="which has 268"):
                self.make().check(many, [some_pool()])
            with pytest.raises(StorageError, match=r"280 of 400 are free \(120 drained\)"):
                self.make().check(many, [some_pool(nodes=400, free=280)])

    @pytest.mark.parametrize(
        "path", ["/a b", "/a\nb", "/a'b", '/a"b', "/a$b", "/a\\b", "/a\u202eb", "relative"]
    )
    def test_paths_that_lines_cannot_hold_are_refused(self, path: str) -> None:
        """A path cannot add a word or a line to a directive."""
        if self.make().markers:
            with pytest.raises(UsageError) as caught:
                self.make().check(replace(self.request, stage_out=Path(path)), [some_pool()])
            assert "\n" not in str(caught.value)

    def test_a_missing_directory_is_refused(self, tmp_path: Path) -> None:
        """A missing directory is refused before the job is queued."""
        if self.make().markers:
            request = replace(self.request, stage_in=tmp_path / "nowhere")
            with pytest.raises(UsageError, match="no such directory"):
                self.make().check(request, [some_pool()])

    def test_nonsense_is_one_line_or_nothing(self) -> None:
        """Nonsense in a script gives a one-line error or nothing."""
        for words in _NONSENSE:
            message = ""
            try:
                self.make().read(words)
            except UsageError as error:
                message = str(error)
            assert "\n" not in message

    def _lines(self) -> tuple[str, ...]:
        pool = self.make().check(self.request, [some_pool()])
        return self.make().directives(self.request, pool)
