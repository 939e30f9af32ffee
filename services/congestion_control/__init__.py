# SPDX-License-Identifier: Apache-2.0
"""The service ``congestion_control``: rates of every flow."""
