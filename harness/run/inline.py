"""Runs within this process, on threads kept from run to run: for small programs without torch, where speed counts.

State that a run leaves behind is there for the next, and a crash ends everything: the price of the speed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from harness.control import install
from harness.errors import CannotTest, UserError
from harness.oracles.orders import Orders
from harness.oracles.sequential import Sequential

from .execute import execute
from .in_main import execute_in_main
from .job import Job
from .pool import WorkerPool
from .report import Report
from .world import World

_UNWIND = 30.0  # seconds for threads that are left over to come back


class InlineRunner:
    """Has a launcher's face (:class:`harness.run.launch.Launcher`). Raises UserError where torch is needed."""

    jobs = 1

    def __init__(self, reference: str, *, free: bool = False, points: Sequence[str] | None = None) -> None:
        install.install()
        gc.collect()
        gc.freeze()  # a collection in a run looks at what the run made, not at all this process has
        self.pool = WorkerPool()
        self._reports: dict[int, tuple[Job, dict[str, Any]]] = {}
        self._number = 0
        try:
            self.world = World(reference, free=free, points=points)
            if self.world.scenario.needs_torch:
                raise UserError(f"{reference}: torch's state outlives a run; use fresh processes")
        except BaseException:
            self.close()
            raise
        self.about: dict[str, Any] = self.world.about()
        self._sequential = Sequential(Orders(self._plain), self.world.scenario.compares)
        self.restored = frozenset(self.about["save_restore"])
        self.fewest: int = self.about["threads"][0]
        self.bodies: int = self.about["bodies"]

    def start(self, job: Job) -> int:
        """Makes the run at once. Raises CannotTest when a thread of it does not come back."""
        world = self.world
        if job.fix != "none" and world.is_per_process(job.fix):
            raise UserError(f"{job.fix} needs processes")
        report = execute_in_main(job, world) if job.in_main else execute(
            job, world.scenario, world.table, world.backend, world.fix(job.fix), self.pool.start, wait=True,
            home=world.module,
        )  # fmt: skip
        if not self.pool.wait(_UNWIND):
            raise CannotTest(f"{world.scenario}: a thread does not end; use fresh processes")
        self._number += 1
        self._reports[self._number] = (job, report)
        return self._number

    def _plain(self, job: Job) -> dict[str, Any]:
        return self._reports.pop(self.start(job))[1]

    def wait(self, number: int) -> Report:
        job, report = self._reports.pop(number)
        self._sequential.judge(job, report)
        return Report.from_json(report, self.world.scenario.expect)

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
        for job in jobs:
            yield job, self.run(job)

    def run(self, job: Job) -> Report:
        return self.wait(self.start(job))

    def close(self) -> None:
        self.pool.close()
        gc.unfreeze()
        install.uninstall()

    def __enter__(self) -> InlineRunner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
