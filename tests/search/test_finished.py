"""What a search that came to its end must have found, and what it must not call a failure: small programs, each with the one
place at which a hand-over matters, or at which the interpreter gives none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.search import Exploration, explore
from harness.search.certify import negative

_HEAD = """
class State:
    closed = half = ready = False
    a = b = n = v = 0
    def __init__(self):
        self.lock = threading.Lock()

def step(value):
    return value
"""

#: The thread goes on when the body that started it has ended.
END = (1, """
def child(state):
    step(1)
    if state.closed:
        raise RuntimeError("used after it was closed")
def body(state):
    threading.Thread(target=child, args=(state,)).start()
    step(2)
    state.closed = True
scenario = Scenario([body], setup=lambda axes: State(), threads=(1, 1))
""")  # fmt: skip

#: One of two bodies races with a thread of its own.
OWN = (2, """
def child(state):
    if state.a == 1:
        step(1)
        if state.a == 2:
            raise RuntimeError("saw one, and then two")
def one(state):
    thread = threading.Thread(target=child, args=(state,))
    thread.start()
    step(2)
    state.a = 1
    step(3)
    state.a = 2
    step(4)
    thread.join()
    state.n = 5
def other(state):
    seen = state.n
    step(5)
    state.b = seen
scenario = Scenario([one, other], setup=lambda axes: State(), check=lambda state, results: None, threads=(2, 2))
""")  # fmt: skip

#: Two sleeps end at the same moment.
TIE = (2, """
def one(state):
    time.sleep(0.01)
    state.ready = True
def other(state):
    time.sleep(0.01)
    if not state.ready:
        raise RuntimeError("not ready")
scenario = Scenario([one, other], setup=lambda axes: State(), threads=(2, 2))
""")  # fmt: skip

#: Between giving the lock back and the next point there is no further place.
UNLOCK = (2, """
def one(state):
    with state.lock:
        state.n += 1
        step(0)
    with state.lock:
        state.n += 1
        step(0)
def other(state):
    with state.lock:
        if state.n == 1:
            raise RuntimeError("half of it")
scenario = Scenario([one, other], setup=lambda axes: State(), check=lambda state, results: None, threads=(2, 2))
""")  # fmt: skip

#: A lock that is free is taken without the GIL being given up.
FREE = (2, """
def one(state):
    acquire = state.lock.acquire
    seen = state.v
    acquire()
    state.v = seen + 1
    state.lock.release()
def other(state):
    with state.lock:
        state.v = state.v + 1
def check(state, results):
    assert state.v == 2, state.v
scenario = Scenario([one, other], setup=lambda axes: State(), check=check, threads=(2, 2))
""")  # fmt: skip

#: Where an exception leaves the block, nothing is looked at before its handler.
RAISED = (2, """
ERROR = ValueError("x")
def one(state):
    try:
        with state.lock:
            state.half = True
            step(1)
            raise ERROR
    except ValueError:
        state.half = False
def other(state):
    with state.lock:
        if state.half:
            raise RuntimeError("half of it")
scenario = Scenario([one, other], setup=lambda axes: State(), check=lambda state, results: None, threads=(2, 2))
""")  # fmt: skip


def searched(tmp_path: Path, case: tuple[int, str], **options: str) -> Exploration:
    threads, source = case
    reference = write(tmp_path, _HEAD + source)
    with Launcher(reference, jobs=1) as launcher:
        return explore(launcher, Schedule(reference, threads), budget=1000, **options)


@pytest.mark.parametrize("case", [END, TIE, UNLOCK], ids=["end", "tie", "unlock"])
def test_found_by_the_exhaustive_search(tmp_path: Path, case: tuple[int, str]) -> None:
    found = searched(tmp_path, case, strategy="exhaustive")
    assert found.failures, negative(found).says


def test_what_a_body_shares_with_a_thread_of_its_own_is_a_state(tmp_path: Path) -> None:
    found = searched(tmp_path, OWN)
    assert any(state.endswith(":a") for state in found.knowledge.states())
    assert found.failures, negative(found).says


@pytest.mark.parametrize("case", [FREE, RAISED], ids=["free lock", "raised"])
def test_correct_under_the_gil(tmp_path: Path, case: tuple[int, str]) -> None:
    found = searched(tmp_path, case)
    assert not found.failures, found.failures[0][0]
    assert negative(found).certain, negative(found).says


def test_a_pool_that_is_left_behind_is_no_deadlock(tmp_path: Path) -> None:
    source = """
def body(state):
    pool = ThreadPoolExecutor(2)
    pool.submit(step, 1).result()
    state.n = 1
scenario = Scenario([body], setup=lambda axes: State(), threads=(1, 1))
"""
    found = searched(tmp_path, (1, source))
    assert not found.failures, found.failures[0][1].message
