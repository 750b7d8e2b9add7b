"""A program that forks: the child ends as Python would end it, and its deadlock is the program's."""

from __future__ import annotations

import json
from collections.abc import Callable

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
