# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of Recorder (University of Illinois): the 2.5 directory and the text form."""

from stripewise.readers.sources._recorder._functions import Record as Record
from stripewise.readers.sources._recorder._interpret import Interpreter as Interpreter
from stripewise.readers.sources._recorder._read import RecorderSource as RecorderSource
