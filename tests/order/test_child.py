"""One process of pytest: what it tells, and that nothing is left of it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from support.programs import processes_of

from harness.errors import UserError
from harness.order.child import Child, uninterrupted
from harness.order.events import HANG, Events


def test_one_that_says_nothing_for_its_time_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = f"import subprocess, threading; subprocess.Popen(['sleep', '600{os.getpid()}']); print('on', flush=True); threading.Event().wait()"
    child = Child([sys.executable, "-c", program], str(tmp_path), tmp_path / "run", {}, 1e-9)
    while not (tmp_path / "run" / "output").read_text():
        assert child.process.poll() is None
    assert child.ended()
    assert child.close().status == HANG
    while processes_of(f"600{os.getpid()}"):  # killed; the kernel takes a moment
        pass
    child.remove()
    assert not (tmp_path / "run").exists()


def test_an_interruption_waits_while_a_process_is_started(tmp_path: Path) -> None:
    """And the process itself can be interrupted."""
    begun = False

    def start() -> None:
        nonlocal begun
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)  # to this thread: pytest may have others
            program = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True)"
            child = Child([sys.executable, "-c", program], str(tmp_path), tmp_path / "run", {}, 1.0)
            child.process.wait()
            begun = True

    with pytest.raises(KeyboardInterrupt):
        start()
    assert begun
    assert (tmp_path / "run" / "output").read_text() == "set()\n"


def test_what_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("")
    with pytest.raises(UserError, match="program: Permission denied"):
        Child([str(tmp_path / "program")], str(tmp_path), tmp_path / "run", {}, 1.0)


def test_events_of_a_fork_are_not_those_of_the_test() -> None:
    """And a line that was cut off is left out."""
    failed = '"report": "t", "when": "call", "outcome": "failed", "kind": "E", "message": "m", "where": "f"'
    text = "\n".join(
        [
            '{"start": "t"}',
            '{"scout": "t.py:3#1", ' + failed + "}",
            '{"scout": "t.py:4#1", "died": 11}',
            '{"scout": "t.py:5#1", "report": "t", "when": "call", "outcome": "passed"}',
            '{"report": "t", "when": "call", "outcome": "passed"}',
            '{"end": "t"}',
            '{"start": "u"}',
            '{"report": "u", "wh',
        ]
    )
    events = Events(text, -9)
    result = events.result("t", 0.0)
    assert result.outcome == "passed"
    assert result.scouted == (("t", "t.py:3#1", "E: m [f]"), ("t", "t.py:4#1", "the process ended: SIGSEGV"))
    assert events.result("u", 0.0).signature == "the process ended: SIGKILL"
    assert events.result("v", 0.0).by == "u (the process ended: SIGKILL)"
