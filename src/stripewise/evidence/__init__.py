# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Says what a run did: readers of logs and traces, patterns, figures, findings and replay."""
