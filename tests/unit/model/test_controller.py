# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from fabrictwin.model.controller import (
    LFT_WRITE,
    NOTICE,
    PEER_MESSAGE,
    LftWrite,
    Notice,
    PeerKind,
    PeerMessage,
    pack_records,
    unpack_lft_writes,
    unpack_notices,
    unpack_peer_messages,
)


def _through_bytes(records: np.ndarray) -> np.ndarray:
    return np.frombuffer(records.tobytes(), records.dtype)


def test_notices_survive_the_bus() -> None:
    notices = [Notice(2**61, 3, 4, 0, -1), Notice(0, 0, 1, 8, 2**40)]
    assert unpack_notices(_through_bytes(pack_records(notices, NOTICE))) == notices
    assert unpack_notices(_through_bytes(pack_records([], NOTICE))) == []


def test_lft_writes_keep_zeros_at_their_end() -> None:
    writes = [LftWrite(5, 7, 2, bytes([255, 0, 3]) + bytes(61)), LftWrite(6, 7, 3, bytes(range(64)))]
    assert unpack_lft_writes(_through_bytes(pack_records(writes, LFT_WRITE))) == writes


def test_peer_messages_hold_64_bit_guids() -> None:
    messages = [PeerMessage(9, PeerKind.GET, 3, 15, 2**64 - 1), PeerMessage(9, 5, 3, 0, 1, 2, 3, bytes(64))]
    assert unpack_peer_messages(_through_bytes(pack_records(messages, PEER_MESSAGE))) == messages
