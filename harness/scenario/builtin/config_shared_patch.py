"""pytorch #179345, #118387: two threads enter one and the same ``config.patch`` object, as a decorator makes them do.

The object kept what it has to put back for all who are in it. So the second to enter is refused; or the first to leave
has taken what the second would need, and the change stays for the rest of the process. Since 2.12 each thread has its own.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch._dynamo.config as config

        self.patch = config.patch(assume_static_by_default=False)
        self.before = setting()


def setting() -> bool:
    import torch._dynamo.config as config

    return config.assume_static_by_default


def patched(shared: Shared) -> bool:
    with shared.patch:
        marker("within_the_patch")
        return setting()


def check(shared: Shared, results: list[Any]) -> None:
    each(results, False, "setting within the patch")
    assert setting() == shared.before, f"configuration stranded: assume_static_by_default is {setting()}"


SCENARIO = Scenario(
    bodies=[patched, patched],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [patched]),
    check=check,
    summary="two threads within one config.patch object",
    modules=TORCH_MODULES,
)
