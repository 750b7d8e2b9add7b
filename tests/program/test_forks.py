"""A program that forks: the child ends as Python would end it, and its deadlock is the program's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .conftest import Harness


def test_a_fork_while_a_thread_has_a_lock(program: Callable[[str, str], str], harness: Harness) -> None:
    program(
        "prog.py",
        """
        import os, sys, threading
        lock = threading.Lock()
        def nothing(): pass
        def holds():
            with lock:
                nothing()
        thread = threading.Thread(target=holds)
        thread.start()
        pid = os.fork()
        if pid == 0:
            with lock:
                sys.exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
        thread.join()
        """,
    )
    status, out, err = harness("run", "--json", "--times", "2", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["outcome"], data["replay"]) == (1, "deadlock", {"times": 2, "same": 2}), err
    assert data["controls"] == {"plain threads": "ok", "main first": "ok", "threads first": "ok"}


def test_a_pool_of_processes_that_is_there_before_the_first_thread(program: Callable[[str, str], str], harness: Harness) -> None:
    """A fork is not the parent of the pool's workers: every run begins at the beginning. No worker is left behind."""
    program(
        "pool.py",
        """
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        def more(n): return n + 1
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            assert list(pool.map(more, range(3))) == [1, 2, 3]
        """,
    )
    status, out, err = harness("run", "--jobs", "1", "--budget", "2", "--", "python", "pool.py")
    assert status == 0, err
    assert "started processes before it starts its first thread: each run begins at the program's first line" in err
    assert "none found" in out
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [command for command in commands if b"pool.py" in command and b"harness.parent" in command]
