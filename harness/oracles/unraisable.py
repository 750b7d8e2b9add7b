"""Exceptions that Python only prints (in a finalizer, in a thread that nobody asks) are findings too."""

from __future__ import annotations

import sys
import threading
from typing import Any

from harness.control.controller import Abandoned, Controller
from harness.run.outcome import Finding, of_error


class reported:
    """While it is entered, they are put into ``found``."""

    def __init__(self, control: Controller, found: list[Finding]) -> None:
        self.control, self.found = control, found

    def __enter__(self) -> None:
        self.hooks = sys.unraisablehook, threading.excepthook
        sys.unraisablehook = self._unraisable
        threading.excepthook = self._in_thread

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook, threading.excepthook = self.hooks

    def _name(self) -> str:
        me = self.control.current
        return me.name if me is not None else "main"

    def _note(self, args: Any) -> bool:
        if args.exc_value is None or isinstance(args.exc_value, Abandoned):  # of an earlier run
            return False
        self.found.append(of_error(args.exc_value, self._name(), len(self.control.log)))
        return True

    def _in_thread(self, args: Any) -> None:
        own = self.hooks[1]
        ours = own is threading.__excepthook__ or str(getattr(own, "__module__", "")).startswith("_pytest")
        if self._note(args) and not ours:
            own(args)  # what the program does then is part of it

    def _unraisable(self, args: Any) -> None:
        if self._note(args):
            self._blame(f"{type(args.exc_value).__name__}: {args.exc_value}".strip()[:200])

    def _blame(self, raised: str) -> None:
        """The finalizer that a collection of this thread is running, if one is, is where it was raised."""
        for made in reversed(self.control.collections):
            if made.thread == self._name() and made.until < 0 and made.ran:
                made.ran[-1]["raised"] = raised
                return
