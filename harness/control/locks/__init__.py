"""Locks that know who waits for whom.

Everything in ``threading``, ``queue`` and ``concurrent.futures`` is Python code over these two and a semaphore, so
replacing the factories (:mod:`harness.control.install`) makes all of it cooperative.
"""

from .lock import CoopLock
from .rlock import CoopRLock

__all__ = ["CoopLock", "CoopRLock"]
