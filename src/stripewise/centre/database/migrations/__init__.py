# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contains the Alembic steps from the tables of one release to those of the next."""
