"""Keeps torch's frame hook away from our own Python code where that is more than a few lines.

The hook is handed every Python function that starts in a thread inside a compiled call, ours too (Python 3.11 even in
trace callbacks). Short functions are marked to be skipped (:mod:`harness.run.warm`); what calls into the standard
library runs inside ``with shield():``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

_factory: Callable[[], AbstractContextManager[object]] = nullcontext


def shield() -> AbstractContextManager[object]:
    return _factory()


def use(factory: Callable[[], AbstractContextManager[object]]) -> None:
    global _factory
    _factory = factory
