"""A suspended generator; the collector closes it, which runs its ``finally``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def suspended(callback: Callable[[], object], cycle: list[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        callback()


def make(callback: Callable[[], object]) -> Iterator[None]:
    cycle: list[Any] = []
    made = suspended(callback, cycle)
    cycle.append(made)
    next(made)
    return made
