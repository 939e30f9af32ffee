# SPDX-License-Identifier: Apache-2.0
"""Pages and names of the questions that services answer."""

from __future__ import annotations

import pytest

from fabrictwin.api.v1.common_pb2 import Page
from fabrictwin.errors import InputError
from fabrictwin.runtime.failures import UnknownNameError
from fabrictwin.runtime.reading import LARGEST_PAGE, cut_page, pick


def test_pages_that_follow_their_tokens_hold_every_element_once() -> None:
    found: list[int] = []
    token = "0"
    while token:
        page, token = cut_page(range(25), Page(size=10, token=token))
        found += page
    assert found == list(range(25))


def test_page_holds_no_more_than_fits_into_an_answer() -> None:
    assert cut_page(range(25), Page(), 7) == (range(7), "7")
    assert cut_page(range(25), Page(size=3), 7) == (range(3), "3")


@pytest.mark.parametrize("page", [Page(size=LARGEST_PAGE + 1), Page(token="next"), Page(token="-1")])
def test_page_that_is_none_is_refused(page: Page) -> None:
    with pytest.raises(InputError, match="expected"):
        cut_page(range(25), page, 7)


def test_names_are_picked_in_their_order_and_all_without_any() -> None:
    flows = {"a": 4, "b": 2, "c": 9}
    assert pick(flows, ["c", "a"], "flow") == [9, 4]
    assert pick(flows, [], "flow") == [4, 2, 9]


def test_name_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no flow 'burst1' is here.*burst:h1"):
        pick({"burst:h1": 0}, ["burst1"], "flow")


def test_too_many_names_are_refused() -> None:
    with pytest.raises(InputError, match="at most 1000 names") as caught:
        pick({"a": 0}, ["a"] * (LARGEST_PAGE + 1), "flow")
    assert caught.value.problems[0].field == "flows"
