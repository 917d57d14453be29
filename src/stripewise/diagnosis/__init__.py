# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Evidence of a run -> figures and findings in plain words.  Pure."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.diagnosis._diagnose import diagnose as diagnose
    from stripewise.diagnosis._document import findings_to_json as findings_to_json
    from stripewise.diagnosis._document import profile_to_json as profile_to_json
    from stripewise.diagnosis._records import Diagnosis as Diagnosis
    from stripewise.diagnosis._records import Figures as Figures
    from stripewise.diagnosis._records import FileRow as FileRow
    from stripewise.diagnosis._records import Finding as Finding
    from stripewise.diagnosis._records import HeatMap as HeatMap
    from stripewise.diagnosis._records import LayerRow as LayerRow
    from stripewise.diagnosis._records import Periodicity as Periodicity
    from stripewise.diagnosis._records import RequestRow as RequestRow
    from stripewise.diagnosis._records import Severity as Severity
    from stripewise.diagnosis._records import VarianceRow as VarianceRow
    from stripewise.diagnosis._records import size_labels as size_labels
else:
    __getattr__, __all__ = lazy_exports(__name__)
