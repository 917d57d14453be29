# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the figures of a run from its profile and trace."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.figures._records import Check as Check
    from stripewise.evidence.figures._records import Diagnosis as Diagnosis
    from stripewise.evidence.figures._records import Fact as Fact
    from stripewise.evidence.figures._records import Figures as Figures
    from stripewise.evidence.figures._records import FileRow as FileRow
    from stripewise.evidence.figures._records import Finding as Finding
    from stripewise.evidence.figures._records import LayerRow as LayerRow
    from stripewise.evidence.figures._records import Periodicity as Periodicity
    from stripewise.evidence.figures._records import RequestRow as RequestRow
    from stripewise.evidence.figures._records import Severity as Severity
    from stripewise.evidence.figures._records import VarianceRow as VarianceRow
    from stripewise.evidence.figures._records import size_labels as size_labels
    from stripewise.evidence.figures._requests import mpiio_stats as mpiio_stats
    from stripewise.evidence.figures._requests import request_rows as request_rows
    from stripewise.evidence.figures._requests import sides as sides
    from stripewise.evidence.figures._tables import figures as figures
    from stripewise.evidence.figures._tables import file_rows as file_rows
    from stripewise.evidence.figures._tables import layer_rows as layer_rows
    from stripewise.evidence.figures._tables import variance_rows as variance_rows
    from stripewise.evidence.figures._transfers import Transfers as Transfers
    from stripewise.evidence.figures._transfers import transfers_of as transfers_of
    from stripewise.evidence.figures._usage import COLLECTIVE as COLLECTIVE
    from stripewise.evidence.figures._usage import DATA as DATA
    from stripewise.evidence.figures._usage import READS as READS
    from stripewise.evidence.figures._usage import SYSTEM as SYSTEM
    from stripewise.evidence.figures._usage import WRITES as WRITES
    from stripewise.evidence.figures._usage import Calls as Calls
    from stripewise.evidence.figures._usage import CounterRows as CounterRows
    from stripewise.evidence.figures._usage import FileUse as FileUse
    from stripewise.evidence.figures._usage import usage as usage
else:
    __getattr__, __all__ = lazy_exports(__name__)
