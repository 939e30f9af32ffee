# SPDX-License-Identifier: Apache-2.0
"""Congestion control: one algorithm, one file."""
