"""``harness run``: what it finds, and what it does not call a race."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import LOST, Harness

Program = Callable[[str, str], str]


def test_found_replayed_explained(program: Program, harness: Harness) -> None:
    program("prog.py", LOST + "    if __name__ == '__main__':\n        run(1)\n")
    status, out, err = harness("run", "--json", "--times", "2", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, err) == (1, "")
    assert data["controls"] == {"plain threads": "ok", "main first": "ok", "threads first": "ok"}
    assert (data["state"], data["outcome"], data["switches"]) == ("__main__.total", "error", 1)
    assert data["replay"] == {"times": 2, "same": 2}
    status, out, _ = harness("run", "--replay", data["token"], "--times", "2", "--json", "--", "python", "prog.py")
    assert (status, json.loads(out)["same"], json.loads(out)["signature"]) == (1, 2, data["signature"])
    status, out, _ = harness("explain", data["token"])
    assert status == 0
    assert f"replay    harness run --replay {data['token']} -- python prog.py" in out
    assert "harness/program" not in out
    assert harness("run", "--replay", data["token"], "--", "python", "other.py")[0] == 2


def test_the_repaired_program_passes_and_says_on_what_that_rests(program: Program, harness: Harness) -> None:
    program(
        "prog.py",
        """
        import threading
        total, lock = 0, threading.Lock()
        def add():
            global total
            with lock:
                total = total + 1
        threads = [threading.Thread(target=add), threading.Thread(target=add)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        raise SystemExit(total != 2)
        """,
    )
    status, out, _ = harness("run", "--json", "--budget", "25", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["found"], data["certain"]) == (0, False, False)
    assert "the limit of 25 schedules: inconclusive" in data["rests_on"]


def test_tests_of_pytest(program: Program, harness: Harness) -> None:
    program("test_it.py", LOST + "    def test_quick():\n        pass\n    def test_run(tmp_path, capsys):\n        run(1)\n")
    status, out, err = harness("run", "--json", "--times", "1", "--", "pytest", "-q", "test_it.py")
    data = json.loads(out)
    assert (status, err) == (1, "")
    assert data["state"] == "test_it.total"
    assert data["signature"] == "AssertionError: <n> [run]"
    assert data["replay"]["same"] == 1


@pytest.mark.parametrize(
    ("source", "status", "says"),
    [
        ("print(1)", 125, "it started no thread"),
        ("raise ValueError(7)", 125, "fails before it starts a thread: ValueError: 7"),
        ("import threading as t\nx = t.Thread(target=print)\nx.start()\nx.join()\nraise ValueError(7)", 125, "in whatever order"),
        ("def (", 2, "line 1"),
        (None, 2, "No such file"),
    ],
)
def test_what_is_no_matter_of_timing(program: Program, harness: Harness, source: str | None, status: int, says: str) -> None:
    if source is not None:
        program("prog.py", source)
    found, out, err = harness("run", "--", "python", "gone.py" if source is None else "prog.py")
    assert (found, out, err.count("\n")) == (status, "", 1)
    assert says in err


def test_a_failure_of_one_order_only_is_one_of_timing(program: Program, harness: Harness) -> None:
    """It fails without a switch, where main goes on, and passes where a thread runs at once."""
    program("prog.py", "import threading\ndone = []\nthreading.Thread(target=done.append, args=(1,)).start()\nassert done\n")
    status, out, _ = harness("run", "--json", "--times", "1", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["directives"]) == (1, [])
    assert data["controls"]["threads first"] == "ok"


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
    assert "use --restart" in err
    assert "run:--restart" in data["token"]


def test_deadlocks_pools_and_what_threads_raise(program: Program, harness: Harness) -> None:
    program(
        "prog.py",
        """
        import sys
        import threading
        from concurrent.futures import ThreadPoolExecutor
        a, b = threading.Lock(), threading.Lock()
        def take(x, y):
            with x:
                len("")
                str(1)
                with y:
                    return 1
        def main():
            with ThreadPoolExecutor(2) as pool:
                jobs = [pool.submit(take, a, b), pool.submit(take, b, a)]
                assert [job.result() for job in jobs] == [1, 1]
        if __name__ == "__main__":
            main()
        """,
    )
    status, out, _ = harness("run", "--json", "--times", "1", "--", "python", "-m", "prog")
    data = json.loads(out)
    assert (status, data["outcome"], data["replay"]["same"]) == (1, "deadlock", 1)
    program("raises.py", "import threading\nd = {}\nr = [threading.Thread(target=d.update, args=({1: 1},)), threading.Thread(target=lambda: print(d[1]))]\n"
            "[x.start() for x in r]\n[x.join() for x in r]\n")  # fmt: skip
    data = json.loads(harness("run", "--json", "--times", "1", "--", "python", "raises.py")[1])
    assert (data["signature"], data["found"]) == ("KeyError: <n> [<lambda>]", True)


def test_modules_are_chosen(program: Program, harness: Harness) -> None:
    program("state.py", "value = 0\ndef put(x):\n    global value\n    value = x\ndef get():\n    return value\n")
    program(
        "prog.py",
        """
        import threading, state
        def body(n):
            state.put(n)
            assert state.get() == n
        threads = [threading.Thread(target=body, args=(n,)) for n in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        """,
    )
    for options in ((), ("--module", "state", "--fine", "state")):
        status, out, _ = harness("run", "--json", "--times", "1", *options, "--", "python", "prog.py")
        assert (status, json.loads(out)["state"]) == (1, "state.value")
    status, out, err = harness("run", "--module", "absent", "--", "python", "prog.py")
    assert (status, out) == (2, "")
    assert "--module absent" in err
