# SPDX-License-Identifier: Apache-2.0
"""What the director does: the clock, the command log, faults, workloads, events, the result."""
