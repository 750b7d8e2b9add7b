from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pytest
from support.backend import Make, World

from harness.run.pool import WorkerPool


@pytest.fixture
def world() -> Iterator[Make]:
    pool = WorkerPool()
    made: list[World] = []

    def make(
        source: str, *, fine: bool = False, free: bool = False, points: Sequence[str] = ("names",), entries: Sequence[str] = ()
    ) -> World:
        made.append(World(source, fine, free, pool, points, entries))
        return made[-1]

    yield make
    for item in made:
        del sys.modules[item.name]
    pool.close()
