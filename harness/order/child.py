"""A process of the user's pytest: started, watched, and ended with what it started."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.run.death import die_with_parent, kill_session

from .command import INSIDE, PLUGIN
from .events import HANG, Events


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end of this (of a process with one thread): in a fork it is lost, just behind one a process is."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    die_with_parent(parent)


class Child:
    """``job`` is for the plugin (harness/order/inside/switchpoint_order.py). Raises UserError where it can't be started."""

    def __init__(self, argv: Sequence[str], cwd: str, folder: Path, job: dict[str, Any], seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        folder.mkdir(parents=True)
        self._events = folder / "events"
        ours = os.getpid()
        named = {name: os.environ.get(name) for name in ("PYTHONPATH", "PYTEST_ADDOPTS")}
        about = {**job, "events": str(self._events), "basetemp": str(folder / "tmp"), "environ": named}
        (folder / "job").write_text(json.dumps(about), encoding="utf-8")
        options = ["-p", PLUGIN]
        if not any("no:cacheprovider" in word for word in [*argv, named["PYTEST_ADDOPTS"] or ""]):
            options += ["-o", f"cache_dir={folder / 'cache'}"]  # the user's own says what failed last in the user's runs
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(INSIDE), *filter(None, [named["PYTHONPATH"]])]),
            "PYTEST_ADDOPTS": " ".join([shlex.join(options), *filter(None, [named["PYTEST_ADDOPTS"]])]),
            "SWITCHPOINT_ORDER": str(folder / "job"),
        }
        self.began = self._moved = time.monotonic()
        self._size = 0
        with open(folder / "output", "wb") as output:
            try:
                self.process = subprocess.Popen(
                    argv, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    start_new_session=True, preexec_fn=lambda: _begin(ours),
                )  # fmt: skip
            except OSError as error:
                raise UserError(f"{argv[0]}: {error.strerror}") from None

    def ended(self) -> bool:
        """It has, or the time of one test has passed without a word."""
        if self.process.poll() is not None:
            return True
        size = self._events.stat().st_size if self._events.exists() else 0
        if size != self._size:
            self._size, self._moved = size, time.monotonic()
        return time.monotonic() - self._moved > self.seconds

    def last(self) -> str:
        """The last thing it told."""
        lines = self._events.read_text(encoding="utf-8").splitlines() if self._events.exists() else []
        return lines[-1] if lines else ""

    def close(self) -> Events:
        """What it told. Nothing is left of it but its folder."""
        status = self.process.poll()
        self.kill()
        text = self._events.read_text(encoding="utf-8") if self._events.exists() else ""
        return Events(text, HANG if status is None else status)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        kill_session(self.process.pid)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
