# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.yaml_loader import (
    LARGEST_DEPTH,
    LARGEST_FILE_BYTES,
    LARGEST_LINE_CHARACTERS,
    LARGEST_NODE_COUNT,
    dotted,
    read_document,
    read_text,
    resolve_scalar,
)


def _problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_document(text, "f.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-3", -3),
        ("+4", 4),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("2.5e-3", 0.0025),
    ],
)
def test_scalar_of_the_core_schema_has_its_value(text: str, value: object) -> None:
    resolved = resolve_scalar(text)
    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        *("on", "off", "yes", "No", "TRUE", "010", "0x1f", "0o17", "22:22", "1_000", "1.", "e5"),
        *(".inf", ".nan", "2026-01-01", "1e999", "99999999999999999999"),
    ],
)
def test_scalar_that_other_yaml_readers_convert_stays_text(text: str) -> None:
    assert resolve_scalar(text) == text


def test_document_knows_the_line_of_every_key_and_value() -> None:
    document = read_document("a: 1\nb:\n  - x\n  -\n    c: 2\nd: {e: [1,\n  2]}\n", "f.yaml")
    assert document.value == {"a": 1, "b": ["x", {"c": 2}], "d": {"e": [1, 2]}}
    assert document.lines[("b",)] == 2
    assert document.lines[("b", 1, "c")] == 5
    assert document.lines[("d", "e", 1)] == 7


def test_document_line_of_what_is_missing_is_its_parents() -> None:
    document = read_document("a:\n  b: 1\n", "f.yaml")
    assert document.line(("a", "missing")) == 1
    assert document.line(("a", "b", "missing")) == 2
    assert document.line_of("a.b[3].c") == 2


def test_quoted_scalars_stay_text() -> None:
    assert read_document('["1", \'true\', ""]', "f").value == ["1", "true", ""]


def test_keys_are_text_whatever_they_look_like() -> None:
    assert read_document("1: a\ntrue: b\n", "f").value == {"1": "a", "true": "b"}


def test_dotted_path_writes_indices_in_brackets() -> None:
    assert dotted(("workload", 2, "message")) == "workload[2].message"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3: a: duplicate key; it stands in line 1 already"),
        ("a:\n  b: 1\n  b: 2", "f.yaml:3: a.b: duplicate key; it stands in line 2 already"),
        ("a: {b: 1, b: 2}", "f.yaml:1: a.b: duplicate key"),
        ("a: &x 1", "f.yaml:1: a: anchor '&x' is not allowed"),
        ("a:\n  - *x", "f.yaml:2: a[0]: alias '*x' is not allowed"),
        ("a:\n  <<: {b: 1}", "f.yaml:2: a: merge key '<<' is not allowed"),
        ("a: !!int '3'", "f.yaml:1: a: tag 'tag:yaml.org,2002:int' is not allowed"),
        ("a: !!python/object/apply:os.system [id]", "f.yaml:1: a: tag"),
        ("a: !foo b", "f.yaml:1: a: tag '!foo' is not allowed"),
        ("&k a: 1", "f.yaml:1: a key must not have an anchor or a tag"),
        ("*k : 1", "f.yaml:1: a key must be a word"),
        ("? [a]\n: b", "f.yaml:1: a key must be a word"),
        (": b", "f.yaml:1: an empty key"),
        ("a: 1\n---\nb: 2", "f.yaml:2: a second document"),
        ("%YAML 1.1\n---\na: on", "a % directive is not allowed"),
        ("%TAG ! tag:x,2000:\n---\na: 1", "a % directive is not allowed"),
        ("a: [1, 2", "f.yaml:1: not YAML: expected ',' or ']'"),
        ("a: 1\n\tb: 2", "f.yaml:2: not YAML: found character '\\t'"),
        ("a: b: c", "f.yaml:1: not YAML: mapping values are not allowed here"),
        ("a: 1\nb: @x", "f.yaml:2: not YAML: found character '@'"),
        ("a: 1\nb: \x00", "f.yaml:2: character U+0000 is not allowed"),
        ("a: 'x", "f.yaml:1: not YAML: found unexpected end of stream"),
    ],
)
def test_document_with_a_trap_is_refused_with_its_line(text: str, expected: str) -> None:
    assert expected in _problems(text)[0]


def test_document_with_several_traps_shows_all_of_them() -> None:
    assert len(_problems("a: &x 1\nb: *x\nb: 2\nc: !t 3")) == 4


_MIB = 1 << 20
HOSTILE = {
    "alias bomb": "a: &a [x, x]\n"
    + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcd", "bcde", strict=True)),
    "self reference": "&a [*a]",
    "open brackets": "[" * (LARGEST_LINE_CHARACTERS - 1),
    "open braces": "{a: " * 4000,
    "deep block": "".join(" " * depth + "a:\n" for depth in range(700)),
    "dashes": "- " * 8000,
    "many values": "[" + "a,\n" * (LARGEST_FILE_BYTES // 3 - 2) + "]",
    "many keys": "".join(f"k{index}: 1\n" for index in range(40_000)),
    "duplicate keys": "a: 1\n" * 100_000,
    "long tags": "\n".join("- " + "!" * 16_000 for _ in range(32)),
    "long anchors": "\n".join("- &" + "a" * 16_000 for _ in range(32)),
    "one long line": "a: " + "x" * LARGEST_LINE_CHARACTERS,
    "too large": "a: b\n" * (_MIB // 4),
    "too large in one line": "x" * (64 * _MIB),
    "zero bytes": "\x00" * 1000,
    "no end of text": 'a: "' + "\n" * (LARGEST_FILE_BYTES - 10),
    "question marks": "? " * 8000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_fast_and_small(name: str) -> None:
    before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.process_time()
    assert _problems(HOSTILE[name])
    assert time.process_time() - began < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before_bytes < 200 * _MIB


def test_document_as_deep_as_allowed_is_read() -> None:
    deepest = LARGEST_DEPTH + 1
    assert read_document("[" * deepest + "]" * deepest, "f").value
    assert "nested deeper" in _problems("[" * (deepest + 1) + "]" * (deepest + 1))[0]


def test_document_with_as_many_values_as_allowed_is_read() -> None:
    items = LARGEST_NODE_COUNT - 1
    assert len(read_document("\n".join(["-"] * items), "f").value) == items
    assert "keys and values" in _problems("\n".join(["-"] * (items + 1)))[0]


def test_text_file_with_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_text(file, largest_bytes=100) == "a: 1\n"


def test_text_file_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(InputError) as caught:
        read_text(file, largest_bytes=100)
    assert str(caught.value) == f"{file}:2: is not UTF-8 text"
