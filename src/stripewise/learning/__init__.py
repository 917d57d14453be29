# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered of studies and inferred from it: cases, models, adopted settings."""
