# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Learning from past studies: their lessons, performance models and adopted settings."""
