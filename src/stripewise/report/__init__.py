# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a study: terminal lines, JSON and one HTML page."""

from stripewise.report._json import configuration_document, result_to_json
from stripewise.report._summary import summary_lines

__all__ = ["configuration_document", "result_to_json", "summary_lines"]
