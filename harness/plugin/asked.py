"""What a test asks of the fixture, looked at before anything runs. All raise UserError."""

from __future__ import annotations

import re
from typing import Any

from harness.errors import UserError
from harness.schedule import Schedule


def pattern(text: object) -> str:
    if not isinstance(text, str):
        raise UserError(f"matching={text!r}: a regular expression, as a string")
    try:
        re.compile(text)
    except re.error as error:
        raise UserError(f"matching={text!r} is no regular expression: {error}") from None
    return text


def whole(name: str, value: Any, least: int = 1) -> Any:
    """None stays None: the default."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
        raise UserError(f"{name}={value!r}: a whole number of at least {least}")
    return value


def schedule(scenario: str, threads: int, axes: Any, free: bool) -> Schedule:
    if axes is not None and not isinstance(axes, dict):
        raise UserError(f"axes={axes!r}: a dictionary from axis to value")
    try:
        return Schedule(scenario, threads, free=free, axes=dict(axes or {}))
    except (ValueError, TypeError) as error:
        raise UserError(f"{scenario}: {error}") from None


def text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UserError(f"{name}: a string, not {value!r}")
    return value
