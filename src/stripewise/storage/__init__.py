# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Says what a storage is: descriptions, emulation, simulated stacks, fits to measurements."""
