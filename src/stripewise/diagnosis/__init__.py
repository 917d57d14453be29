# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Evidence of a run -> figures and findings in plain words.  Pure."""
