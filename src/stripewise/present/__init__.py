# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents results: numbers, tables on the terminal, charts and the frame of pages."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.present._log import OneLine as OneLine
    from stripewise.present._printable import csv_cell as csv_cell
    from stripewise.present._printable import finite as finite
    from stripewise.present._printable import printable as printable
    from stripewise.present._printable import text_of as text_of
    from stripewise.present._terminal import Columns as Columns
    from stripewise.present._terminal import TextTable as TextTable
    from stripewise.present._terminal import aligned as aligned
    from stripewise.present._terminal import labelled as labelled
    from stripewise.present._terminal import line as line
    from stripewise.present.chart import INK as INK
    from stripewise.present.chart import Chart as Chart
    from stripewise.present.chart import Spec as Spec
    from stripewise.present.chart import against as against
    from stripewise.present.chart import picture as picture
    from stripewise.present.chart import time_unit as time_unit
    from stripewise.present.numbers import amount_words as amount_words
    from stripewise.present.numbers import bandwidth_words as bandwidth_words
    from stripewise.present.numbers import command_line as command_line
    from stripewise.present.numbers import count_text as count_text
    from stripewise.present.numbers import duration_text as duration_text
    from stripewise.present.numbers import evidence_figure as evidence_figure
    from stripewise.present.numbers import files_of as files_of
    from stripewise.present.numbers import fit_encoding as fit_encoding
    from stripewise.present.numbers import interval_text as interval_text
    from stripewise.present.numbers import known as known
    from stripewise.present.numbers import name_of as name_of
    from stripewise.present.numbers import number_text as number_text
    from stripewise.present.numbers import operations_text as operations_text
    from stripewise.present.numbers import percent_text as percent_text
    from stripewise.present.numbers import plural as plural
    from stripewise.present.numbers import rate_text as rate_text
    from stripewise.present.numbers import ratio_text as ratio_text
    from stripewise.present.numbers import seconds_text as seconds_text
    from stripewise.present.numbers import size_text as size_text
    from stripewise.present.numbers import throughput_text as throughput_text
    from stripewise.present.numbers import value_text as value_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
