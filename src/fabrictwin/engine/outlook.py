# SPDX-License-Identifier: Apache-2.0
"""What a shard says of itself when the run looks around."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a shard is, at a look-around.

    Attributes:
        is_idle: Nothing is under way there.
        last_live_ps: The last time that something kept it busy.
        blocked_since_ps: Since when its longest waiting output waits for credits; NEVER if none does.
    """

    is_idle: bool
    last_live_ps: int
    blocked_since_ps: int
