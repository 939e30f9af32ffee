# SPDX-License-Identifier: Apache-2.0
"""The service ``switch_node``: a shard of switches."""
