"""A run on plain threads, no control: the baseline that shows how rarely chance finds what a schedule finds."""

from __future__ import annotations

import threading
from typing import Any

from harness.control import raw
from harness.control.marks import plain
from harness.oracles.checked import checked

from .execute import set_up
from .job import Job
from .outcome import Finding, of_error
from .world import World


def execute_plain(job: Job, world: World) -> dict[str, Any]:
    """The threads start together, behind one barrier; nothing else is arranged."""
    began = raw.monotonic()
    scenario, count = world.scenario, job.schedule.threads
    findings: list[Finding] = []
    results: list[Any] = [None] * count
    together = threading.Barrier(count)
    with set_up(scenario, job, world.fix(job.fix)) as shared:

        def live(index: int) -> None:
            plain.index = index
            together.wait()
            try:
                results[index] = scenario.body(index)(shared)
            except BaseException as error:
                findings.append(of_error(error, f"T{index}", 0))

        threads = [threading.Thread(target=live, args=(index,), daemon=True) for index in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        findings += checked(scenario, shared, results, 0)
    return {
        "findings": [finding.to_json() for finding in findings],
        "results": results,
        "threads": [f"T{index}" for index in range(count)],
        "seconds": raw.monotonic() - began,
    }
