# SPDX-License-Identifier: Apache-2.0
"""The service ``subnet_manager``: discovery, routing, failover."""
