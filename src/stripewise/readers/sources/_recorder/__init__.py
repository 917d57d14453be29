# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of Recorder (University of Illinois): the 2.5 directory and the text form."""

from stripewise.readers.sources._recorder._interpret import Interpreter, Tally, Views
from stripewise.readers.sources._recorder._read import RecorderSource, read_recorder
from stripewise.readers.sources._recorder._record import RankRecords, Record

__all__ = [
    "Interpreter",
    "RankRecords",
    "Record",
    "RecorderSource",
    "Tally",
    "Views",
    "read_recorder",
]
