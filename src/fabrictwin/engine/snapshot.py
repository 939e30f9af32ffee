# SPDX-License-Identifier: Apache-2.0
"""The arrays of a shard as they are put aside, and taken up again.

Pools are kept whole, free lists and all, so that a shard that goes on from a snapshot takes the same records
as one that was never interrupted. Of what is filled from the start, only what it holds is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from fabrictwin.engine.state import ARRAYS, CAPACITIES, LOGS, State, records
from fabrictwin.errors import FabricTwinError


class SnapshotError(FabricTwinError):
    """Arrays that are no snapshot of a shard."""


def layout_sha256() -> str:
    """Hash of the names and record layouts of all arrays: snapshots of another layout cannot be taken up."""
    layout = [(name, np.lib.format.dtype_to_descr(dtype)) for name, dtype in ARRAYS.items()]
    return hashlib.sha256(repr(layout).encode()).hexdigest()


def save_arrays(state: State) -> dict[str, np.ndarray]:
    """Copies of the arrays, by name; logs up to what they hold."""
    g = state.g[0]
    saved = {}
    for name in ARRAYS:
        array = np.asarray(getattr(state, name)).view(np.ndarray)
        held = int(g[LOGS[name]]) if name in LOGS else len(array)
        saved[name] = array[:held].copy()
    return saved


def load_arrays(saved: Mapping[str, np.ndarray]) -> State:
    """A state that goes on where :func:`save_arrays` copied one.

    Args:
        saved: Every array; they are copied.

    Raises:
        SnapshotError: An array is missing, or of another type, or longer than it may be.
    """
    for name, dtype in ARRAYS.items():
        if name not in saved or saved[name].dtype != dtype:
            raise SnapshotError(f"a snapshot without the array {name!r} of {dtype}")
    if len(saved["g"]) != 1:
        raise SnapshotError(f"a snapshot with {len(saved['g'])} records of 'g' instead of one")
    g = saved["g"][0]
    arrays = {}
    for name, dtype in ARRAYS.items():
        array = saved[name]
        if name in LOGS:
            size, held = int(g[CAPACITIES[name]]), int(g[LOGS[name]])
            if len(array) != held or held > size:
                raise SnapshotError(f"a snapshot with {len(array)} records of {name!r} instead of {held}")
            whole = records(size, dtype)
            whole[:held] = array
            array = whole
        array = array.view(dtype)
        arrays[name] = array.view(np.recarray) if dtype.names else array
    return State(**arrays)
