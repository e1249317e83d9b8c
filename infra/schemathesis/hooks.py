"""For JSON Schema 14.0 is an integer; the API wants whole numbers written as such, and its document says so in words."""

from typing import Any

import schemathesis


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:  # noqa: ARG001 (the hook's own signature)
    """A body whose whole numbers have no fraction."""
    return _whole(body)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
