# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables for series of files: made of a model, read for the storage and MPI at hand, checked."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import PatternSummary, ProgramFacts, SeriesRule, Striping
from stripewise.core.errors import StorageError
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.adoption import (
    SeriesTable,
    make_tables,
    read_table,
    save_table,
    series_rules,
)
from stripewise.learning.performance import Ground, Model, Range, Term
from stripewise.settings import Policy
from stripewise.storage.machines import find_mount

RULE = SeriesRule(True, True, True, (2, 4), (1, 1 << 30), (1, 4096), {"cb_nodes": 2})
MPICH = ["mpiexec.hydra", "-n", "4", "./program"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("STRIPEWISE_SITE_MODELS", raising=False)
    monkeypatch.setattr("stripewise.run.runtime._mpi.launcher_family", lambda launcher: "mpich")
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
    return tmp_path / "models"


def table(directory: Path, *rules: SeriesRule, family: str = "mpich") -> SeriesTable:
    return SeriesTable(Ground(find_mount(directory).kind, "", "romio"), family, 1e9, rules)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    kept = table(tmp_path, RULE)
    assert read_table(save_table(kept)) == kept
    assert series_rules(MPICH, tmp_path) == ((RULE,), ())


def test_tables_of_another_mpi_or_storage_do_not_count(tmp_path: Path) -> None:
    save_table(table(tmp_path, RULE, family="openmpi"))
    save_table(replace(table(tmp_path, RULE), ground=Ground("hopper@1/16", "0123456789abcdef")))
    assert series_rules(MPICH, tmp_path) == ((), ())


@pytest.mark.parametrize(
    "hints",
    [{"cb_nodes": 0}, {"bogus": 1}, {"ind_wr_buffer_size": "x"}],
)
def test_settings_that_are_not_set_unasked_take_all_with_them(
    tmp_path: Path, hints: dict[str, object]
) -> None:
    bad = replace(RULE, mpiio=hints)
    save_table(table(tmp_path, RULE, bad))
    rules, warnings = series_rules(MPICH, tmp_path)
    assert rules == ()
    assert len(warnings) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1}', "\x00"])
def test_damaged_tables_are_one_line_each(tmp_path: Path, home: Path, text: str) -> None:
    save_table(table(tmp_path, RULE))
    (home / "series" / "damaged.json").write_text(text)
    rules, warnings = series_rules(MPICH, tmp_path)
    assert rules == (RULE,)
    assert len(warnings) == 1
    assert "\n" not in warnings[0]


def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIPEWISE_MODELS", "/proc/none")
    with pytest.raises(StorageError, match="cannot keep tables"):
        save_table(table(tmp_path, RULE))
    assert series_rules(MPICH, tmp_path) == ((), ())


def test_a_model_is_asked_about_files_of_its_range() -> None:
    """The time is 1/a here: as many aggregators as there are ranks on each host help."""
    pattern = PatternSummary(
        True, ("*", "BLOCK"), (1, 8), (64, 4096), extents=(64, 32768), collective=1.0
    )
    facts = ProgramFacts(
        n_ranks=8,
        n_hosts=4,
        mpi_family="mpich",
        mpi_version="MPICH 4",
        mpiio_implementation="romio",
        patterns=(pattern,),
        write_bytes=1 << 21,
        collective_bytes=1 << 21,
        noncontiguous=True,
        shared_files=1,
        filesystem="ext4",
        striping=Striping(4),
    )
    ranges = {"f": Range(0.001, 0.1), "ranks": Range(8, 8), "nodes": Range(4, 4)}
    ranges |= {"block": Range(1, 1e9), "piece": Range(1024, 65536), "a": Range(1, 8)}
    ranges |= {"c": Range(1, 64), "s": Range(0.01, 64)}
    ground = Ground("ext4", "", "romio")
    model = Model(
        ground,
        PatternClass("write", "collective", "interleaved"),
        "regression",
        terms=(Term({"a": -1}, 1.0),),
        tunables=("mpiio.cb_nodes",),
        ranges=ranges,
    )
    (made,) = make_tables([model], [(ground, facts)], Policy())
    assert made.ground == ground
    assert {rule.kind for rule in made.rules} == {"write-collective-interleaved"}
    assert all("cb_nodes" in rule.mpiio for rule in made.rules)
    low = min(rule.size_bytes[0] for rule in made.rules)
    assert 900_000 < low < 1_000_000  # a header more or less
    sizes = sorted({rule.size_bytes for rule in made.rules})
    assert all(one[1] + 1 == other[0] for one, other in itertools.pairwise(sizes))
    assert json.loads(save_table(made).read_text())["version"] == 1
