"""Cells that are not known yet, several at a time, as many as processors and memory allow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from harness import releases
from harness.errors import CannotTest
from harness.run.launch import Launcher

from . import kept
from .ask import ask
from .cell import Answer, Cell

#: What one cell takes: a forking parent with torch in it, a child, and this process's share.
_BYTES = 900e6


def room() -> int:
    """How many cells at a time: one a processor, fewer where memory is short, at least one."""
    processors = len(os.sched_getaffinity(0))
    try:
        line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable:"))
        return max(1, min(processors, int(int(line.split()[1]) * 1024 // _BYTES)))
    except (OSError, StopIteration, ValueError):
        return processors


class _Open:
    """Launchers that are open, to be ended from the main thread."""

    def __init__(self, interpreters: dict[str, str]) -> None:
        self.interpreters = interpreters
        self.lock = Lock()
        self.now: set[Launcher] = set()
        self.ended = False

    @contextmanager
    def __call__(self, cell: Cell) -> Iterator[Launcher]:
        with Launcher(cell.scenario, free=cell.free, jobs=1, python=self.interpreters[cell.torch], fixes=[cell.fix]) as launcher:
            with self.lock:
                if self.ended:  # while it started
                    raise CannotTest("interrupted")
                self.now.add(launcher)
            try:
                yield launcher
            finally:
                with self.lock:
                    self.now.discard(launcher)

    def end(self) -> None:
        with self.lock:
            self.ended = True
            for launcher in self.now:
                launcher.abort()


def carry_out(
    cells: Sequence[Cell], *, jobs: int | None = None, cached_only: bool = False, fresh: bool = False,
    tell: Callable[[str], None] = lambda _: None, source: str = "auto", index: str = "",
) -> dict[Cell, Answer]:
    """Every cell's answer, known or asked now; each is kept as soon as it is there.

    Raises UserError where an environment can't be made.
    """
    answers = {cell: answer for cell in cells if not fresh and (answer := kept.recall(cell)) is not None}
    asked = [cell for cell in cells if cell not in answers]
    interpreters: dict[str, str] = {}
    for cell in list(asked):
        if cell.torch in interpreters:
            continue
        try:
            interpreters[cell.torch] = _interpreter(cell, cached_only, tell, source, index)
        except CannotTest as error:
            answers.update({other: Answer("?", str(error)) for other in asked if other.torch == cell.torch})
            asked = [other for other in asked if other.torch != cell.torch]
    opened = _Open(interpreters)
    with ThreadPoolExecutor(min(jobs or room(), max(1, len(asked)))) as pool:
        flying: dict[Future[Answer], Cell] = {pool.submit(ask, cell, opened): cell for cell in asked}
        try:
            while flying:
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    cell = flying.pop(future)
                    answer = _answer(future)
                    kept.keep(cell, answer)
                    answers[cell] = answer
                    tell(f"[{len(answers)}/{len(cells)}] torch {cell.torch} {cell.scenario} {cell.fix}: {answer.outcome} ({answer.seconds:.1f} s)")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            opened.end()
            raise
    return answers


def _answer(future: Future[Answer]) -> Answer:
    try:
        return future.result()
    except CannotTest as error:
        return Answer("?", str(error))


def _interpreter(cell: Cell, cached_only: bool, tell: Callable[[str], None], source: str, index: str) -> str:
    found = releases.at_hand(cell.torch, cell.python)
    if found is None and cached_only:
        raise CannotTest("no environment of it is at hand")
    if found is None:
        found = releases.add(cell.torch, cell.python, source=source, index=index, tell=tell)
    return found.interpreter


