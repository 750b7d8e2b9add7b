"""The present value of a state, for the leak oracle and for explanations. By value, never by address."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

_PLAIN = (bool, int, float, str, bytes, type(None))


#: In place of a value: the name is not there.
UNSET: Any = type("Unset", (), {})()


_homes: dict[str, Any] = {}


def remember(modules: Iterable[str]) -> None:
    """From now on these are looked into, whatever stands in their places in ``sys.modules``: a function keeps the module that
    it was defined in."""
    _homes.update((name, sys.modules[name]) for name in modules if name in sys.modules)


def _owner(state: str) -> tuple[Any, str]:
    """The module or class that has it, and its name there. Raises LookupError where there is no such owner."""
    parts = state.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:cut])
        owner: Any = _homes.get(name) or sys.modules.get(name)
        if owner is None:
            continue
        for part in parts[cut:-1]:
            space = vars(owner) if hasattr(owner, "__dict__") else {}
            if part not in space:
                raise LookupError(state)
            owner = space[part]
        return owner, parts[-1]
    raise LookupError(state)


def fetch(state: str) -> Any:
    """Raises LookupError where it is not set now. What C holds is asked of its getter."""
    if state.endswith("()"):
        try:
            return fetch(state.removesuffix("()"))()
        except TypeError:  # it wants to know more
            raise LookupError(state) from None
    owner, name = _owner(state)
    space = vars(owner) if hasattr(owner, "__dict__") else {}
    if name in space:
        return space[name]
    if any(kind.__name__ == "ConfigModule" for kind in type(owner).__mro__) and hasattr(owner, name):
        return getattr(owner, name)  # torch's settings stand elsewhere
    raise LookupError(state)


def there_is(state: str) -> bool:
    """Is there something of that name to look at, now?"""
    return fetch_or_unset(state) is not UNSET


def fetch_or_unset(state: str) -> Any:
    try:
        return fetch(state)
    except LookupError:
        return UNSET


def assign(state: str, value: Any) -> None:
    """Make it ``value``, or unset it. Nothing where it cannot be set, as what C holds."""
    if state.endswith("()"):
        return
    try:
        owner, name = _owner(state)
        if value is not UNSET:
            setattr(owner, name, value)
        elif name in vars(owner):
            delattr(owner, name)
    except (LookupError, AttributeError, TypeError):
        return


def shown(value: Any) -> str:
    """A value in a few words that are the same in every process."""
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if isinstance(value, _PLAIN):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"{type(value).__name__} of {len(value)}"
    if is_dataclass(value) and not isinstance(value, type):
        own = [(field.name, getattr(value, field.name, UNSET)) for field in fields(value)]
        usual = {field.name: field.default for field in fields(value)}
        return f"{type(value).__qualname__}({', '.join(f'{name}={shown(v)}' for name, v in own if v is not usual[name])})"
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        # functools.wraps copies the name: a patched function shows by the file its code is from
        code = getattr(value, "__code__", None)
        return f"{getattr(value, '__module__', '?')}.{name}" + (f" ({code.co_name})" if code is not None else "")
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def snapshot(states: list[str]) -> dict[str, str]:
    found = {}
    for state in states:
        try:
            found[state] = shown(fetch(state))
        except LookupError:
            found[state] = "unset"
    return found
