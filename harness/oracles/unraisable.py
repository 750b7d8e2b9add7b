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
        sys.unraisablehook = self._note
        threading.excepthook = self._note

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook, threading.excepthook = self.hooks

    def _note(self, args: Any) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, Abandoned):  # of an earlier run
            me = self.control.current
            name = me.name if me is not None else "main"
            self.found.append(of_error(args.exc_value, name, len(self.control.log)))
