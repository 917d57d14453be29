# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every tunable must do; subclass it and say which one.

class TestMine(TunableSuite):
    tunable = MINE
"""

from __future__ import annotations

import pytest

from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import ConfigurationError
from stripewise.settings.tunables import Tunable, get, hint_text


def busy_facts() -> ProgramFacts:
    """Return facts of a program on which nearly every tunable acts."""
    return ProgramFacts(
        n_ranks=8,
        mpi_family="openmpi",
        mpi_version="Open MPI v4.1.4",
        mpiio_implementation="ompio",
        mpiio_alternatives=("ompio", "romio321"),
        uses_hdf5=True,
        uses_parallel_hdf5=True,
        collective_bytes=1 << 30,
        independent_bytes=1 << 30,
        noncontiguous=True,
        read_bytes=1 << 30,
        mpiio_read_bytes=1 << 30,
        write_bytes=1 << 30,
        matched_calls=True,
        matched_metadata=True,
        uses_pnetcdf=True,
        uses_adios2=True,
        pattern="<2D, (*, BLOCK), (64, 512)>",
        interleaved=True,
        block=(64, 512),
        block_bytes=64 * 512 * 8,
    )


class TunableSuite:
    """Conformance suite; set `tunable`."""

    tunable: Tunable

    def facts(self) -> tuple[ProgramFacts, ...]:
        """Return the programs to ask about."""
        return busy_facts(), ProgramFacts()

    def test_says_what_it_is(self) -> None:
        """The name begins with the layer; default, stacks and source are given."""
        knob = self.tunable
        assert knob.name == f"{knob.layer.value}.{knob.key}"
        assert knob.summary
        assert knob.domain.default
        assert knob.stacks
        assert knob.source.startswith(("measured", "documented", "assumed"))

    def test_rungs_are_values(self) -> None:
        """Every rung passes the tunable's own check, once, and survives being text."""
        for facts in self.facts():
            rungs = self.tunable.search.ladder(facts)
            assert len(set(rungs)) == len(rungs)
            for value in rungs:
                assert self.tunable.check(value) == value
                assert self.tunable.parse(hint_text(value)) == value

    def test_implied_settings_are_values(self) -> None:
        """What a rung implies is a value of the other tunable."""
        for facts in self.facts():
            for value in self.tunable.search.ladder(facts):
                for name, implied in self.tunable.implies(value, facts).items():
                    assert get(name).check(implied) == implied

    def test_a_wrong_type_is_refused(self) -> None:
        """The error names the tunable and says what to give."""
        wrong: dict[str, Value] = {
            "int": True,
            "bool": 1,
            "enum": "nonsense",
            "ints": "1",
            "text": 5,
            "float": "many",
        }
        with pytest.raises(ConfigurationError, match="give") as caught:
            self.tunable.check(wrong[self.tunable.domain.kind])
        assert self.tunable.name in str(caught.value)
