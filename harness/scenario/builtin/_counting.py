"""A backend that runs the graph as it is and counts, by thread, how often: an eager call would not count."""

from __future__ import annotations

from typing import Any

from harness.control.marks import thread_index


class Counting:
    """``ran[i]`` is how often thread i ran a compiled graph; the last entry is for set-up."""

    def __init__(self, threads: int) -> None:
        self.ran = [0] * (threads + 1)

    def __call__(self, graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            self.ran[thread_index()] += 1
            return graph.forward(*args)

        return run

    def mine(self) -> int:
        return self.ran[thread_index()]
