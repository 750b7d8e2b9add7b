"""When garbage is collected in a run: at places that are named, never by thresholds.

======== ========================================================================================================
auto     as Python does by itself
off      never
between  after each test, so that none is left for the next
start    at the start of the last test, of its set-up and of its call; nowhere else
at=PLACE at one place of the last test: a line of its file, or the start of a function elsewhere, as ``test_x.py:12#1``
scout    at every place of the last test in turn: each in a fork that ends with the test
scouts   the same for the lines of every test
======== ========================================================================================================

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

_WHEN = re.compile(r"(auto|off|between|start|scouts?|at=.+?)(,frozen)?")
_HITS = 2  # a loop's lines are places the first two times
#: Code that is not the test's: its functions are many, and where they begin says little.
_MACHINERY = ("_pytest", "pluggy", "importlib", "<frozen", "<attrs", os.path.dirname(os.path.abspath(__file__)))


class Collections:
    """Raises ValueError for what is no such word."""

    def __init__(self, when: str, root: str) -> None:
        match = _WHEN.fullmatch(when)
        if match is None:
            raise ValueError(f"{when!r}: auto, off, between, start or at=PLACE; ,frozen behind it")
        self.base, self.frozen, self.root = match[1], bool(match[2]), root
        self.at = self.base[3:] if self.base.startswith("at=") else ""
        self.tell: Any = lambda **_: None
        self._scout = False
        self._hits: dict[str, int] = {}

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
        self._hits.clear()
        if self.base != "auto":
            gc.disable()  # a test may have put it on
        if last and self.frozen:
            gc.freeze()

    def after(self) -> None:
        if self._scout:
            os._exit(0)
        if self.base == "between":
            gc.collect()

    def start(self, last: bool) -> None:
        """A test's set-up or call begins."""
        if self.base == "start" and last:
            gc.collect()

    @contextmanager
    def within(self, last: bool, file: str) -> Iterator[None]:
        """Around set-up, call or tear-down of a test."""
        if self._scout or not (self.base == "scouts" or (last and (self.at or self.base == "scout"))):
            yield
            return
        previous = sys.gettrace()
        sys.settrace(self._tracer(file))
        try:
            yield
        finally:
            sys.settrace(previous)

    def _tracer(self, file: str) -> Any:
        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                self._place(frame)
            return line

        def call(frame: Any, event: str, _: Any) -> Any:
            where = frame.f_code.co_filename
            if where == file:
                return line
            if self.base != "scouts" and not any(part in where for part in _MACHINERY):
                self._place(frame)
            return None

        return call

    def _place(self, frame: Any) -> None:
        name = f"{self._short(frame.f_code.co_filename)}:{frame.f_lineno}"
        hit = self._hits[name] = self._hits.get(name, 0) + 1
        if hit > _HITS or self._scout:
            return
        name = f"{name}#{hit}"
        if self.at:
            if self.at == name:
                gc.collect()
        elif (pid := os.fork()) == 0:
            self._scout = True
            self.tell.scout(name)
            gc.collect()
        else:
            status = os.waitpid(pid, 0)[1]
            if status:
                self.tell(scout=name, died=status)

    def _short(self, file: str) -> str:
        """The same on another machine."""
        if file.startswith(self.root + os.sep):
            return file[len(self.root) + 1 :]
        return os.sep.join(file.split(os.sep)[-2:])
