"""Programs whose runs cannot be forks at their first thread: each begins at its first line."""

from __future__ import annotations

import json
from collections.abc import Callable

from .conftest import Harness

Program = Callable[[str, str], str]


def test_what_lies_outside_the_process_makes_every_run_begin_anew(program: Program, harness: Harness) -> None:
    program(
        "prog.py",
        """
        import os, tempfile, threading
        n = 0
        def add(folder):
            global n
            seen = n
            open(os.path.join(folder, "x"), "w").close()
            n = seen + 1
        with tempfile.TemporaryDirectory() as folder:
            threads = [threading.Thread(target=add, args=(folder,)) for _ in range(2)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        assert n == 2, n
        """,
    )
    status, out, err = harness("run", "--json", "--times", "1", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["restart"], data["state"], data["replay"]["same"]) == (1, True, "__main__.n", 1)
    assert "as with --restart" in err
    assert "run:--restart" in data["token"]


def test_channels_that_are_open_before_the_first_thread_are_each_runs_own(program: Program, harness: Harness) -> None:
    program(
        "echo.py",
        """
        import socket, threading
        near, far = socket.socketpair()
        def echo():
            for _ in range(3):
                far.sendall(far.recv(10) + b"!")
        thread = threading.Thread(target=echo)
        thread.start()
        for n in range(3):
            near.sendall(b"%d" % n)
            assert near.recv(10) == b"%d!" % n
        thread.join()
        """,
    )
    status, out, err = harness("run", "--jobs", "2", "--budget", "8", "--", "python", "echo.py")
    assert (status, "none found" in out) == (0, True), out
    assert "opened a pipe, a socket or an event loop before it starts its first thread" in err


def test_a_program_that_remembers_its_process(program: Program, harness: Harness) -> None:
    program(
        "same.py",
        """
        import os, threading
        here = os.getpid()
        same = []
        thread = threading.Thread(target=lambda: same.append(os.getpid() == here))
        thread.start()
        thread.join()
        assert same == [True]
        """,
    )
    status, out, err = harness("run", "--jobs", "1", "--budget", "2", "--", "python", "same.py")
    assert (status, "none found" in out) == (0, True), err
    assert err.count("\n") == 1
    assert "fails in every fork at its first thread: tried from its beginning, as with --restart" in err
