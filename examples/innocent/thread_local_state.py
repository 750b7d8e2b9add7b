"""Each thread saves, sets and restores a value of its own: thread-local, and in a context variable."""

import contextvars
import threading
from typing import Any

from harness import Scenario

LEVEL: contextvars.ContextVar[int] = contextvars.ContextVar("LEVEL", default=0)
LOCAL = threading.local()


def work(shared: Any) -> list[int]:
    token = LEVEL.set(LEVEL.get() + 1)
    LOCAL.level = getattr(LOCAL, "level", 0) + 1
    try:
        return [LEVEL.get(), LOCAL.level]
    finally:
        LEVEL.reset(token)
        del LOCAL.level


thread_local_state = Scenario((work, work), sequential=True, summary="save and restore of what each thread has alone")
