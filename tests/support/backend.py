"""A back-end over a module made of source text, on every Python."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any

from harness.control import backends, collector
from harness.control.actions import Decider, HandOver
from harness.control.controller import Controller
from harness.control.instrument import Instruments
from harness.control.sparse import Sparse
from harness.run.pool import WorkerPool
from harness.schedule.schedule import Directive
from harness.states.scan import file_module, scan

_names = itertools.count()
Make = Callable[..., "World"]


class World:
    """A module made of source text, scanned and instrumented."""

    def __init__(
        self, source: str, fine: bool, free: bool, pool: WorkerPool, points: Sequence[str], entries: Sequence[str]
    ) -> None:
        self.name = f"backend_case_{next(_names)}"
        self.module: Any = types.ModuleType(self.name)
        sys.modules[self.name] = self.module
        code = compile(dedent(source), f"{self.name}.py", "exec")
        file_module(self.module, code)
        exec(code, vars(self.module))
        table = scan([self.name], [self.module] if fine else [], points, entries)
        self.free = free
        self.pool = pool
        self.backend = backends.make(Instruments(table, free=free))

    def run(self, *bodies: str, at: str = "", n: int = 1, observer: Any = None) -> Controller:
        """Run functions of the module as threads; ``at``: T0 hands over to T1 after this point."""
        directives = (Directive("T0", at.replace("M.", self.name + "."), n, HandOver("T1")),) if at else ()
        decider: Decider = Sparse(directives)
        control = Controller(decider, free=self.free, backend=self.backend, observer=observer)
        with collector.on_demand_only():  # as in every run: a callback of the collector's, Hypothesis' say, hides points
            control.run([getattr(self.module, body) for body in bodies], 0, self.pool.start)
        return control

    def points(self, control: Controller, thread: int = 0) -> list[str]:
        return [key.replace(self.name + ".", "M.") for index, key, _ in control.log if index == thread]


STATE = """
    flag = 0
    seen = []
    def write(value):
        global flag
        flag = value
    def other():
        seen.append(flag)
"""

PLACE = """
    flag = 0
    log = []
    def callee():
        log.append("callee")
    def other():
        log.append("other")
    def gen():
        yield 1
        yield 2
    class Thing:
        def __init__(self):
            log.append("init")
    def body():
        global flag
        flag = 1
        {then}
        log.append("end")
"""
