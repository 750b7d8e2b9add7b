"""What pytest told of the tests that this process runs."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

#: (node id, exception) of every test, fixture or collection that failed, in order.
failed: list[tuple[str, BaseException]] = []

#: Modules of the tests that were collected: every place in them is a point.
modules: list[ModuleType] = []


class Ends:
    """In a run: what is called when the last test has been taken down. What pytest writes then is no test's."""

    call: Callable[[BaseException | None], None] | None = None


class Failed(Exception):
    """Tests failed; ``status`` is pytest's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"pytest exited with status {status}")
        self.status = status
