"""A process in which a scenario's set-up has been done, and from which runs are forked.

For scenarios that say ``fork_after_setup``: most of a small run's time is the compile in its set-up. There is one stage
for each choice of threads, axes and fix; every run is still a process of its own, in the state that set-up left.
"""

from __future__ import annotations

import faulthandler
from contextlib import ExitStack

from harness.control import collector

from .execute import Ready, set_up
from .job import Job
from .warm import assert_single_threaded, threads_now
from .world import World

#: Keeps the fix in force for as long as the process lives.
_entered = ExitStack()


def make_ready(world: World, job: Job) -> Ready:
    """Called in a process of its own. Raises what the fix or set-up raises, and UserError when a thread was started."""
    faulthandler.dump_traceback_later(world.scenario.seconds, exit=True)
    watchdog = threads_now()  # when it is told to go it may be seen for a moment longer
    _entered.enter_context(collector.on_demand_only())
    fix = None if world.is_per_process(job.fix) else world.fix(job.fix)
    shared = _entered.enter_context(set_up(world.scenario, job, fix))
    faulthandler.cancel_dump_traceback_later()
    assert_single_threaded("set-up", watchdog)
    return Ready(shared)
