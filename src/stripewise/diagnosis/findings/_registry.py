# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All rules; within a group the more particular ones come first."""

from __future__ import annotations

from stripewise.diagnosis.findings._amplification import Amplification
from stripewise.diagnosis.findings._balance import Imbalance, SerialIo
from stripewise.diagnosis.findings._base import Rule
from stripewise.diagnosis.findings._collective import BrokenCollective, DataSieving, Scattered
from stripewise.diagnosis.findings._exchange import Exchange
from stripewise.diagnosis.findings._hdf5 import ChunkMismatch, Hdf5Metadata
from stripewise.diagnosis.findings._idle import IdleHints
from stripewise.diagnosis.findings._layout import FewAggregators, Misaligned, OneStripe
from stripewise.diagnosis.findings._metadata import FilePerProcess, MetadataHeavy, OpenPerStep
from stripewise.diagnosis.findings._order import RandomAccess, SeekHeavy
from stripewise.diagnosis.findings._same import RedundantReads, SameSmallFile
from stripewise.diagnosis.findings._small import SmallIndependent, SmallSequential, TinyStdio
from stripewise.diagnosis.findings._sync import SyncPerWrite
from stripewise.diagnosis.findings._turns import SerialisedWriters
from stripewise.diagnosis.findings._waiting import MetadataDominates

RULES: tuple[Rule, ...] = (
    SameSmallFile(),
    RedundantReads(),
    BrokenCollective(),
    DataSieving(),
    Exchange(),
    ChunkMismatch(),
    Scattered(),
    RandomAccess(),
    TinyStdio(),
    SmallSequential(),
    SmallIndependent(),
    Hdf5Metadata(),
    Amplification(),
    SerialIo(),
    SerialisedWriters(),
    Imbalance(),
    SeekHeavy(),
    OpenPerStep(),
    FilePerProcess(),
    MetadataHeavy(),
    SyncPerWrite(),
    MetadataDominates(),
    OneStripe(),
    FewAggregators(),
    Misaligned(),
    IdleHints(),
)
