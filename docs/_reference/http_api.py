"""The routes of the HTTP API, from its OpenAPI description."""

import tempfile
from pathlib import Path
from typing import Any

from _reference.markdown import code, table

__all__ = ["routes"]

Schema = dict[str, Any]


def routes() -> str:
    """Return a section for every route, and one with all objects that they take and give."""
    from tilewright.web.app import make_app

    with tempfile.TemporaryDirectory() as runs:
        app = make_app(Path(runs))
        description: Schema = app.openapi()
        app.state.server.close()
    refusals = _shared_refusals(description)
    parts = [
        _route(method, path, operation, refusals)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    objects = [_object(name, schema) for name, schema in sorted(description["components"]["schemas"].items())]
    shared = table(("status", "the reason of a refusal"), refusals.items())
    return "\n\n".join([shared, *parts, "## Objects", *objects]) + "\n"


def _shared_refusals(description: Schema) -> dict[str, str]:
    """Return the statuses with which every route may refuse a request, and what they mean."""
    answers = [operation["responses"] for methods in description["paths"].values() for operation in methods.values()]
    return {
        status: _sentence(found["description"])
        for status, found in answers[0].items()
        if all(status in others for others in answers) and not status.startswith("2")
    }


def _route(method: str, path: str, operation: Schema, shared: dict[str, str]) -> str:
    parts = [f"## `{method.upper()} {path}`", _sentence(operation.get("description", ""))]
    rows = [
        (code(found["name"]), *_described(found["schema"], found["required"]), _sentence(found.get("description", "")))
        for found in operation.get("parameters", [])
    ]
    if rows:
        parts.append(table(("parameter", "type", "default", "meaning"), rows))
    if "requestBody" in operation:
        parts.append(f"Body: {_type(_content(operation['requestBody']))}.")
    answers = operation["responses"].items()
    parts += [f"Answer ({status}): {_type(_content(found))}." for status, found in answers if status.startswith("2")]
    own = {status: found for status, found in answers if not status.startswith("2") and status not in shared}
    parts += [f"Also refused with {status}: {found['description']}." for status, found in own.items()]
    return "\n\n".join(parts)


def _object(name: str, schema: Schema) -> str:
    required = schema.get("required", [])
    rows = [
        (code(key), *_described(found, key in required), _sentence(found.get("description", "")))
        for key, found in schema.get("properties", {}).items()
    ]
    body = table(("field", "type", "default", "meaning"), rows) if rows else f"{_type(schema)}.\n"
    return "\n\n".join(filter(None, [f"### {name}", _sentence(schema.get("description", "")), body]))


def _content(found: Schema) -> Schema:
    (content,) = found.get("content", {"": {"schema": {}}}).values()
    schema: Schema = content["schema"]
    return schema


def _described(schema: Schema, required: bool) -> tuple[str, str]:
    """Return the type with its limits, and the default."""
    default = schema.get("default")
    shown = "" if default is None else code(str(default).lower() if isinstance(default, bool) else default)
    return _type(schema), "required" if required else shown


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(choice) for choice in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(code(choice) for choice in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_type(items)}" if items else "list"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object with values of {_type(schema['additionalProperties'])}"
    return str(schema.get("type", "anything")) + _limits(schema)


def _limits(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = [
        "" if low is None else f"from {low:,}",
        "" if above is None else f"above {above:,}",
        "" if high is None else f"to {high:,}",
        "" if below is None else f"below {below:,}",
        f"up to {schema['maxLength']:,} characters" if "maxLength" in schema else "",
    ]
    return "".join(f" {word}" for word in words if word)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
