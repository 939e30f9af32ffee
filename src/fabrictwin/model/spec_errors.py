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
        spec: The model that was validated.

    Returns:
        What is wrong and what was expected; the keys below the model.
    """
    place: FieldPath = tuple(detail["loc"])
    kind, got = detail["type"], show_value(detail["input"])
    owner, info = _field_at(spec, place)
    wanted = wanted_in(info) if info else ""
    context = detail.get("ctx", {})
    match kind:
        case "extra_forbidden":
            name = str(place[-1])
            return f"unknown key {show_value(name)}{nearest(name, _keys(owner))}", place
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
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
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


def _keys(owner: type[BaseModel] | None) -> list[str]:
    if owner is None:
        return []
    return [info.alias or name for name, info in owner.model_fields.items()]


def _field_at(spec: type[BaseModel], place: FieldPath) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """The model that owns the last key of a place, and the field that it names there."""
    owner: type[BaseModel] | None = spec
    info: FieldInfo | None = None
    for part in place:
        if isinstance(part, int):
            continue
        if info is not None:
            owner = _model_in(info.annotation)
        info = next(
            (
                info
                for name, info in (owner.model_fields if owner else {}).items()
                if (info.alias or name) == part
            ),
            None,
        )
        if info is None:
            break
    return owner, info


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        model = _model_in(part)
        if model is not None:
            return model
    return None
