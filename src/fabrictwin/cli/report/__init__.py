# SPDX-License-Identifier: Apache-2.0
"""The report of a run: one self-contained HTML page in which a person sees congestion."""
