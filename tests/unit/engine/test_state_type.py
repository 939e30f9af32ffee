# SPDX-License-Identifier: Apache-2.0
"""What the optimiser is told about the state, and what it must not get wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.caching import NullCache

from fabrictwin.engine.state import ARRAYS, CONSTANT, State, records
from fabrictwin.jit import kernel, seldom_kernel


def _state() -> State:
    return State(
        **{
            name: records(4, dtype) if dtype.names is not None else np.zeros(4, dtype)
            for name, dtype in ARRAYS.items()
        }
    )


@kernel
def _write_parameter(s: State) -> None:
    s.par[0].mtu = 1


def test_store_to_a_constant_array_does_not_compile() -> None:
    assert "par" in CONSTANT
    with pytest.raises(TypeError, match=r"par\.mtu is constant for kernels"):
        _write_parameter(_state())


@kernel
def _copy_between_arrays_of_one_type(s: State) -> int:
    before = s.sorted[1].time_ps
    s.event[1].time_ps = 7
    s.sorted[1] = s.event[1]
    return before * 100 + s.sorted[1].time_ps


def test_load_after_whole_record_store_sees_the_new_value() -> None:
    state = _state()
    state.sorted[1].time_ps = 3
    assert _copy_between_arrays_of_one_type(state) == 307


@seldom_kernel
def _seldom(s: State) -> int:
    return int(s.g[0].events)


@kernel
def _often(s: State) -> int:
    return _seldom(s) + 1


def test_seldom_kernel_stays_out_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    # Code that comes from the disk can not be looked into.
    monkeypatch.setattr(_often, "_cache", NullCache())
    assert _often(_state()) == 1
    (text,) = _often.inspect_llvm().values()  # type: ignore[attr-defined]
    assert any("call" in line and "_seldom" in line for line in text.splitlines())
