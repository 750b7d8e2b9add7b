"""Threads kept from run to run, for runs within one process."""

from __future__ import annotations

from harness.control import raw
from harness.control.managed import Managed


class _Worker:
    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self.task: Managed | None = None
        self.go = raw.allocate_lock()
        self.go.acquire()
        raw.start_new_thread(self._work, ())

    def _work(self) -> None:
        while True:
            self.go.acquire()
            task, self.task = self.task, None
            if task is None:
                return
            task.controller.live(task)
            self.pool.done(self)


class WorkerPool:
    """``start(managed)`` gives it to an idle thread; ``wait()`` returns when all are idle again."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._busy = 0
        self._guard = raw.allocate_lock()
        self._all_idle = raw.allocate_lock()

    def start(self, managed: Managed) -> None:
        with self._guard:
            worker = self._idle.pop() if self._idle else _Worker(self)
            if not self._busy:
                self._all_idle.acquire(False)
            self._busy += 1
        worker.task = managed
        worker.go.release()

    def done(self, worker: _Worker) -> None:
        with self._guard:
            self._idle.append(worker)
            self._busy -= 1
            if not self._busy and self._all_idle.locked():
                self._all_idle.release()

    def wait(self, seconds: float) -> bool:
        """False when some thread did not come back in time: it will not be used again."""
        if not self._all_idle.acquire(True, seconds):
            return False
        self._all_idle.release()
        return True

    def close(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.go.release()
