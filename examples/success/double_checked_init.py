"""The first thread that needs ``config`` builds it under a lock; the others look first without it.

The dictionary is filled under a local name and stored in ``config`` as the last step, so whoever finds
``config`` set finds it complete.
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
                built = {}
                built["size"] = measure()
                config = built
    return config


def use(lock: Any) -> int:
    return get_config(lock)["size"]


def check(lock: Any, results: list[Any]) -> None:
    assert results == [64] * len(results), f"some thread used a half-built config: {results}"


double_checked_init = Scenario(
    bodies=(use, use),
    setup=setup,
    check=check,
    summary="double-checked locking publishes an object when it is complete",
)
