# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from stripewise.core import PatternSummary, ProgramFacts, Striping
from stripewise.core.errors import ConfigurationError
from stripewise.storage.emulation import EmulationOptions
from stripewise.storage.machines import (
    KnownStorage,
    Mount,
    description_text,
    find_mount,
    find_storage,
)
from stripewise.storage.simulation import simulated_program
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.runs import _local_tools as local_tools
from support.study_fakes import FakeLauncher, fake_tools, lognormal

BLOCKS = PatternSummary(True, ("BLOCK", "BLOCK"), (4, 2), (512, 512), 8, 8, 1.0)
FACTS = ProgramFacts(
    n_ranks=8,
    mpi_family="mpich",
    mpi_version="MPICH Version: 4.0.2",
    mpiio_implementation="romio",
    mpiio_driver="LUSTRE",
    collective_bytes=1 << 27,
    write_bytes=1 << 27,
    write_calls=8,
    shared_files=1,
    noncontiguous=True,
    filesystem="lustre",
    striping=Striping(48, 1),
    io_seconds=4.0,
    elapsed_seconds=5.0,
    patterns=(BLOCKS,),
)


def tuned(tmp_path, facts=FACTS, ranks_per_node=8, known=None, **options):
    program = simulated_program(FACTS, find_storage("archer"), ranks_per_node)
    launcher = FakeLauncher(program.seconds, lognormal(0.05))
    tools = replace(fake_tools(launcher, facts=facts), known=known)
    given = StudyOptions(
        command=("mpiexec", "./a"), origin=tmp_path, directory=tmp_path / "s", unsynced=False,
        memory=False, **options,
    )  # fmt: skip
    return run_study(given, None, lambda _options, _ledger: tools), program


def reasons(result):
    return [decision.text for decision in result.decisions]


def test_a_described_storage_begins_the_search(tmp_path):
    result, program = tuned(tmp_path, machine="archer")
    assert "the model of archer predicts" in " ".join(reasons(result))
    assert result.improved
    first = program.seconds(result.trials[0].settings)
    assert first < program.seconds(result.winner.settings) * 1.05
    assert program.seconds(result.winner.settings) < program.seconds({}) / 1.5


def test_a_model_of_other_nodes_is_corrected(tmp_path):
    result, program = tuned(tmp_path, ranks_per_node=1, machine="archer")
    assert program.seconds(result.winner.settings) < program.seconds({}) / 3


def test_any_strategy_takes_a_storage_that_is_named(tmp_path):
    result, _ = tuned(tmp_path, machine="archer", strategy="random", trials=4)
    assert any("that the model of archer predicts" in text for text in reasons(result))


def test_auto_uses_the_storage_that_is_emulated(tmp_path):
    emulated = EmulationOptions("archer@1/4")
    result, _ = tuned(tmp_path, storage=emulated, trials=4)
    assert any("the model of archer" in text for text in reasons(result))
    other = EmulationOptions("archer@1/4")
    result, _ = tuned(tmp_path / "random", storage=other, strategy="random", trials=4)
    assert not any("the model of archer" in text for text in reasons(result))


KNOWN = KnownStorage(replace(find_storage("archer"), name="site"), Path("/etc/site.toml"))
SAID = "storage known: site (/etc/site.toml), predicted first"


def test_auto_uses_the_description_that_stands_for_the_file_system(tmp_path):
    result, _ = tuned(tmp_path, known=KNOWN, trials=4)
    assert SAID in reasons(result)
    emulated = EmulationOptions("archer@1/4")
    other, _ = tuned(tmp_path / "on", known=KNOWN, storage=emulated, trials=4)
    assert SAID not in reasons(other)
    named, _ = tuned(tmp_path / "named", known=KNOWN, machine="archer", trials=4)
    assert SAID not in reasons(named)


def test_what_is_kept_for_a_mount_is_known_to_a_study(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    kept = tmp_path / "stripewise/machines"
    kept.mkdir(parents=True)
    (kept / "bad.toml").write_text("version = 3")
    archer = find_storage("archer")
    here = replace(archer, name="site", mounts=(find_mount(tmp_path).point,))
    (kept / "site.toml").write_text(description_text(here))
    given = StudyOptions(command=("./a",), origin=tmp_path)
    ledger = Mock()
    known = local_tools.described_storage(given, ledger)
    assert known.storage == here
    (warning,) = ledger.warn.call_args.args
    assert "version = 3" in warning
    assert local_tools.described_storage(replace(given, machine="none"), ledger) is None
    assert local_tools.striping(given, known) is None
    monkeypatch.setattr(local_tools, "find_mount", lambda _: Mount("lustre", point="/"))
    assert local_tools.striping(given, known) == archer.striping
    assert local_tools.striping(replace(given, machine="none"), None) is None
    edison = replace(given, machine="edison")
    assert local_tools.striping(edison, None) == find_storage("edison").striping


@pytest.mark.parametrize("options", [{"strategy": "random"}, {"machine": "none"}])
def test_what_is_known_can_be_left_out(tmp_path, options):
    result, _ = tuned(tmp_path, known=KNOWN, trials=4, **options)
    assert not any("site" in text for text in reasons(result))


def test_what_is_known_is_not_spoken_of_where_nothing_can_be_simulated(tmp_path):
    result, _ = tuned(tmp_path, replace(FACTS, patterns=()), known=KNOWN, trials=4)
    assert not any("site" in text for text in [*reasons(result), *result.warnings])


def test_a_study_goes_on_with_the_description_that_it_began_with(tmp_path):
    tuned(tmp_path, known=KNOWN, trials=4)
    gone, _ = tuned(tmp_path, known=None, trials=6, resume=True)
    assert SAID in reasons(gone)
    assert [one for one in reasons(gone) if one.startswith("storage known")] == [SAID]


def test_a_program_without_a_pattern_is_told_so(tmp_path):
    result, _ = tuned(tmp_path, replace(FACTS, patterns=()), machine="archer", trials=4)
    assert any("no access pattern of the program" in text for text in result.warnings)


def test_a_storage_that_is_not_described_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="nowhere"):
        tuned(tmp_path, machine="nowhere")
