# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per verb, and one row per verb in :data:`fabrictwin.cli.main.VERBS`."""
