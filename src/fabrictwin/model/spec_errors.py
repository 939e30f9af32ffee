# SPDX-License-Identifier: Apache-2.0
"""What pydantic found wrong with a part of a scenario, in words: what was expected, and what is near."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabrictwin.errors import nearest
from fabrictwin.model.quantities import show_value, wanted_in
from fabrictwin.model.yaml_loader import FieldPath


def explain(detail: Any, spec: type[BaseModel]) -> tuple[str, FieldPath]:
    """The message for one pydantic error, and where it stands.

    Args:
        detail: An entry of ``ValidationError.errors()``.
        spec: The model that was validated; its fields are plain values, lists and mappings, not models.

    Returns:
        What is wrong and what was expected; the keys below the model.
    """
    place: FieldPath = tuple(detail["loc"])
    kind, got = detail["type"], show_value(detail["input"])
    info = _fields(spec).get(str(place[0])) if len(place) == 1 else None
    wanted = wanted_in(info) if info else ""
    context = detail.get("ctx", {})
    match kind:
        case "extra_forbidden":
            name = str(place[-1])
            return f"unknown key {show_value(name)}{nearest(name, _fields(spec))}", place
        case "missing":
            return f"required key {place[-1]!r} is missing" + (f": {wanted}" if wanted else ""), place
        case "value_error":
            return str(context["error"]), place
        case "literal_error":
            return _explain_choice(detail, info), place
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return f"expected {_BOUND_WORDS[kind]} {next(iter(context.values()))}, got {got}", place
        case "too_short" | "too_long":
            least, most = (context.get(key) for key in ("min_length", "max_length"))
            bound = f"at least {least}" if kind == "too_short" else f"at most {most}"
            return f"expected {bound} entries, got {context['actual_length']}", place
    expected = wanted or _TYPE_WORDS.get(kind, "")
    if expected:
        return f"expected {expected}, got {got}", place
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, got {got}", place


_BOUND_WORDS = {
    "greater_than_equal": "at least",
    "greater_than": "more than",
    "less_than_equal": "at most",
    "less_than": "less than",
}
_TYPE_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
}


def _explain_choice(detail: Any, info: FieldInfo | None) -> str:
    got = detail["input"]
    choices = _choices(info.annotation) if info else []
    hint = nearest(got, choices) if isinstance(got, str) and choices else ""
    return f"expected {detail['ctx']['expected']}, got {show_value(got)}{hint}"


def _choices(annotation: Any) -> list[str]:
    """The words that a Literal allows, also where it may be left out."""
    if get_origin(annotation) is Literal:
        return [choice for choice in get_args(annotation) if isinstance(choice, str)]
    return [choice for part in get_args(annotation) for choice in _choices(part)]


def _fields(spec: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the key that a file has for them."""
    return {info.alias or name: info for name, info in spec.model_fields.items()}
