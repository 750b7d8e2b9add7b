"""When garbage is collected in a run: at places that are counted, never by thresholds.

========== ======================================================================================================
auto       as Python does by itself
off        never
between    after each test, so that none is left for the next
start      at the start of the last test, of its set-up and of its call; nowhere else
during     at each place of the last test: a line of its own file, a start of a function elsewhere (twice each)
each       at each such place of every test
during:7   at the seventh such place alone (counted from 0)
during:<7  at those before it
========== ======================================================================================================

``,frozen`` behind it: what is there before the last test is out of the collector's sight. What is there before the first
is so in all but ``auto``, or a collection would take as long as all that was imported is large.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WHEN = re.compile(r"(auto|off|between|each|start|during(?::(<?)(\d+))?)(,frozen)?")
_HITS = 2  # a loop's lines are places the first two times
#: Code that is not the test's: nothing is gained by collecting in it, and its functions are many.
_MACHINERY = ("_pytest", "pluggy", "importlib", "<frozen", "<attrs", os.path.dirname(os.path.abspath(__file__)))


class Collections:
    """Raises ValueError for what is no such word."""

    def __init__(self, when: str) -> None:
        match = _WHEN.fullmatch(when)
        if match is None:
            raise ValueError(f"{when!r}: auto, off, between, each, start or during; ,frozen behind it")
        self.base = match[1].partition(":")[0]
        self.frozen = bool(match[4])
        place = int(match[3]) if match[3] else None
        self.since, self.until = (0, sys.maxsize) if place is None else (0 if match[2] else place, place + (not match[2]))
        self.tell: Any = lambda **_: None
        self.passed = 0
        self._telling = self.until - self.since == 1
        self._hits: dict[object, int] = {}

    @contextmanager
    def decided(self) -> Iterator[None]:
        """For all tests of a session."""
        on = gc.isenabled()
        if self.base != "auto":
            gc.collect()
            gc.disable()
            gc.freeze()
        try:
            yield
        finally:
            if on:
                gc.enable()

    def before(self, last: bool) -> None:
        if self.base != "auto":
            gc.disable()  # a test may have put it on
        if last and self.frozen:
            gc.freeze()
        self._hits.clear()

    def after(self) -> None:
        if self.base == "between":
            gc.collect()

    def start(self, last: bool) -> None:
        """A test's set-up or call begins."""
        if self.base == "start" and last:
            gc.collect()

    @contextmanager
    def within(self, last: bool, file: str) -> Iterator[None]:
        """Around set-up, call or tear-down of a test."""
        if self.base != "each" and not (self.base == "during" and last):
            yield
            return
        previous = sys.gettrace()
        sys.settrace(self._tracer(file))
        try:
            yield
        finally:
            sys.settrace(previous)
            if last:
                self.tell(places=self.passed)

    def _tracer(self, file: str) -> Any:
        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                self._place(frame, (frame.f_code, frame.f_lineno))
            return line

        def call(frame: Any, event: str, _: Any) -> Any:
            code = frame.f_code
            if code.co_filename == file:
                return line
            if not any(part in code.co_filename for part in _MACHINERY):
                self._place(frame, code)
            return None

        return call

    def _place(self, frame: Any, key: object) -> None:
        hits = self._hits.get(key, 0)
        if hits == _HITS:
            return
        self._hits[key] = hits + 1
        here, self.passed = self.passed, self.passed + 1
        if self.since <= here < self.until:
            if self._telling:
                self.tell(place=here, at=f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}")
            gc.collect()
