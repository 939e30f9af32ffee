# SPDX-License-Identifier: Apache-2.0
"""What this process takes of the machine's memory; the engine may not look."""

from __future__ import annotations

import resource
import sys


def peak_rss_bytes() -> int:
    """The largest resident set of this process so far."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes
