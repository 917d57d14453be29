# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every format must do; subclass it and say which one.

class TestMine(FormatSuite):
    format_name = "mine"
"""

from __future__ import annotations

from stripewise.core import Configuration, DatasetRule, FileRule, JobSettings
from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats import Format, detect, effective, get

SAMPLES: tuple[Configuration, ...] = (
    Configuration((FileRule("*", {"cb_nodes": 4, "cb_config_list": "*:*"}, override=True),)),
    Configuration((FileRule("*", {"romio_ds_write": "disable"}),)),
    Configuration(
        (
            FileRule("*", {"cb_nodes": 4}, {"alignment": (1, 4096)}, True),
            FileRule("out.h5", {"cb_nodes": 2}, {"coll_metadata_write": True}, True),
            FileRule("*.nc", {"striping_unit": 65536}),
        )
    ),
    Configuration(
        (FileRule("*.h5", datasets=(DatasetRule("/x", {"chunk": (4, 7)}),), override=True),)
    ),
    Configuration(job=JobSettings({"io": "romio321", "fbtl_posix_read_datasieving": False})),
    Configuration(
        (FileRule("*", {"cb_nodes": 4}, override=True),),
        JobSettings({"io": "ompio"}, {"VARIABLE": "a b"}),
    ),
)
"""Configurations of which every format can hold some part."""

_PATHS = ("out.h5", "dir/out.h5", "a.nc", "b.h5", "other")
_NONSENSE = ("\0", "<", "<P>", "[[[", "=", "*:", "%zz\t", "\u2028", "a\tb\tc\td", "--mca")


class FormatSuite:
    """Conformance suite; set `format_name`, or override `make`."""

    format_name: str

    def make(self) -> Format:
        """Return the format."""
        return get(self.format_name)

    def test_nothing_lost_reads_back(self) -> None:
        """Without losses the text gives settings that act the same on every file."""
        for sample in SAMPLES:
            written = self.make().write(sample)
            if written.text and not written.lost:
                again = self.make().read(written.text).configuration
                assert again.job == sample.job
                for path in _PATHS:
                    one, other = effective(again, path), effective(sample, path)
                    assert one.layers["mpiio"] == other.layers["mpiio"]
                    assert one.dataset("/x") == other.dataset("/x")

    def test_holds_something(self) -> None:
        """At least one sample is held without loss."""
        assert any(
            written.text and not written.lost
            for written in (self.make().write(sample) for sample in SAMPLES)
        )

    def test_what_does_not_fit_is_said(self) -> None:
        """A sample that comes back smaller has losses."""
        for sample in SAMPLES:
            written = self.make().write(sample)
            if not written.text:
                assert written.lost

    def test_is_recognised(self) -> None:
        """The text alone tells the format."""
        for sample in SAMPLES:
            text = self.make().write(sample).text
            if text:
                assert detect(text).name == self.make().name

    def test_nonsense_is_one_error(self) -> None:
        """Whatever the text, the only error is a ConfigurationError of one line."""
        for text in _NONSENSE:
            message = ""
            try:
                self.make().read(text, "nonsense")
            except ConfigurationError as error:
                message = str(error)
            assert "\n" not in message
