"""Mistakes of a scenario that can be told before anything runs."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from harness.errors import UserError

from .api import TORCH_MODULES, Scenario


def validate(scenario: Scenario, reference: str) -> None:
    """Raises UserError where a function cannot be called with what it will be called with."""
    for index, body in enumerate(scenario.bodies):
        _takes(body, ["what setup returned"], f"{reference}: body {index}")
    for name, function, given in (
        ("setup", scenario.setup, ["axes"]),
        ("check", scenario.check, ["what setup returned", "results"]),
        ("prepare", scenario.prepare, []),
    ):
        if function is not None:
            _takes(function, given, f"{reference}: {name}")


def _takes(function: Callable[..., Any], given: list[str], who: str) -> None:
    if not callable(function):
        raise UserError(f"{who} is a {type(function).__name__}, not a function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # written in C: it says when it is called
    try:
        signature.bind(*given)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        called = ", ".join(given) if given else "nothing"
        raise UserError(f"{who}: {name}{signature} is called with ({called}): {error}") from None


def require_modules(scenario: Scenario, reference: str) -> None:
    """``modules`` must be loaded, or loadable, by the time of the scan. Raises UserError."""
    for name in scenario.modules:
        if name in sys.modules or name in TORCH_MODULES:  # of ours, a release may lack one
            continue
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UserError(f"{reference}: modules: {error}") from None
