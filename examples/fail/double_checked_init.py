"""The first thread that needs ``config`` builds it under a lock; the others look first without it.

``config`` is stored before ``config["size"]`` is there. A thread that looks in between finds ``config`` set,
goes past the lock and fails with KeyError.
"""

import threading
from typing import Any

from harness import Axes, Scenario

config: dict[str, int] | None = None


def setup(axes: Axes) -> Any:
    global config
    config = None
    return threading.Lock()


def measure() -> int:
    return 64


def get_config(lock: Any) -> dict[str, int]:
    global config
    if config is None:
        with lock:
            if config is None:
                config = {}
                config["size"] = measure()
    return config


def use(lock: Any) -> int:
    return get_config(lock)["size"]


def check(lock: Any, results: list[Any]) -> None:
    assert results == [64] * len(results), f"some thread used a half-built config: {results}"


double_checked_init = Scenario(
    bodies=(use, use),
    setup=setup,
    check=check,
    summary="double-checked locking publishes an object before it is complete",
)
