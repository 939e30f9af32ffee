# SPDX-License-Identifier: Apache-2.0
"""RoCEv2: shared-buffer switches, PFC, ECN, ECMP and adapters on Ethernet."""
