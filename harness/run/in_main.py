"""The bodies one after the other in the thread that did the set-up: no thread, no control. What they leave is what
``Scenario(sequential="main")`` wants of threads."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from harness.control import raw
from harness.control.marks import plain
from harness.oracles.aftermath import Aftermath
from harness.oracles.checked import checked
from harness.oracles.probed import probed

from .execute import Ready, set_up
from .job import Job
from .outcome import Finding, of_error
from .world import World


def execute_in_main(job: Job, world: World, ready: Ready | None = None) -> dict[str, Any]:
    """Body ``i`` is the one that thread ``i`` would run; ``job.in_main`` is their order."""
    began = raw.monotonic()
    scenario = world.scenario
    findings: list[Finding] = []
    results: list[Any] = [None] * job.schedule.threads
    apart = job.fix != "none" and world.is_per_process(job.fix)  # bodies alone need no process of their own
    made = nullcontext(ready.shared) if ready is not None else set_up(scenario, job, None if apart else world.fix(job.fix))
    with made as shared:
        aftermath = Aftermath(world.table, world.module)
        for index in job.in_main:
            plain.index = index
            try:
                results[index] = scenario.body(index)(shared)
            except Exception as error:
                findings.append(of_error(error, f"T{index}", 0))
        del plain.index
        findings += checked(scenario, shared, results, 0)
        failures, told = probed(scenario, shared, 0)
        left = aftermath.told(shared, results, told)
    return {
        "findings": [finding.to_json() for finding in [*findings, *failures]],
        "results": results,
        "threads": [f"T{index}" for index in range(job.schedule.threads)],
        "after": left,
        "seconds": raw.monotonic() - began,
    }
