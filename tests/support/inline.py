"""Runs within the test's own process, under cooperative locks."""

from __future__ import annotations

import concurrent.futures.thread
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from harness.control import install
from harness.control.actions import Action, Collect, HandOver
from harness.control.locks import CoopLock
from harness.run.execute import execute
from harness.run.job import Job
from harness.run.pool import WorkerPool
from harness.run.report import Report
from harness.scenario import Scenario
from harness.schedule import Directive, Schedule
from harness.states import Table

Body = Callable[[Any], Any]


def at(thread: str, point: str, does: str | int, n: int = 1) -> Directive:
    """``does``: the thread to hand over to, or the generation to collect."""
    action: Action = HandOver(does) if isinstance(does, str) else Collect(does)
    return Directive(thread, point, n, action)


class Inline:
    """``run(bodies, directives, ...)``: one run in this process; its report."""

    def __init__(self) -> None:
        self.pool = WorkerPool()

    def run(
        self,
        bodies: Sequence[Body],
        *directives: Directive,
        make: Callable[[], Any] = lambda: None,
        first: int = 0,
        check: Any = None,
    ) -> Report:
        scenario = Scenario(bodies, setup=lambda axes: make(), check=check)
        schedule = Schedule("inline", len(bodies), first, directives=directives)
        data = execute(Job(schedule), scenario, Table(), None, None, self.pool.start, wait=True)
        return Report.from_json(data, None)


@contextmanager
def cooperative(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    """The factories are replaced meanwhile, and the one lock that executors made at their import."""
    install.install()
    monkeypatch.setattr(concurrent.futures.thread, "_global_shutdown_lock", CoopLock())
    gc.collect()
    gc.freeze()
    inline = Inline()
    try:
        yield inline
    finally:
        inline.pool.close()
        gc.unfreeze()
        install.uninstall()
        gc.enable()


def points(report: Report, thread: str | None = None) -> list[str]:
    return [point for name, point, _ in report.log if thread in (None, name)]
