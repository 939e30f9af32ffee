# SPDX-License-Identifier: Apache-2.0
"""The service ``director``: the one door to a twin."""
