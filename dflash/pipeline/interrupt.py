"""Ctrl-C ends the pipeline between two steps; a second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dflash.pipeline.board import Board


class Interrupted(KeyboardInterrupt):
    """Its text says where the run can be gone on with."""


@contextmanager
def interruptible(board: Board) -> Iterator[None]:
    """Only the main thread gets signals; in another, and where Ctrl-C is ignored (nohup), nothing is changed."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: Any) -> None:
        if board.interrupted:
            raise KeyboardInterrupt
        board.interrupted = True  # the coordinator looks before it takes the next plan or gradient

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
