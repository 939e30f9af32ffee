# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket

import pytest

from fabrictwin.api.v1.director_pb2 import StatusRequest
from fabrictwin.cli.connection import TwinError, find_address, open_director
from fabrictwin.errors import InputError


@pytest.mark.parametrize(
    "address", ["localhost", "localhost:", "localhost:0", "localhost:65536", "a b:1", ":1"]
)
def test_find_address_refuses_what_is_no_address(address: str) -> None:
    with pytest.raises(InputError, match="expected HOST:PORT"):
        find_address(None, address)


@pytest.mark.parametrize("address", ["localhost:7000", "10.0.0.1:65535", "[::1]:7000"])
def test_find_address_takes_a_director_elsewhere(address: str) -> None:
    assert find_address(None, address) == address


def test_find_address_refuses_a_name_beside_an_address() -> None:
    with pytest.raises(InputError, match="either"):
        find_address("demo", "localhost:7000")


def test_call_where_nobody_listens_says_who_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    with (
        pytest.raises(TwinError, match=f"director at {address} does not answer"),
        open_director(None, address) as director,
    ):
        director.Status(StatusRequest())
