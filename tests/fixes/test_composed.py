"""Two fixes at once, in either order: the race stays away, both still do their work, and nothing is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.schedule.schedule import Directive, HandOver

BOTH = """
from contextlib import contextmanager
from harness.fixes.{first} import {first}
from harness.fixes.{second} import {second}

@contextmanager
def both():
    with {first}(), {second}():
        yield
"""
FLAG = "write:torch.fx._symbolic_trace._is_fx_tracing_flag"


@pytest.mark.parametrize(("first", "second"), [("call_lock", "thread_local_fx"), ("thread_local_fx", "call_lock")])
def test_with_a_lock_around_calls(first: str, second: str, tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(BOTH.format(first=first, second=second))
    fix = f"{tmp_path}/both.py:both"
    plain = Schedule("flag.warm", 2)
    inside = plain.with_directives((Directive("T0", FLAG, 1, HandOver("T1")),))
    with Launcher("flag.warm", jobs=1, fixes=[fix]) as launcher:
        assert launcher.run(Job(inside)).failed
        for index in (0, 1):
            alone = launcher.run(Job(Schedule("flag.warm", 2, first=index), fix))
            assert not alone.failed, alone.message
            assert any(key.startswith("lock:harness.fixes._compiled_calls") for _, key, _ in alone.log), "the lock is taken"
            for thread, key, count, _ in list(alone.passes())[::5]:
                if thread == f"T{index}":
                    other = Directive(thread, key, count, HandOver(f"T{1 - index}"))
                    report = launcher.run(Job(Schedule("flag.warm", 2, first=index).with_directives((other,)), fix))
                    assert not report.failed, (str(other), report.message)
        assert launcher.run(Job(plain, fix, residue=True)).results == []
