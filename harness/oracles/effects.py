"""Effects as results: how often each thread made a thing happen. A silent skip shows nowhere else.

    effects = Effects()
    compiled = torch.compile(f, backend=effects.counted("compile", backend))
    ...
    return {"out": out, **effects.mine()}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from harness.control.marks import thread_index


class Effects:
    """Counts by thread (index of the body; -1 outside a run) and name."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[str]] = {}

    def note(self, name: str) -> None:
        self._counts.setdefault(thread_index(), Counter())[name] += 1

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, noting each of its calls."""

        def counting(*args: Any, **kwargs: Any) -> Any:
            self.note(name)
            return function(*args, **kwargs)

        return counting

    def mine(self) -> dict[str, int]:
        """Of the calling thread."""
        return dict(self._counts.get(thread_index(), {}))

    def all(self) -> dict[str, int]:
        """Of all threads together."""
        total: Counter[str] = Counter()
        for counts in self._counts.values():
            total.update(counts)
        return dict(total)
