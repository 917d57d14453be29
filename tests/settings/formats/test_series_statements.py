# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings for later files of a series end a flat configuration."""

from __future__ import annotations

import pytest

from stripewise.core import Configuration, FileRule, SeriesRule
from stripewise.core.errors import ConfigurationError
from stripewise.settings import formats

RULE = SeriesRule(True, False, True, (2, 4), (1, 1 << 40), (0, 9), {"cb_nodes": 2, "a b": "x"})


def test_statements_of_a_rule() -> None:
    kind, *hints = formats.series_text([RULE]).splitlines()
    assert kind == "series\twrite-independent-interleaved\t2,4,1,1099511627776,0,9"
    assert hints == ["mpiio\tcb_nodes\t2", "mpiio\ta%20b\tx"]


def test_a_flat_text_with_a_series_is_read_without_it() -> None:
    configuration = Configuration((FileRule("*", mpiio={"cb_nodes": 1}),))
    flat = formats.get("flat")
    text = flat.write(configuration).text + formats.series_text([RULE])
    loaded = flat.parse(text)
    assert loaded.configuration == configuration
    assert "left out" in loaded.warnings[0]
    with pytest.raises(ConfigurationError, match="after a series"):
        flat.parse(text + "file\t*\t0\n")
