"""``harness run``: what it finds, and what it does not call a race."""

from __future__ import annotations

import json
from collections.abc import Callable
from textwrap import dedent

import pytest

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

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
    status, out, _ = harness("run", "--json", "--seconds", "0.01", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["schedules"]) == (0, 1)  # the controls took longer
    assert "the limit of 0.01 s: inconclusive" in data["rests_on"]


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


def test_tests_that_are_not_there(program: Program, harness: Harness) -> None:
    status, out, err = harness("run", "--", "pytest", "nowhere.py")
    assert (status, out) == (2, "")
    assert "no such file" in err


def test_arguments_a_daemon_and_what_main_raises(program: Program, harness: Harness) -> None:
    program(
        "prog.py",
        """
        import sys, threading
        ready, value = False, None
        def fill(word):
            global ready, value
            ready = True
            value = str(word)
        def main(words):
            assert words == ["a b", "--x"]
            threading.Thread(target=fill, args=words[:1], daemon=True).start()
            if ready and value is None:
                raise LookupError("no value")
        if __name__ == "__main__":
            main(sys.argv[1:])
        """,
    )
    status, out, _ = harness("run", "--json", "--times", "1", "--", "python", "prog.py", "a b", "--x")
    data = json.loads(out)
    assert (status, data["signature"], data["state"]) == (1, "LookupError: no value [main]", "__main__.ready")
    status, out, _ = harness("replay", data["token"], "--times", "2", "--json")
    assert (status, json.loads(out)["same"]) == (1, 2)


def test_unittest(program: Program, harness: Harness) -> None:
    program(
        "test_it.py",
        "import unittest\n" + dedent(LOST)
        + "class Case(unittest.TestCase):\n    def test_run(self):\n        run(1)\nif __name__ == '__main__':\n    unittest.main()\n",
    )  # fmt: skip
    for words, state in ((("test_it.py",), "__main__.total"), (("-m", "unittest", "test_it"), "test_it.total")):
        status, out, _ = harness("run", "--json", "--times", "1", "--", "python", *words)
        assert (status, json.loads(out)["state"]) == (1, state)


def test_a_fix_of_the_users_own(program: Program, harness: Harness) -> None:
    """In force from the first thread on: what a thread looks up when it runs is replaced."""
    program("prog.py", LOST.replace("target=add", "target=lambda n: add(n)") + "    if __name__ == '__main__':\n        run(1)\n")
    program(
        "fixes.py",
        """
        import contextlib, sys, threading
        @contextlib.contextmanager
        def one_at_a_time():
            main, lock = sys.modules["__main__"], threading.Lock()
            add = main.add
            def locked(n):
                with lock:
                    add(n)
            main.add = locked
            yield
            main.add = add
        """,
    )
    counts = {}
    for fix in ("none", "fixes.py:one_at_a_time"):
        status, out, err = harness("run", "--json", "--times", "1", "--budget", "30", "--fix", fix, "--", "python", "prog.py")
        data = json.loads(out)
        counts[fix] = (status, err, data["outcome"])
    assert counts == {"none": (1, "", "error"), "fixes.py:one_at_a_time": (0, "", "ok")}


def test_a_failure_of_one_order_only_is_one_of_timing(program: Program, harness: Harness) -> None:
    """It fails without a switch, where main goes on, and passes where a thread runs at once."""
    program("prog.py", "import threading\ndone = []\nthreading.Thread(target=done.append, args=(1,)).start()\nassert done\n")
    status, out, _ = harness("run", "--json", "--times", "1", "--", "python", "prog.py")
    data = json.loads(out)
    assert (status, data["directives"]) == (1, [])
    assert data["controls"]["threads first"] == "ok"


def test_a_deadlock(program: Program, harness: Harness) -> None:
    program(
        "prog.py",
        """
        import threading
        a, b = threading.Lock(), threading.Lock()
        def take(x, y):
            with x:
                str(1)
                with y:
                    pass
        def main():
            threads = [threading.Thread(target=take, args=two) for two in ((a, b), (b, a))]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        if __name__ == "__main__":
            main()
        """,
    )
    status, out, _ = harness("run", "--json", "--times", "1", "--", "python", "-m", "prog")
    data = json.loads(out)
    assert (status, data["outcome"], data["replay"]["same"]) == (1, "deadlock", 1)


def test_what_a_thread_raises_is_found_though_main_passes(program: Program, harness: Harness) -> None:
    program("prog.py", "import threading\nd = {}\nr = [threading.Thread(target=d.update, args=({1: 1},)), threading.Thread(target=lambda: print(d[1]))]\n"
            "[x.start() for x in r]\n[x.join() for x in r]\n")  # fmt: skip
    data = json.loads(harness("run", "--json", "--times", "1", "--", "python", "prog.py")[1])
    assert (data["signature"], data["found"]) == ("KeyError: <n> [<lambda>]", True)


def test_a_pool_that_starts_its_first_thread(program: Program) -> None:
    """It holds a lock meanwhile that a fork takes too."""
    program(
        "prog.py",
        """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2)
        jobs = [pool.submit(abs, -n) for n in range(3)]
        raise SystemExit([job.result() for job in jobs] != [0, 1, 2])  # the workers end with the interpreter
        """,
    )
    with Launcher("run:python prog.py", jobs=1) as launcher:
        schedule = Schedule("run:python prog.py", 1)
        reports = [launcher.run(job) for job in (Job(schedule), Job(schedule), Job(schedule, plain=True))]
    assert [report.outcome for report in reports] == ["ok", "ok", "ok"], reports[0].message
    assert reports[0].digest == reports[1].digest
    assert {"T0", "T0.1", "T0.2"} <= set(reports[0].threads)


def test_a_setting_made_for_good_is_no_leak(program: Program) -> None:
    program(
        "prog.py",
        """
        import threading
        mode, depth = 0, 0
        def within(new):
            global mode
            before = mode
            mode = new
            str(1)
            mode = before
        def forever():
            global depth
            before = depth
            depth = 1
            if before:
                depth = before
        thread = threading.Thread(target=within, args=(1,))
        thread.start()
        thread.join()
        forever()
        """,
    )
    with Launcher("run:python prog.py", jobs=1) as launcher:
        report = launcher.run(Job(Schedule("run:python prog.py", 1)))
        assert {"__main__.mode", "__main__.depth"} <= launcher.restored, "both are saved and restored"
    assert report.outcome == "ok", report.message


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


def test_an_excepthook_of_the_program_is_called(program: Program, harness: Harness) -> None:
    program(
        "hook.py",
        """
        import threading
        done = threading.Event()
        threading.excepthook = lambda args: done.set()
        def fails():
            raise KeyError(1)
        threading.Thread(target=fails).start()
        done.wait()
        """,
    )
    status, _, err = harness("run", "--jobs", "1", "--budget", "2", "--", "python", "hook.py")
    assert (status, "KeyError: 1" in err) == (125, True), err
