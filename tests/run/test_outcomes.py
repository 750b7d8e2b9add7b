"""What a program does becomes an outcome; the next run on the same forking parent is fine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.programs import children_of, write

from harness.control.actions import HandOver
from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Directive, Schedule

SOURCE = """
class Shared:
    def __init__(self, what):
        self.what, self.left, self.right = what, threading.Lock(), threading.Lock()

def setup(axes):
    if axes["what"] == "setup raises":
        raise RuntimeError("no table to set up")
    if axes["what"] == "setup exits":
        sys.exit("set-up gave up")
    return Shared(axes["what"])

def one(shared):
    act(shared.what)
    with shared.left:
        marker("between")
        with shared.right:
            return 1

def two(shared):
    with shared.right:
        marker("here_too")
        with shared.left:
            return 2

def act(what):
    if what == "error":
        raise KeyError("missing 17")
    if what == "endless":
        while True:
            pass
    if what == "sleeps in C":
        ctypes.CDLL(None).pause()
    if what == "segfault":
        ctypes.string_at(0)
    if what == "abort":
        os.abort()
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "_exit":
        os._exit(3)
    if what == "_exit 0":
        os._exit(0)
    if what == "exit":
        sys.exit("enough")
    if what == "interrupt":
        raise KeyboardInterrupt
    if what == "prints":
        print("x" * 1_000_000)
        sys.stderr.write("Timeout (of something else)")
    if what == "no plain result":
        return
    if what == "unraisable":
        class Loud:
            def __del__(self):
                raise ValueError("in a finalizer")
        Loud()
    if what == "thread dies":
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    if what == "leaves a process":
        subprocess.Popen(["sleep", "100000"])
    if what == "forks":
        if os.fork() == 0:
            signal.pause()

def check(shared, results):
    assert shared.what != "wrong value", "counted 3, not 4"
    if shared.what == "check raises":
        raise LookupError("in the check")

scenario = Scenario(
    bodies=[one, two], setup=setup, check=check, seconds=2.0,
    axes={"what": [
        "nothing", "error", "wrong value", "endless", "sleeps in C", "segfault", "abort", "killed",
        "_exit", "_exit 0", "exit", "interrupt", "prints", "unraisable", "thread dies", "check raises",
        "setup raises", "setup exits",
        "leaves a process", "forks",
    ]},
)
"""


class Program:
    def __init__(self, reference: str, launcher: Launcher) -> None:
        self.reference, self.launcher = reference, launcher

    def run(self, what: str, *directives: Directive) -> Report:
        schedule = Schedule(self.reference, 2, axes={"what": what}, directives=directives)
        return self.launcher.run(Job(schedule))


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    reference = write(tmp_path_factory.mktemp("programs"), SOURCE)
    with Launcher(reference) as launcher:
        yield Program(reference, launcher)


@pytest.fixture
def program(launched: Program) -> Iterator[Program]:
    """Whatever a test does with it, the next run is fine and no child is left."""
    yield launched
    assert launched.run("nothing").outcome == "ok"
    assert launched.launcher._process is not None
    assert children_of(launched.launcher._process.pid) == []


def test_ok(program: Program) -> None:
    report = program.run("nothing")
    assert (report.outcome, report.results, report.threads) == ("ok", [1, 2], ["T0", "T1"])
    assert not report.failed


def test_error(program: Program) -> None:
    report = program.run("error")
    assert report.failed
    assert report.outcome == "error"
    assert report.signature == "KeyError: 'missing <n>' [act]"
    assert report.message == "KeyError: 'missing 17'"
    assert report.findings[0].thread == "T0"
    assert report.findings[0].stack[-1].endswith(" act")
    assert report.results == [None, 2]


def test_wrong_value(program: Program) -> None:
    report = program.run("wrong value")
    assert report.outcome == "wrong value"
    assert report.message == "AssertionError: counted 3, not 4"


def test_an_error_in_the_check_is_no_wrong_value(program: Program) -> None:
    assert program.run("check raises").outcome == "error"


AB_BA = Directive("T0", "marker:between", 1, HandOver("T1"))


def test_deadlock(program: Program) -> None:
    report = program.run("nothing", AB_BA)
    assert report.outcome == "deadlock"
    one, two = report.message.split("; ")
    lines = SOURCE.splitlines()
    take_right = next(i for i, line in enumerate(lines) if line.strip() == "with shared.right:")
    for text, name, other in ((one, "T0", "T1"), (two, "T1", "T0")):
        assert text.startswith(f"{name} waits for the lock made at ")
        assert f"held by {other}, taken at " in text
    path = program.reference.partition(":")[0]
    offset = Path(path).read_text().splitlines().index("class Shared:") - lines.index("class Shared:")
    assert f"at {path}:{take_right + 1 + offset}, held by T1" in one
    assert {line.partition(": ")[0] for line in report.findings[0].stack} == {"T0", "T1"}
    assert any(line.endswith(" two") for line in report.findings[0].stack)


@pytest.mark.parametrize("what", ["endless", "sleeps in C"])
def test_hang(program: Program, what: str) -> None:
    report = program.run(what)
    assert report.outcome == "hang"
    assert report.message == "no end after 2 s"
    stack = "\n".join(report.findings[0].stack)
    assert stack.count("most recent call first") >= 3, "the stacks of all threads: main and two bodies"
    assert " in act" in stack


def test_segfault(program: Program) -> None:
    report = program.run("segfault")
    assert (report.outcome, report.message) == ("crash", "killed by SIGSEGV")
    assert any("in string_at" in line for line in report.findings[0].stack)
    assert any("in act" in line for line in report.findings[0].stack)


def test_abort(program: Program) -> None:
    report = program.run("abort")
    assert (report.outcome, report.message) == ("crash", "killed by SIGABRT")
    assert any("in act" in line for line in report.findings[0].stack)


def test_killed(program: Program) -> None:
    assert program.run("killed").message == "killed by SIGKILL"


@pytest.mark.parametrize(("what", "status"), [("_exit", 3), ("_exit 0", 0)])
def test_left_without_a_word(program: Program, what: str, status: int) -> None:
    report = program.run(what)
    assert (report.outcome, report.message) == (
        "crash",
        f"the process left with status {status} and no report",
    )


@pytest.mark.parametrize(("what", "kind"), [("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")])
def test_exits_and_interrupts_are_errors_of_their_thread(program: Program, what: str, kind: str) -> None:
    report = program.run(what)
    assert report.outcome == "error"
    assert report.message.startswith(kind)
    assert report.findings[0].thread == "T0"
    assert report.results == [None, 2]


def test_what_is_printed_disturbs_nothing(program: Program) -> None:
    assert program.run("prints").outcome == "ok"


def test_what_python_only_prints_is_an_error(program: Program) -> None:
    assert program.run("unraisable").message == "ValueError: in a finalizer"
    assert program.run("thread dies").message == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("what", "says"), [("setup raises", "no table to set up"), ("setup exits", "set-up gave up")]
)
def test_a_set_up_that_raises_is_the_users_mistake(program: Program, what: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        program.run(what)


def test_a_switch_before_a_crash_is_known(program: Program) -> None:
    module = program.reference.rpartition("/")[2].partition(".")[0]
    switch = Directive("T1", f"lock:{module}.two", 1, HandOver("T0"))
    schedule = Schedule(program.reference, 2, 1, axes={"what": "segfault"}, directives=(switch,))
    report = program.launcher.run(Job(schedule))
    assert report.outcome == "crash"
    assert report.directives[:1] == (switch,)


@pytest.mark.parametrize("what", ["leaves a process", "forks"])
def test_processes_of_the_program_end_with_its_run(program: Program, what: str) -> None:
    assert program.run(what).outcome == "ok"
