"""A scenario of examples/ as a peer wants it: set-up, workers, and a predicate over both results and shared state.

Needs the checkout on the path (``harness`` without torch), and nothing else of it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from harness import Scenario  # noqa: E402


class Adapted:
    """``setup()`` gives (shared, results); ``workers`` take it; ``holds`` says whether the check passes and none raised."""

    def __init__(self, path: str) -> None:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        self.scenario = next(value for value in vars(module).values() if isinstance(value, Scenario))
        self.threads = self.scenario.thread_range[0]
        self.workers = [self._worker(index) for index in range(self.threads)]

    def setup(self) -> tuple[Any, list[Any]]:
        axes = {**{name: values[0] for name, values in self.scenario.axes.items()}, "threads": self.threads}
        return (self.scenario.setup(axes) if self.scenario.setup is not None else None), [None] * self.threads

    def _worker(self, index: int) -> Callable[[tuple[Any, list[Any]]], None]:
        body = self.scenario.body(index)

        def work(both: tuple[Any, list[Any]]) -> None:
            both[1][index] = body(both[0])

        return work

    def holds(self, both: tuple[Any, list[Any]]) -> bool:
        if self.scenario.check is not None:
            try:
                self.scenario.check(*both)
            except Exception:
                return False
        return True
