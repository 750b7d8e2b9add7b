"""Garbage of several kinds, for scenarios about collections.

``plant("finalizer", callback)`` leaves an object that nothing refers to but itself; a collection, and nothing else,
runs ``callback()`` in whatever thread it happens in. A scenario lets the kind be an axis::

    axes={"garbage": KINDS}
    setup=lambda axes: plant(axes["garbage"], callback)

What ``callback`` raises is only reported by Python (``sys.unraisablehook``), which a run counts as an error.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

#: One file each in this folder. ``tensor`` and ``code`` need torch.
KINDS: tuple[str, ...] = ("finalizer", "weakref", "generator", "tensor", "code")


def make(kind: str, callback: Callable[[], object]) -> Any:
    """An object in a cycle with itself: it is garbage from the moment its caller drops it.

    Raises ValueError for a kind that is none.
    """
    if kind not in KINDS:
        raise ValueError(f"garbage of kind {kind!r}: {', '.join(KINDS)}")
    return importlib.import_module(f"{__name__}.{kind}").make(callback)


def plant(kind: str, callback: Callable[[], object]) -> None:
    """Garbage from now on. Raises ValueError for a kind that is none."""
    make(kind, callback)


__all__ = ["KINDS", "make", "plant"]
