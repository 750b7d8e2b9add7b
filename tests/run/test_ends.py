"""However a command or its forking parent ends, no process and no file is left."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.programs import ENDLESS, children_of, processes_of, write

import harness
from harness.cli.main import main
from harness.errors import CannotTest
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule, to_token


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A scenario without end, and the pipe that can be opened for reading once a run is in it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "cwd").mkdir()
    yield write(tmp_path, ENDLESS.format(fifo=str(fifo)), "endless"), fifo
    for left in processes_of(str(tmp_path)):  # where a test failed
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)


@pytest.mark.parametrize("command", ["find", "replay", "stress", "check", "explain"])
def test_interrupted(endless: tuple[str, Path], command: str) -> None:
    reference, fifo = endless
    what = to_token(Schedule(reference, 2)) if command in ("replay", "explain") else reference
    jobs = ["--jobs", "2"] if command != "explain" else []
    more = {"replay": ["--times", "9"], "stress": ["--runs", "9"]}.get(command, [])
    cwd = fifo.parent / "cwd"
    before = sorted(os.listdir(fifo.parent))
    client = subprocess.Popen(
        [sys.executable, "-m", "harness", command, what, *jobs, *more],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open(fifo):  # opens when a run has begun
        pass
    client.send_signal(signal.SIGINT)
    out, err = client.communicate(timeout=30)
    assert client.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "harness: interrupted"
    assert "Traceback" not in err
    assert processes_of(reference.partition(":")[0]) == []
    assert os.listdir(cwd) == []
    assert sorted(os.listdir(fifo.parent)) == before


def test_a_killed_client_leaves_nothing(endless: tuple[str, Path]) -> None:
    reference, fifo = endless
    client = subprocess.Popen(
        [sys.executable, "-m", "harness", "find", reference],
        env={**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with open(fifo):
        pass
    zygote = children_of(client.pid)[0]
    run = children_of(zygote)[0]
    handles = [os.pidfd_open(pid) for pid in (zygote, run)]
    client.kill()
    client.wait()
    for handle in handles:  # a pidfd becomes readable when its process ends
        os.set_blocking(handle, True)
        assert _ends(handle)
        os.close(handle)


#: Processes that a body starts: in its group, in a session of its own, and one whose parent has gone.
LEAVES = """
WAITS = [sys.executable, "-c", "import signal; signal.pause()", {mark!r}]
def body(shared):
    subprocess.Popen(WAITS)
    subprocess.Popen(WAITS, start_new_session=True)
    subprocess.run(["/bin/sh", "-c", 'setsid "$0" "$@" &', *WAITS])
    {last}
scenario = Scenario([body, body], setup=lambda axes: None, fork_after_setup={staged}, seconds=100_000.0)
"""
STAYS = """
    with open({fifo!r}, "w"):
        pass
    signal.pause()
"""


def reached(fifo: Path) -> None:
    """Returns once a body has been at the pipe; half a minute at most."""
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert _ends(reader)
    os.close(reader)


def leaving(folder: Path, stays: bool, staged: bool) -> tuple[str, str, Path]:
    """Reference, the mark of what bodies start, and the pipe that opens once both runs' processes are there."""
    fifo, mark = folder / "fifo", f"left-by-{secrets.token_hex(8)}"
    os.mkfifo(fifo)
    last = STAYS.format(fifo=str(fifo)) if stays else ""
    return write(folder, LEAVES.format(mark=mark, last=last.strip(), staged=staged), "leaves"), mark, fifo


def gone(mark: str) -> bool:
    """Waits for the end of every process with the mark, half a minute at most."""
    for pid in processes_of(mark):
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not _ends(handle):
                return False
        finally:
            os.close(handle)
    return processes_of(mark) == []


@pytest.mark.parametrize("staged", [False, True])
def test_what_a_run_starts_ends_with_it(tmp_path: Path, staged: bool) -> None:
    reference, mark, _ = leaving(tmp_path, stays=False, staged=staged)
    with Launcher(reference, jobs=2) as launcher:
        outcomes = [report.outcome for _, report in launcher.map(Job(Schedule(reference, 2)) for _ in range(4))]
        assert outcomes == ["ok"] * 4
        assert processes_of(mark) == []
        assert launcher._process is not None
        assert len(children_of(launcher._process.pid)) == int(staged)


@pytest.mark.parametrize(("fix", "staged"), [("none", False), ("none", True), ("per_process", False)])
def test_a_killed_client_leaves_nothing_that_bodies_started(tmp_path: Path, fix: str, staged: bool) -> None:
    reference, mark, fifo = leaving(tmp_path, stays=True, staged=staged)
    client = subprocess.Popen(
        [sys.executable, "-m", "harness", "find", reference, "--fix", fix, "--jobs", "1"],
        env={**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    reached(fifo)
    assert len(processes_of(mark)) >= 2
    client.kill()
    client.wait()
    assert gone(mark)
    assert gone(reference.partition(":")[0])


def test_a_killed_forking_parent_leaves_nothing_in_its_session(tmp_path: Path) -> None:
    """What put itself into another session is out of reach then, unlike where the client is killed."""
    mark = f"left-by-{secrets.token_hex(8)}"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = [sys.executable, "-c", "import signal; signal.pause()", mark]
    reference = write(
        tmp_path,
        f"""
        def body(shared):
            subprocess.Popen({waits!r})
            with open({str(fifo)!r}, "w"):
                pass
            signal.pause()
        scenario = Scenario([body], seconds=100_000.0)
    """,
    )
    with Launcher(reference) as launcher:
        number = launcher.start(Job(Schedule(reference, 1)))
        reached(fifo)
        assert launcher._process is not None
        os.kill(launcher._process.pid, signal.SIGKILL)
        with pytest.raises(CannotTest):
            launcher.wait(number)
        assert gone(mark)


def _ends(handle: int) -> bool:
    import select

    return bool(select.select([handle], [], [], 30)[0])


def test_a_killed_forking_parent_is_one_line(
    endless: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    reference, fifo = endless
    with Launcher(reference) as launcher:
        number = launcher.start(Job(Schedule(reference, 2)))
        with open(fifo):
            pass
        assert launcher._process is not None
        run = os.pidfd_open(children_of(launcher._process.pid)[0])
        os.kill(launcher._process.pid, signal.SIGKILL)
        with pytest.raises(CannotTest) as caught:
            launcher.wait(number)
        assert "\n" not in str(caught.value)
        assert "SIGKILL" in str(caught.value)
        assert _ends(run)
        os.close(run)
        with pytest.raises(CannotTest):
            launcher.run(Job(Schedule(reference, 2)))


def test_a_killed_forking_parent_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = write(
        tmp_path,
        """
        def body(shared):
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        scenario = Scenario([body])
    """,
    )
    assert main(["find", reference]) == 125
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


MIXED = """
STATE = 0
def body(shared):
    global STATE
    STATE = 1
    if shared == "error":
        raise ValueError
    if shared == "crash":
        os._exit(1)
    if shared == "abort":
        os.abort()
    if shared == "lock":
        with lock:
            marker("a")
            with lock:
                pass
    if shared == "threads":
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(abs, [1, 2, 3]))
    if shared == "process":
        subprocess.Popen(["sleep", "100000"])
    marker("end")
lock = threading.Lock()
scenario = Scenario(
    [body, body], setup=lambda axes: axes["what"],
    axes={"what": ["ok", "error", "crash", "abort", "lock", "threads", "process"]},
)
"""


def mixed(folder: Path, count: int) -> None:
    reference = write(folder, MIXED, "mixed")
    path = reference.partition(":")[0]
    kinds = ["ok", "error", "crash", "abort", "lock", "threads", "process"]
    jobs = []
    for number in range(count):
        schedule = Schedule(reference, 2, number % 2, axes={"what": kinds[number % len(kinds)]})
        fix = "per_process" if number % 5 == 0 and schedule.axes["what"] in ("ok", "error", "crash", "abort") else "none"
        jobs.append(Job(schedule, fix, plain=number % 11 == 0 and schedule.axes["what"] == "ok"))
    with Launcher(reference, jobs=4) as launcher:
        seen = {str(job.schedule.axes["what"]): report.outcome for job, report in launcher.map(jobs)}
        assert launcher._process is not None
        assert children_of(launcher._process.pid) == []
        assert processes_of(path) == [launcher._process.pid]
        descriptors = len(os.listdir(f"/proc/{launcher._process.pid}/fd"))
        assert descriptors < 12, "pipes of runs that ended are closed"
    assert processes_of(path) == []
    assert seen == {
        "ok": "ok",
        "error": "error",
        "crash": "crash",
        "abort": "crash",
        "lock": "deadlock",
        "threads": "ok",
        "process": "ok",
    }


def test_300_mixed_runs_leave_no_process(tmp_path: Path) -> None:
    mixed(tmp_path, 300)


@pytest.mark.slow
def test_2000_mixed_runs_leave_no_process(tmp_path: Path) -> None:
    mixed(tmp_path, 2000)


def test_closing_twice_and_without_a_run(tmp_path: Path) -> None:
    reference = write(tmp_path, "scenario = Scenario([lambda shared: 1])")
    launcher = Launcher(reference)
    launcher.close()
    launcher.close()
    assert processes_of(reference) == []
