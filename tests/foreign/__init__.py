# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A corpus of inputs that are not ours, and what the product makes of each; see README.md."""
