# SPDX-License-Identifier: Apache-2.0
"""How traffic moves: state arrays, event queue and the mechanisms of the fabric, compiled."""

import fabrictwin.engine.state_type  # noqa: F401  tells the compiler what a State is, before any kernel compiles
