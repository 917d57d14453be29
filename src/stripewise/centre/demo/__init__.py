# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A year of a synthetic centre, to look at the portal and for tests; nothing was measured."""
