# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The mapping is that of the C header, and commands whose ranks cannot agree are told apart."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from stripewise.run.runtime import SeriesMapping, SeriesOutcome, ranks_not_shown
from stripewise.run.runtime import _inplace as ours

HEADER = Path(__file__).parents[3] / "native" / "include" / "stripewise" / "series.h"
KNOWN = {"uint64_t": 8, "uint32_t": 4, "char": 1}


def test_the_layout_is_that_of_the_header() -> None:
    text = HEADER.read_text()
    body = text.split("struct sw_series_mapping {")[1].split("};")[0]
    members = re.findall(r"^ +(\w+) (\w+)(?:\[(\w+)\])?;", body, re.M)
    sizes = [KNOWN[kind] * int(n or 1) for kind, _, n in members[:-1]]
    assert sum(sizes) == ours.HEADER.size == 64
    assert [name for _, name, _ in members][7:11] == ["first", "opens", "adopted", "reasons"]
    assert f"SW_SERIES_SLOTS {ours.SLOTS} " in text
    assert f'SW_SERIES_MAGIC "{ours.MAGIC.decode()}"' in text
    bits = re.findall(r"#define SW_SERIES_(?:\w+) (0x\w+)u", text)
    assert [int(bit, 16) for bit in bits] == [1 << i for i in range(len(ours.REASONS))]


def test_the_outcome_is_read_and_the_file_removed() -> None:
    with SeriesMapping.begin([sys.executable]) as mapping:
        assert mapping.path is not None
        path = Path(mapping.variables["STRIPEWISE_SERIES"])
        assert path.stat().st_size == 64 + 4 * ours.SLOTS
        assert mapping.read() == SeriesOutcome()
        assert not mapping.read().line
        numbers = (7, 4, 4, 1, 2, 8, 7, 0b10)
        path.write_bytes(ours.HEADER.pack(ours.MAGIC, 1, ours.SLOTS, *numbers))
        outcome = mapping.read()
    assert not path.exists()
    assert (outcome.opens, outcome.adopted, outcome.first) == (8, 7, 2)
    assert outcome.reasons == (ours.REASONS[1],)
    assert outcome.line.startswith("from file 2 of a series on")


def test_commands_whose_ranks_cannot_agree(tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text("#!/bin/sh\n./program\n")
    script.chmod(0o755)
    assert "several programs" in ranks_not_shown([sys.executable, ":", sys.executable], {})
    assert "may start" in ranks_not_shown([str(script)], {})
    assert "may start" in ranks_not_shown(["env", sys.executable], {})
    assert "no program" in ranks_not_shown(["./nothing"], {})
    assert "several nodes" in ranks_not_shown([sys.executable], {"SLURM_NNODES": "2"})
    assert not ranks_not_shown([sys.executable, "-c", "pass"], {"SLURM_NNODES": "1"})


def test_without_memory_nothing_is_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_MEMORY", Path("/nowhere"))
    with SeriesMapping.begin([sys.executable]) as mapping:
        assert mapping.variables == {}
        assert "/nowhere" in mapping.read().line
